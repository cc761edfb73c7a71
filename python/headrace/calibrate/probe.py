"""A probe: a workload that shows one thing of a machine, and the time of its operations."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal, TypeAlias

from headrace.calibrate.case import Resource, elapsed, scenario, transfers

Times: TypeAlias = Mapping[str, float]
"""Seconds of an operation, by the probe's name."""


@dataclass(frozen=True)
class Probe:
    """A workload of which the time of an operation counts."""

    name: str
    workload: str
    """The `[[workload]]`, without its heading."""
    operation: str = "read"
    statistic: Literal["mean", "p50", "interval", "processor"] = "mean"
    """The mean service time, or the median where single operations may wait for something
    else; how far operations of all processes are apart from each other; or what an operation
    takes of the processor, with whatever the engine itself does."""
    made_by: Literal["posix", "null"] = "posix"
    """By system calls, or not at all: what the engine itself takes within what it times."""

    resource: Resource = "cache"
    processes: int = 1

    @property
    def text(self) -> str:
        """The scenario that is carried out."""
        return scenario(self.name, self.workload, self.processes)

    def seconds(self, document: Mapping[str, Any]) -> float:
        """The time that counts, by a result, measured or simulated."""
        count = int(document["operations"][self.operation]["count"])
        if self.statistic == "interval":
            return elapsed(document) / count
        if self.statistic == "processor":
            return on_processor(document) / count
        return float(document["latency"][self.operation][self.statistic])


def on_processor(document: Mapping[str, Any]) -> float:
    """How long processors were at work for it, by a result, measured or simulated, in seconds."""
    counters = document.get("counters")
    if counters is not None:
        shares = counters["cpu_own"] * counters["processors"]
        return float(shares) * elapsed(document)
    stations = (it for it in document["stations"] if it["station"].endswith("/processor"))
    return sum(float(it["service"]) * int(it["visits"]) for it in stations)


def calls(count: int, block: int, phases: list[str], io: str, **more: str) -> str:
    """A workload of so many calls of so many bytes: all of a file, or at random places."""
    return transfers(count * block, block, phases, io, more)
