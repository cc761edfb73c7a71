"""A probe: a workload that shows one thing of a machine, and the time of its operations."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal, TypeAlias

from headrace.calibrate.case import Bound, elapsed, scenario, transfers

Times: TypeAlias = Mapping[str, float]
"""Seconds of an operation, by the probe's name."""


@dataclass(frozen=True)
class Probe:
    """A workload of which the time of an operation counts."""

    name: str
    workload: str
    """The `[[workload]]`, without its heading."""
    operation: str = "read"
    statistic: Literal["mean", "p50", "apart"] = "mean"
    """The mean service time, or the median where single operations may wait for something
    else; or how far operations of all processes are apart from each other."""
    made_by: Literal["posix", "null"] = "posix"
    """By system calls, or not at all: what the engine itself takes within what it times."""

    bound: Bound = "cache"
    processes: int = 1

    @property
    def text(self) -> str:
        """The scenario that is carried out."""
        return scenario(self.name, self.workload, self.processes)

    def seconds(self, document: Mapping[str, Any]) -> float:
        """The time that counts, by a result, measured or simulated."""
        if self.statistic == "apart":
            count = document["operations"][self.operation]["count"]
            return elapsed(document) / int(count)
        return float(document["latency"][self.operation][self.statistic])


def calls(count: int, block: int, phases: list[str], io: str, **more: str) -> str:
    """A workload of so many calls of so many bytes: all of a file, or at random places."""
    return transfers(count * block, block, phases, io, more)
