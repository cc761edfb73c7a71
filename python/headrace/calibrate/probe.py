"""Probes: workloads that expose one cost of a machine."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal, TypeAlias

from headrace.calibrate.case import Resource, scenario, transfers
from headrace.calibrate.run_report import RunReport

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

    def seconds(self, report: RunReport) -> float:
        """Return the statistic from a measured or simulated run, in seconds."""
        count = report.operations[self.operation].count
        if self.statistic == "interval":
            return report.elapsed / count
        if self.statistic == "processor":
            return report.processor_seconds / count
        times = report.latency[self.operation]
        return (times.mean if self.statistic == "mean" else times.p50) or 0.0


def calls(count: int, block: int, phases: list[str], io: str, **more: str) -> str:
    """Return the TOML of a workload with `count` calls of `block` bytes, sequential unless `more`
    says otherwise."""
    return transfers(count * block, block, phases, io, more)
