"""A folder of the laboratory's own."""

import contextlib
import shutil
from dataclasses import dataclass
from pathlib import Path

from headrace._core import RunError
from headrace.lab.state import Lab
from headrace.lab.steps.step import Step


@dataclass(frozen=True)
class Folder(Step):
    """It is made with those above it, of which the empty ones go with it up to `below`."""

    path: str
    below: str

    def do(self, lab: Lab) -> None:
        Path(self.path).mkdir(parents=True)
        (Path(self.path) / f".{lab.token}").touch()

    def undo(self, lab: Lab) -> None:
        path = Path(self.path)
        if path.is_dir() and any(path.iterdir()) and not (path / f".{lab.token}").exists():
            # Somebody else's: it was there when this one was to be made.
            return
        for line in Path("/proc/self/mountinfo").read_text(encoding="utf-8").splitlines():
            if Path(line.split()[4]).is_relative_to(path):
                raise RunError(f"{path}: something is mounted below it")
        shutil.rmtree(path, ignore_errors=True)
        for folder in path.parents:
            if not folder.is_relative_to(self.below):
                break
            with contextlib.suppress(OSError):
                folder.rmdir()

    def left(self, lab: Lab) -> str | None:
        return self.path if (Path(self.path) / f".{lab.token}").exists() else None
