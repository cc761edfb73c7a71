"""Ranks of a testbed end with the command that has started them, whatever hangs: real mpirun."""

import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from headrace.lab.mpi_launch import MARK
from mpi import mpirun

OURS = f"{MARK}=".encode()
SCRIPT = """
import sys
from headrace.lab.mpi_launch import run_ranks
run_ranks.__globals__["PATIENCE_S"] = 0.2
sys.exit(run_ranks([["sleep", sys.argv[1]]] * 2))
"""


def started(word: str) -> "subprocess.Popen[bytes]":
    return subprocess.Popen([sys.executable, "-c", SCRIPT, word], stderr=subprocess.DEVNULL)


def children(of: int) -> dict[int, str]:
    """Processes that a command has started for a benchmark, and what they are."""
    found: dict[int, tuple[int, bytes, str]] = {}
    for folder in Path("/proc").glob("[0-9]*"):
        try:
            marks = [
                it for it in (folder / "environ").read_bytes().split(b"\0") if it.startswith(OURS)
            ]
            words = (folder / "cmdline").read_bytes().split(b"\0")
            parent = int((folder / "stat").read_text().rsplit(")", 1)[1].split()[1])
        except OSError:
            continue
        if marks:
            found[int(folder.name)] = (parent, marks[0], Path(words[0].decode()).name)
    own = {mark for parent, mark, _ in found.values() if parent == of}
    return {number: name for number, (_, mark, name) in found.items() if mark in own}


def wait(until: Callable[[], bool]) -> None:
    deadline = time.monotonic() + 30
    while not until():
        assert time.monotonic() < deadline
        time.sleep(0.02)


def test_its_status_is_that_of_the_ranks() -> None:
    mpirun()
    assert started("0").wait(timeout=60) == 0
    assert started("nonsense").wait(timeout=60) == 1


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGKILL])
def test_ranks_end_with_the_command_though_mpirun_hangs(number: signal.Signals) -> None:
    mpirun()
    command = started("100")
    wait(lambda: sorted(children(command.pid).values()).count("sleep") == 2)
    those = children(command.pid)
    # The process between mpirun and the ranks.
    for proxy in (it for it, name in those.items() if name == "hydra_pmi_proxy"):
        os.kill(proxy, signal.SIGSTOP)
    command.send_signal(number)
    assert command.wait(timeout=60) == -number
    if number == signal.SIGKILL:
        wait(lambda: not any(map(is_there, those)))
    assert not any(map(is_there, those))


def is_there(number: int) -> bool:
    """Whether a process has not ended."""
    try:
        return bool(Path(f"/proc/{number}/cmdline").read_bytes())
    except OSError:
        return False
