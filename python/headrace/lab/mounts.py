"""What is mounted where, by the kernel's list of this machine."""

import os
from pathlib import Path

from headrace._core import RunError
from headrace.mountinfo import mounted


def refuse_mounts(folder: Path) -> None:
    """Raises RunError if something is mounted on a folder or below it."""
    real = Path(os.path.realpath(folder))
    for it in mounted():
        if it.at.is_relative_to(real):
            raise RunError(f"{it.at}: something is mounted there: unmount it first")
