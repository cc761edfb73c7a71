"""Step that creates a control group with a memory limit."""

import time
from dataclasses import dataclass
from pathlib import Path

from headrace._core import RunError
from headrace.lab.cgroups import memory_file
from headrace.lab.state import Lab
from headrace.lab.steps.step import Step

PATIENCE_S = 10.0
"""Longest wait until the kernel has removed exited processes from the group, in seconds."""


@dataclass(frozen=True)
class Group(Step):
    """Control group of a host, or of the whole testbed."""

    path: str
    memory: int | None

    def check(self, lab: Lab) -> None:
        if Path(self.path).exists():
            raise RunError(
                f"{self.path}: the control group exists and does not belong to this testbed"
            )

    def do(self, lab: Lab) -> None:
        group = Path(self.path)
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

    def remaining(self, lab: Lab) -> str | None:
        return self.path if Path(self.path).exists() else None
