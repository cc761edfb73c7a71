"""Ranks for tests: the real mpirun, of the MPI that mpi4py uses."""

import importlib.util
import shutil
import sys
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
    """A command line that starts so many ranks of each command."""
    line = [mpirun()]
    for number, (count, command) in enumerate(parts):
        line += [":"] if number else []
        line += ["-n", str(count), *command]
    return line
