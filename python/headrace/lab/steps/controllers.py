"""Step that enables controllers for the children of a v2 control group."""

import contextlib
import os
from dataclasses import dataclass
from pathlib import Path

from headrace._core import RunError
from headrace.lab.state import Lab
from headrace.lab.steps.step import Step


@dataclass(frozen=True)
class Controllers(Step):
    """Controllers to enable in an existing group, such as the root group.

    Otherwise its children lack files such as memory.max and io.max (Linux,
    Documentation/admin-guide/cgroup-v2.rst, "Controlling Controllers").
    """

    path: str
    """The group's file `cgroup.subtree_control`."""
    names: tuple[str, ...]

    def do(self, lab: Lab) -> None:
        words = " ".join(f"+{name}" for name in self.names)
        try:
            Path(self.path).write_text(words, encoding="ascii")
        except OSError as error:
            raise RunError(f"{self.path}: {words}: {os.strerror(error.errno or 0)}") from None

    def undo(self, lab: Lab) -> None:
        for name in self.names:
            # Another group uses the controller, so it stays enabled.
            with contextlib.suppress(OSError):
                Path(self.path).write_text(f"-{name}", encoding="ascii")

    def remaining(self, lab: Lab) -> str | None:
        return None
