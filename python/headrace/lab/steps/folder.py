"""A folder of the laboratory's own."""

import shutil
from dataclasses import dataclass
from pathlib import Path

from headrace._core import RunError
from headrace.lab.state import Lab
from headrace.lab.steps.step import Step


@dataclass(frozen=True)
class Folder(Step):
    """Its name is no other's: it has the laboratory's token, or is below its folder."""

    path: str

    def do(self, lab: Lab) -> None:
        Path(self.path).mkdir()

    def undo(self, lab: Lab) -> None:
        path = Path(self.path)
        for line in Path("/proc/self/mountinfo").read_text(encoding="utf-8").splitlines():
            if Path(line.split()[4]).is_relative_to(path):
                raise RunError(f"{path}: something is mounted below it")
        shutil.rmtree(path, ignore_errors=True)

    def left(self, lab: Lab) -> str | None:
        return self.path if Path(self.path).exists() else None
