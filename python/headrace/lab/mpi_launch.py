"""Launch the benchmark on a testbed's clients as MPI ranks, and terminate all at the end."""

import contextlib
import os
import secrets
import signal
import subprocess
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path

from headrace.interruption import INTERRUPTED, defer_signals
from headrace.lab import guard, programs

MARK = "HEADRACE_LAB_BENCH"
PATIENCE_S = 10.0
"""Seconds after SIGTERM to mpirun in which ranks save their results and remove their files."""
REPORTED_STATUSES = (INTERRUPTED, 128 + signal.SIGTERM)
"""Exit statuses of mpirun whose ranks were interrupted and have reported it."""


def run_ranks(lines: Sequence[Sequence[str]]) -> int:
    """Run command lines of clients as ranks of one mpirun, and return its exit status.

    A guard process terminates surviving ranks. mpirun of MPICH 5.0.2 alone does not exit if it is
    signalled while ranks start, or if its proxy process hangs.

    Raises
    ------
    ValueError
        If there is no mpirun.
    BaseException
        The exception that interrupted this process, unless the ranks have reported it.
    """
    together = [_mpirun()]
    for number, line in enumerate(lines):
        together += [":"] if number else []
        together += ["-n", "1", *line]
    with _guarded() as marks:
        started = None
        try:
            with defer_signals():
                # In its own session mpirun gets no SIGINT from the terminal, at which it would
                # write to standard output. This process sends it one SIGTERM.
                started = subprocess.Popen(
                    together,
                    stdin=subprocess.DEVNULL,
                    env=os.environ | marks,
                    start_new_session=True,
                )
            status = started.wait()
        except BaseException:
            ended = None if started is None else _asked_to_end(started)
            if ended is None or ended not in REPORTED_STATUSES:
                raise
            status = ended
    return status if status >= 0 else 128 - status


def _asked_to_end(started: "subprocess.Popen[bytes]") -> int | None:
    """Send SIGTERM and return the exit status; None after a timeout."""
    started.terminate()
    with contextlib.suppress(subprocess.TimeoutExpired):
        return started.wait(PATIENCE_S)
    return None


@contextlib.contextmanager
def _guarded() -> Iterator[dict[str, str]]:
    """Yield environment variables that mark processes. A guard terminates all marked processes at
    the end of the `with` block, or when this process is killed."""
    mark = secrets.token_hex(8)
    line = [sys.executable, "-I", "-S", str(Path(guard.__file__)), f"{MARK}={mark}"]
    with defer_signals():
        watching = subprocess.Popen(line, stdin=subprocess.PIPE, start_new_session=True)
    try:
        yield {MARK: mark}
    finally:
        assert watching.stdin is not None
        watching.stdin.close()
        watching.wait()


def find_mpirun() -> str | None:
    """Return the mpirun beside this Python, else that of the machine; None if there is none."""
    beside = Path(sys.executable).with_name("mpirun")
    return str(beside) if beside.exists() else programs.find("mpirun")


def _mpirun() -> str:
    program = find_mpirun()
    if program is None:
        programs.require(["mpirun"])
    return program or "mpirun"
