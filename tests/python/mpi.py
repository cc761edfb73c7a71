"""Ranks for tests: the real mpirun, of the MPI that mpi4py uses."""

import importlib.util
import shutil
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import pytest

HEADRACE = (sys.executable, "-m", "headrace")


def mpirun() -> str:
    """The command. Skips the test if there is none."""
    beside = Path(sys.executable).with_name("mpirun")
    found = str(beside) if beside.exists() else shutil.which("mpirun")
    if found is None or importlib.util.find_spec("mpi4py") is None:
        pytest.skip("no MPI: pip install mpi4py mpich")
    return found


def started(*parts: tuple[int, tuple[str, ...]]) -> list[str]:
    """A command line that starts `count` ranks of each command."""
    line = [mpirun()]
    for number, (count, command) in enumerate(parts):
        line += [":"] if number else []
        line += ["-n", str(count), *command]
    return line


def under_way(
    line: list[str], word: str, there: Callable[[], bool]
) -> tuple["subprocess.Popen[str]", list[int]]:
    """A command line of ranks that is started and goes on until it is ended, when a condition
    holds; and the processes that have a word in their command lines, which are its ranks."""
    mpirun = subprocess.Popen(
        line, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, start_new_session=True
    )
    for _ in range(1200):
        if there():
            break
        time.sleep(0.05)
    ranks = []
    for entry in Path("/proc").glob("[0-9]*"):
        try:
            words = (entry / "cmdline").read_text().split("\0")
        except OSError:
            continue
        if words[0] == sys.executable and word in words:
            ranks.append(int(entry.name))
    return mpirun, sorted(ranks)
