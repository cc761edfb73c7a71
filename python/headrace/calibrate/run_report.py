"""The figures of a run that is both measured and simulated, by the same names.

Times are in seconds, amounts in bytes.
"""

from collections.abc import Mapping
from typing import Any, Self

import msgspec

from headrace import simulate
from headrace.fields import convert
from headrace.measure.report import Report


class ServiceTimes(msgspec.Struct, frozen=True):
    """Service times of an operation, in seconds; None where there is none."""

    count: int = 0
    mean: float | None = None
    p50: float | None = None


class Completed(msgspec.Struct, frozen=True):
    """Operations that were completed."""

    count: int


class ProcessorUse(msgspec.Struct, frozen=True):
    """Use of the processors by a measurement."""

    cpu_own: float
    """Share of all processors."""
    processors: int | float


class StationUse(msgspec.Struct, frozen=True):
    """Use of a station of a simulation."""

    station: str
    """Path of the station."""
    visits: int = 0
    service: float | None = None
    """Mean service time of completed visits, in seconds; None without any."""
    residence: float | None = None
    """Mean time from arrival to departure of completed visits, in seconds."""
    queue: float = 0.0
    """Mean number of waiting requests."""
    most_utilisation: float = 0.0
    """Utilisation of the busiest copy."""

    @property
    def stay(self) -> float:
        """Sum of the stays of completed visits, in seconds."""
        return (self.residence or 0.0) * self.visits


class PlaceTime(msgspec.Struct, frozen=True):
    """Mean time that a request of a simulation spends at a place, in seconds."""

    place: str
    """Path of the place."""
    seconds: float
    waiting: float = 0.0
    """Part of it before service begins."""


class SimulatedText(msgspec.Struct, frozen=True):
    """The scenario of a simulation."""

    toml: str = ""


class RunReport(msgspec.Struct, frozen=True, kw_only=True):
    """Figures of a measured or simulated run."""

    latency: dict[str, ServiceTimes] = {}
    """Service times by operation, and of `all`."""
    operations: dict[str, Completed] = {}
    throughput: dict[str, float | None] = {}
    """Bytes a second by operation."""
    measured_seconds: float | None = None
    simulated_seconds: float | None = None
    counters: ProcessorUse | None = None
    """None for a simulation."""
    stations: list[StationUse] = []
    breakdown: list[PlaceTime] = []
    scenario: SimulatedText = SimulatedText()

    @classmethod
    def measured(cls, report: Report) -> Self:
        """Return the figures of a measurement."""
        return msgspec.convert(report, cls, from_attributes=True)

    @classmethod
    def of_document(cls, document: Mapping[str, Any]) -> Self:
        """Return the figures in a result's document.

        Raises
        ------
        ValueError
            If it lacks them. The message names the field.
        """
        return convert(document, cls)

    @property
    def elapsed(self) -> float:
        """Time until all processes have finished, in seconds."""
        return self.measured_seconds or self.simulated_seconds or 0.0

    def seconds_in_calls(self, processes: int = 1) -> float:
        """Return the mean time that a process spends in calls, in seconds."""
        total = sum(
            operation.count * (self.latency[name].mean or 0.0)
            for name, operation in self.operations.items()
            if name in self.latency
        )
        return total / processes

    @property
    def processor_seconds(self) -> float:
        """Busy time of all processors, in seconds."""
        if self.counters is not None:
            return self.counters.cpu_own * self.counters.processors * self.elapsed
        stations = (station for station in self.stations if station.station.endswith("/processor"))
        return sum((station.service or 0.0) * station.visits for station in stations)


def simulated(text: str, sets: Mapping[str, str] | None = None) -> RunReport:
    """Simulate a scenario.

    Parameters
    ----------
    text
        The scenario.
    sets
        Values that override it, by path.
    """
    return RunReport.of_document(
        simulate.run(simulate.load(text, sets=sets), server_series=False).json()
    )
