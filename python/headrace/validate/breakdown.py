"""Time in calls by component, measured and simulated."""

import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Self, TypeAlias

from headrace.calibrate.case import Case
from headrace.calibrate.limiting_resource import ON_DEVICE, waits
from headrace.calibrate.run_report import RunReport, StationUse
from headrace.measure import Measurement
from headrace.validate.point import Point
from headrace.validate.records import BreakdownRecord

Parts: TypeAlias = Mapping[str, float]
"""Seconds of a process by component. They add up to its time in calls, or for several processes to
the time until all have finished."""

DEVICE = "device"
REST = "beyond the device"
"""Processor time and all other waits. Negative if the device works while no process waits for it.
"""


@dataclass(frozen=True)
class Breakdown:
    """Measured and simulated time in calls, by the same components."""

    name: str
    source: str
    """Source of the measured parts."""
    measured: Parts
    simulated: Parts
    explained: bool = False
    """True if the prediction lies within the repetitions; no difference remains to explain."""
    transfers: tuple[float, float] | None = None
    """Transfers of the device, measured and simulated."""

    @property
    def differences(self) -> dict[str, float]:
        """Simulated minus measured seconds, by component."""
        return {
            name: self.simulated.get(name, 0.0) - self.measured.get(name, 0.0)
            for name in dict.fromkeys((*self.measured, *self.simulated))
        }

    @property
    def error(self) -> float:
        """Simulated minus measured seconds, in total."""
        return sum(self.differences.values())

    def record(self) -> BreakdownRecord:
        """Return the record of the breakdown."""
        measured, simulated = self.transfers or (None, None)
        return BreakdownRecord(
            self.name,
            self.source,
            dict(self.measured),
            dict(self.simulated),
            self.differences,
            among_repetitions=self.explained,
            measured_transfers=measured,
            simulated_transfers=simulated,
        )


@dataclass(frozen=True)
class Run:
    """One repetition of a measurement."""

    seconds: float
    """Time of a process in calls, or the compared time of the case, in seconds."""
    series: Mapping[str, Sequence[float | None]]
    """Samples of `headrace.measure.counters`."""

    @classmethod
    def from_measurement(cls, measured: Measurement, case: Case) -> Self:
        """Read the repetition from a measurement of a case."""
        seconds = case.seconds(RunReport.measured(measured.report))
        return cls(seconds, measured.counters.to_dict(as_series=False))


COUNTERS = "device counters"


def breakdown_from_counters(point: Point, processes: int, runs: Sequence[Run]) -> Breakdown | None:
    """Compare the measured busy time of the device with the simulated one.

    The median repetition counts.

    Parameters
    ----------
    point
        The measured and predicted time.
    processes
        Number of processes.
    runs
        All repetitions.

    Returns
    -------
    Breakdown or None
        None if the measurement or the simulation has no device.
    """
    run = sorted(runs, key=lambda each: each.seconds)[(len(runs) - 1) // 2]
    busy = _total(run.series, "device_busy")
    flushing = _total(run.series, "device_flushing") or 0.0
    reads = _total(run.series, "device_reads_per_s")
    writes = _total(run.series, "device_writes_per_s")
    if busy is None or reads is None or writes is None:
        return None
    busy += flushing
    return compare_device_time(
        point, processes, {DEVICE: busy, REST: run.seconds - busy}, reads + writes
    )


def compare_device_time(
    point: Point, processes: int, measured: Parts, transfers: float
) -> Breakdown | None:
    """Compare the device time of a measurement with that of its simulation.

    Parameters
    ----------
    point
        The measured and predicted time.
    processes
        Number of processes.
    measured
        Measured seconds by component.
    transfers
        Measured transfers of the device.

    Returns
    -------
    Breakdown or None
        None if the simulated machines have no device.
    """
    simulated = point.predicted.report
    device = simulated_device(simulated)
    if device is None:
        return None
    served = _served(simulated, device, processes)
    return Breakdown(
        point.name,
        COUNTERS,
        measured,
        {DEVICE: served, REST: point.predicted.seconds - served},
        point.within_repetitions,
        (transfers, float(device.visits)),
    )


def _served(simulated: RunReport, device: StationUse, processes: int) -> float:
    """Return the time in which a simulated device was busy or waited for, in seconds. Time in which
    limits throttled transfers is excluded, because the kernel's counters exclude it too."""
    busy = device.most_utilisation * (simulated.simulated_seconds or 0.0)
    waited = sum(waits(simulated, processes).get(name, 0.0) for name in ON_DEVICE)
    if _is_limited(simulated):
        beyond = 1 - throttled_share(simulated, device)
        waited *= beyond
        busy = min(busy, device.stay * beyond)
    # The latency of a virtual device is no service time: concurrent transfers each have it.
    return max(busy, waited)


def throttled_share(simulated: RunReport, device: StationUse) -> float:
    """Return the share of the time at a simulated device in which limits throttled transfers."""
    if not _is_limited(simulated):
        return 0.0
    inside = device.stay
    held = device.queue * (simulated.simulated_seconds or 0.0)
    return min(held / inside, 1.0) if inside > 0 else 0.0


def _is_limited(simulated: RunReport) -> bool:
    system = tomllib.loads(simulated.scenario.toml)
    device = system.get("machine", {}).get("device", {})
    return device.get("kind") == "throttled" and any(name in device for name in LIMITS)


LIMITS = ("read_rate", "write_rate", "read_operations", "write_operations")
"""Fields of a device of the kind "throttled"."""


def simulated_device(simulated: RunReport) -> StationUse | None:
    """Return the busiest device of a simulated machine; None if the system has no such machine."""
    stations = [
        station
        for station in simulated.stations
        if station.station.startswith("system/client/") and station.station.endswith("/device")
    ]
    return max(stations, key=lambda station: station.most_utilisation, default=None)


def _total(series: Mapping[str, Sequence[float | None]], column: str) -> float | None:
    """Integrate a column of rates over the windows; None if a sample is missing."""
    values = series.get(column, [])
    windows = series.get("window_s", [])
    if len(values) != len(windows) or not values:
        return None
    total = 0.0
    for value, window in zip(values, windows, strict=True):
        if value is None or window is None:
            return None
        total += value * window
    return total
