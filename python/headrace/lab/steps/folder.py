"""A folder of the laboratory's own."""

from dataclasses import dataclass
from pathlib import Path

from headrace.lab.mounts import remove_tree
from headrace.lab.state import Lab
from headrace.lab.steps.step import Step


@dataclass(frozen=True)
class Folder(Step):
    """Its name is no other's: it has the laboratory's token, or is below its folder."""

    path: str

    def do(self, lab: Lab) -> None:
        Path(self.path).mkdir()

    def undo(self, lab: Lab) -> None:
        if Path(self.path).is_dir():
            remove_tree(Path(self.path))

    def left(self, lab: Lab) -> str | None:
        return self.path if Path(self.path).exists() else None
