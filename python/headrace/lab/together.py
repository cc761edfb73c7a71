"""Ranks of a laboratory's clients: none outlasts the command that has started them."""

import contextlib
import os
import secrets
import shutil
import signal
import subprocess
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path

from headrace.interruption import INTERRUPTED, defer_signals
from headrace.lab import guard, programs

MARK = "HEADRACE_LAB_BENCH"
PATIENCE_S = 10.0
"""After mpirun was asked to end: ranks save what they have, and remove their files."""
TOLD = (INTERRUPTED, 128 + signal.SIGTERM)
"""What mpirun gives where ranks were interrupted, and have said so."""


def together(lines: Sequence[Sequence[str]]) -> int:
    """Carries the command lines of clients out, as ranks of one mpirun; gives its exit status.

    mpirun alone is not enough. That of MPICH 5.0.2 does not end if it is asked while its ranks
    start, or if the process between it and the ranks hangs; ranks then go on.

    Raises ValueError if there is no mpirun; whatever ends this process before, if the ranks have
    not said so.
    """
    together = [_mpirun()]
    for number, line in enumerate(lines):
        together += [":"] if number else []
        together += ["-n", "1", *line]
    with _guarded() as marks:
        started = None
        try:
            with defer_signals():
                # A session of its own: what the terminal sends comes here alone, and goes on as
                # one SIGTERM. At SIGINT mpirun writes to standard output, among the results.
                started = subprocess.Popen(
                    together,
                    stdin=subprocess.DEVNULL,
                    env=os.environ | marks,
                    start_new_session=True,
                )
            status = started.wait()
        except BaseException:
            ended = None if started is None else _asked_to_end(started)
            if ended is None or ended not in TOLD:
                raise
            status = ended
    return status if status >= 0 else 128 - status


def _asked_to_end(started: "subprocess.Popen[bytes]") -> int | None:
    """The exit status; None if it takes too long."""
    started.terminate()
    with contextlib.suppress(subprocess.TimeoutExpired):
        return started.wait(PATIENCE_S)
    return None


@contextlib.contextmanager
def _guarded() -> Iterator[dict[str, str]]:
    """A part of the environment: all that has it ends at the end, or when this process is
    killed."""
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


def _mpirun() -> str:
    """That of the MPI beside this Python, else the machine's."""
    beside = Path(sys.executable).with_name("mpirun")
    if beside.exists():
        return str(beside)
    programs.require(["mpirun"])
    return shutil.which("mpirun", path=programs.path()) or "mpirun"
