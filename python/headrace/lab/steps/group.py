"""A control group of a host's processes, and the most memory that it may have."""

import contextlib
import time
from dataclasses import dataclass
from pathlib import Path

from headrace.lab.groups import memory_file
from headrace.lab.state import Lab
from headrace.lab.steps.step import Step

PATIENCE_S = 10.0
"""The kernel may be some time in forgetting processes that have ended."""


@dataclass(frozen=True)
class Group(Step):
    """It lies in a group for the whole laboratory."""

    path: str
    memory: int | None

    def do(self, lab: Lab) -> None:
        group = Path(self.path)
        group.parent.mkdir(exist_ok=True)
        controllers = group.parent / "cgroup.subtree_control"
        if controllers.exists():
            controllers.write_text("+memory +io", encoding="ascii")
        group.mkdir()
        if self.memory is not None:
            memory_file(group).write_text(str(self.memory), encoding="ascii")

    def undo(self, lab: Lab) -> None:
        deadline = time.monotonic() + PATIENCE_S
        group = Path(self.path)
        while group.exists():
            try:
                group.rmdir()
            except OSError:
                if time.monotonic() > deadline:
                    raise
                time.sleep(0.05)
        with contextlib.suppress(OSError):
            group.parent.rmdir()

    def left(self, lab: Lab) -> str | None:
        return self.path if Path(self.path).exists() else None
