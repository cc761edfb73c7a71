"""Step that limits a device."""

from dataclasses import dataclass
from pathlib import Path

from headrace.lab.state import Lab
from headrace.lab.steps.step import Step


@dataclass(frozen=True)
class Limit(Step):
    """A line of a control group's file, and the line that removes it."""

    path: str
    line: str
    none: str

    def do(self, lab: Lab) -> None:
        Path(self.path).write_text(self.line, encoding="ascii")

    def undo(self, lab: Lab) -> None:
        if self.remaining(lab) is not None:
            Path(self.path).write_text(self.none, encoding="ascii")

    def remaining(self, lab: Lab) -> str | None:
        device = self.line.split()[0]
        try:
            lines = Path(self.path).read_text(encoding="ascii").splitlines()
        except OSError:
            # The file was removed with its group.
            return None
        present = any(line.split()[0] == device for line in lines if line)
        return f"{self.path}: {self.line}" if present and lab.same_boot else None
