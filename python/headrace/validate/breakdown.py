"""Where the time in calls went: measured and simulated, by component."""

import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Self, TypeAlias

from headrace.calibrate.case import Case, seconds_in_calls
from headrace.calibrate.limiting_resource import ON_DEVICE, waits
from headrace.measure import Measurement
from headrace.validate.point import Point

Parts: TypeAlias = Mapping[str, float]
"""Seconds of a process by component; together its time in calls, or, of several processes in a
case, the time until all are done."""

DEVICE = "device"
REST = "beyond the device"
"""Processor, and whatever else is waited for. Below 0 where the device works on while the
processes do not wait for it."""


@dataclass(frozen=True)
class Breakdown:
    """A measurement's time in calls, and that of its simulation, by the same components."""

    name: str
    source: str
    """What the measured parts come from."""
    measured: Parts
    simulated: Parts
    explained: bool = False
    """Whether the prediction lies among the repetitions: then there is nothing to explain."""
    transfers: tuple[float, float] | None = None
    """Of the device, measured and simulated."""

    @property
    def differences(self) -> dict[str, float]:
        """What the simulation has more, in seconds, by component."""
        return {
            name: self.simulated.get(name, 0.0) - self.measured.get(name, 0.0)
            for name in dict.fromkeys((*self.measured, *self.simulated))
        }

    @property
    def error(self) -> float:
        """What the simulation has more in all, in seconds."""
        return sum(self.differences.values())

    def json(self) -> dict[str, Any]:
        """As documents have it."""
        measured, simulated = self.transfers or (None, None)
        return {
            "name": self.name,
            "source": self.source,
            "measured_s": dict(self.measured),
            "simulated_s": dict(self.simulated),
            "difference_s": self.differences,
            "among_repetitions": self.explained,
            "measured_transfers": measured,
            "simulated_transfers": simulated,
        }


@dataclass(frozen=True)
class Run:
    """One repetition of what was measured."""

    seconds: float
    """A process's time in calls, or whatever of the measurement is compared."""
    series: Mapping[str, Sequence[float | None]]
    """The samples of `headrace.measure.counters`."""

    @classmethod
    def from_measurement(cls, measured: Measurement, case: Case) -> Self:
        """What counts of a measurement."""
        return cls(case.seconds(measured.document), measured.counters.to_dict(as_series=False))

    @classmethod
    def from_document(cls, document: Mapping[str, Any], processes: int) -> Self:
        """The same of one that was saved; without samples where they are not of one run."""
        # Of repetitions, figures are sums; several hosts' devices are not told.
        alone = len(document.get("hosts", [])) < 2 and "repetitions" not in document
        series = document.get("counter_series", {}) if alone else {}
        return cls(seconds_in_calls(document, processes), series)


COUNTERS = "device counters"


def breakdown_from_counters(point: Point, processes: int, runs: Sequence[Run]) -> Breakdown | None:
    """What the kernel's counters of the device tell of a measurement, and its simulation's
    device: how long each was busy, whoever waited.

    Of the repetitions, the middle one counts. None if there is no device below the
    measurement, or none on the machines of the simulation.
    """
    run = sorted(runs, key=lambda it: it.seconds)[(len(runs) - 1) // 2]
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
    """What counters told of a measurement, and a simulation's device beside it. None if there is
    no device on the machines of the simulation."""
    simulated = point.predicted.document
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
        (transfers, float(device["visits"])),
    )


def _served(simulated: Mapping[str, Any], device: Mapping[str, Any], processes: int) -> float:
    """How long a simulated device had something to do, or was waited for, in seconds; without
    what waited for limits, which the kernel's counters do not see either: a transfer is the
    device's when they have let it go."""
    busy = float(device["most_utilisation"] * simulated["simulated_seconds"])
    waited = sum(waits(simulated, processes).get(name, 0.0) for name in ON_DEVICE)
    if _is_limited(simulated):
        beyond = 1 - throttled_share(simulated, device)
        waited *= beyond
        busy = min(busy, float(device["residence"] * device["visits"]) * beyond)
    # A virtual device's latency is no service: transfers side by side have it each.
    return max(busy, waited)


def throttled_share(simulated: Mapping[str, Any], device: Mapping[str, Any]) -> float:
    """The part of the time of transfers at a simulated device in which limits held them back."""
    if not _is_limited(simulated):
        return 0.0
    inside = float(device["residence"] * device["visits"])
    held = float(device["queue"] * simulated["simulated_seconds"])
    return min(held / inside, 1.0) if inside > 0 else 0.0


def _is_limited(simulated: Mapping[str, Any]) -> bool:
    system = tomllib.loads(simulated.get("scenario", {}).get("toml", ""))
    device = system.get("machine", {}).get("device", {})
    return device.get("kind") == "throttled" and any(name in device for name in LIMITS)


LIMITS = ("read_rate", "write_rate", "read_operations", "write_operations")
"""Of a device of the kind "throttled"."""


def simulated_device(simulated: Mapping[str, Any]) -> Mapping[str, Any] | None:
    """The busiest device of a simulated machine; None if the system has no such machine."""
    stations: list[Mapping[str, Any]] = [
        it
        for it in simulated["stations"]
        if it["station"].startswith("system/client/") and it["station"].endswith("/device")
    ]
    return max(stations, key=lambda it: float(it["most_utilisation"]), default=None)


def _total(series: Mapping[str, Sequence[float | None]], column: str) -> float | None:
    """What a column that is given per second adds up to."""
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
