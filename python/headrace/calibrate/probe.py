"""A probe: a workload that shows one thing of a machine, and the time of its operations."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal, TypeAlias

from headrace.calibrate.case import Bound

Times: TypeAlias = Mapping[str, float]
"""Seconds of an operation, by the probe's name."""


@dataclass(frozen=True)
class Probe:
    """A workload of one process, of which the service time of an operation counts."""

    name: str
    workload: str
    """The `[[workload]]`, without its heading."""
    operation: str = "read"
    statistic: Literal["mean", "p50"] = "mean"
    """The mean, or the median where single operations may wait for something else."""
    made_by: Literal["posix", "null"] = "posix"
    """By system calls, or not at all: what the engine itself takes within what it times."""

    bound: Bound = "cache"

    @property
    def text(self) -> str:
        """The scenario that is carried out."""
        return f'name = "{self.name}"\n[clients]\ncount = 1\n[[workload]]\n{self.workload}\n'


def calls(count: int, block: int, phases: str, io: str, **more: str) -> str:
    """A workload of so many calls of so many bytes: all of a file, or at random places."""
    lines = [
        f'block = "{count * block} B"',
        f'transfer = "{block} B"',
        f"phases = {phases}",
        f"io = {{ {io} }}",
        *(f"{key} = {value}" for key, value in more.items()),
    ]
    return "\n".join(lines)


CACHED = "existing = true, cached = true"
"""The file is there, and in the page cache."""
NEW = "existing = false"
DIRECT = "existing = true, cached = false, direct = true"
