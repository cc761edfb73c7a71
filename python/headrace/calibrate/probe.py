"""Probes: workloads that expose one cost of a machine."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal, TypeAlias

from headrace.calibrate.case import Resource, elapsed, scenario, transfers

Times: TypeAlias = Mapping[str, float]
"""Seconds per operation, by name of the probe."""


@dataclass(frozen=True)
class Probe:
    """A workload and the statistic of its operation that is used."""

    name: str
    workload: str
    """TOML of the `[[workload]]`, without its heading."""
    operation: str = "read"
    statistic: Literal["mean", "p50", "interval", "processor"] = "mean"
    """Mean or median service time, interval between completions over all processes, or processor
    time per operation. The processor time includes the load engine."""
    made_by: Literal["posix", "null"] = "posix"
    """System calls, or none, which measures the load engine itself."""

    resource: Resource = "cache"
    processes: int = 1

    @property
    def text(self) -> str:
        """The scenario of the probe."""
        return scenario(self.name, self.workload, self.processes)

    def seconds(self, document: Mapping[str, Any]) -> float:
        """Return the statistic from a measured or simulated result, in seconds."""
        count = int(document["operations"][self.operation]["count"])
        if self.statistic == "interval":
            return elapsed(document) / count
        if self.statistic == "processor":
            return on_processor(document) / count
        return float(document["latency"][self.operation][self.statistic])


def on_processor(document: Mapping[str, Any]) -> float:
    """Return the busy time of all processors, measured or simulated, in seconds."""
    counters = document.get("counters")
    if counters is not None:
        shares = counters["cpu_own"] * counters["processors"]
        return float(shares) * elapsed(document)
    stations = (it for it in document["stations"] if it["station"].endswith("/processor"))
    return sum(float(it["service"]) * int(it["visits"]) for it in stations)


def calls(count: int, block: int, phases: list[str], io: str, **more: str) -> str:
    """Return the TOML of a workload with `count` calls of `block` bytes, sequential unless `more`
    says otherwise."""
    return transfers(count * block, block, phases, io, more)
