"""What is mounted where, by the kernel's list of this machine."""

import os
import re
import shutil
from pathlib import Path

from headrace._core import RunError


def remove_tree(folder: Path) -> None:
    """Removes a folder and all in it. Raises RunError, and touches nothing, if something is
    mounted there: that is not the laboratory's, whose mounts are in namespaces of its own."""
    refuse_mounts(folder)
    shutil.rmtree(folder)


def refuse_mounts(folder: Path) -> None:
    """Raises RunError if something is mounted on a folder or below it."""
    real = Path(os.path.realpath(folder))
    for mounted in _mounted():
        if mounted.is_relative_to(real):
            raise RunError(f"{mounted}: something is mounted there: unmount it first")


def _mounted() -> list[Path]:
    lines = Path("/proc/self/mountinfo").read_text(encoding="utf-8", errors="surrogateescape")
    return [Path(plain(line.split(" ")[4])) for line in lines.splitlines()]


def plain(path: str) -> str:
    """A path of the list, where blanks are \\040 and so on (proc(5))."""
    return re.sub(r"\\([0-7]{3})", lambda it: chr(int(it[1], 8)), path)
