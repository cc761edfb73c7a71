"""Parameters of a machine as a kernel trace shows them, beside the calibrated ones."""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from statistics import median
from typing import Any

import numpy as np
import polars as pl

from headrace import kernel_trace
from headrace.calibrate.case import COLD, KIB, MIB, transfers
from headrace.calibrate.estimators import calls, device
from headrace.calibrate.fitted_parameter import FLUSH
from headrace.calibrate.parameter import Parameter
from headrace.calibrate.probe import Probe
from headrace.calibrate.records import Unit
from headrace.kernel_trace import Recording
from headrace.measure.report import Latency

METHOD = "kernel trace"

COLD_READS = Probe(
    "cold reads of 64 KiB", transfers(32 * MIB, 64 * KIB, ["read"], COLD, {}), resource="device"
)
"""Shows the read-ahead of the kernel."""


@dataclass(frozen=True)
class TracedProbe:
    """A probe that was measured while the kernel was traced."""

    engine: Mapping[str, Latency]
    """Service times of its operations, as the load engine measured them."""
    recording: Recording
    calls: pl.DataFrame
    """The system calls that the load engine timed."""
    requests: pl.DataFrame
    """Requests of the device during the probe."""


@dataclass(frozen=True)
class KernelTime:
    """A parameter in the kernel: one sample for each call, request or commit."""

    what: str
    field: str | None
    """The scenario's field for the same quantity; None if there is none."""
    values: tuple[float, ...]
    unit: Unit
    outside: float | None = None
    """The calibrated value."""

    @property
    def value(self) -> float:
        """The median."""
        return median(self.values)

    @property
    def spread(self) -> tuple[float, float]:
        """The 5th and 95th percentiles."""
        least, most = np.quantile(np.array(self.values), [0.05, 0.95])
        return float(least), float(most)

    def text(self, value: float | None) -> str | None:
        """Format a value for a scenario."""
        return None if value is None else Parameter("", (value,), self.unit, METHOD).text()

    def json(self) -> dict[str, Any]:
        """Return the JSON document."""
        least, most = self.spread
        return {
            "what": self.what,
            "field": self.field,
            "value": self.value,
            "p5": least,
            "p95": most,
            "count": len(self.values),
            "unit": self.unit,
            "method": METHOD,
            "outside": self.outside,
            "difference": self.outside / self.value - 1 if self.outside and self.value else None,
            "texts": [self.text(value) for value in (self.value, least, most, self.outside)],
        }


KernelEstimator = Callable[[Mapping[str, TracedProbe], Mapping[str, float]], Iterator[KernelTime]]
"""Estimates kernel times from traced probes by name, and calibrated values by field."""


def _calls(seen: Mapping[str, TracedProbe], outside: Mapping[str, float]) -> Iterator[KernelTime]:
    one = seen[calls.CALL.name]
    inside = _durations(_calls_of_size(one.calls, 1))
    field = "machine.cpu.system_call"
    yield KernelTime(
        "a call of one byte, within the kernel", field, inside, "s", outside.get(field)
    )
    own = (one.engine["read"].mean or 0.0) - sum(inside) / max(len(inside), 1)
    yield KernelTime("what the engine and tracing take of a call", None, (max(own, 0.0),), "s")


def _device(seen: Mapping[str, TracedProbe], outside: Mapping[str, float]) -> Iterator[KernelTime]:
    """Fit a line through the medians of the smallest and largest transfer's time in the device."""
    ways = {
        "read": ("latency", "time_per_transfer", "rate"),
        "write": ("write_latency", "write_time_per_transfer", "device_write_rate"),
    }
    for way, (latency, alone, rate) in ways.items():
        times = {}
        for block in (device.SMALL, device.LARGE):
            probe = seen[device.PROBES[way, block].name]
            rows = _calls_of_size(probe.calls, block)
            spans = tuple(t for t in kernel_trace.in_device(probe.recording, rows) if t > 0)
            times[block] = spans
            name = f"{way} of {block // KIB} KiB in the device"
            yield KernelTime(name, None, spans, "s")
        if all(times.values()):
            small, large = (median(times[block]) for block in (device.SMALL, device.LARGE))
            per_second = (device.LARGE - device.SMALL) / max(large - small, 1e-9)
            fixed = tuple(max(t - device.SMALL / per_second, 0.0) for t in times[device.SMALL])
            rates = tuple(
                (device.LARGE - device.SMALL) / max(t - small, 1e-9) for t in times[device.LARGE]
            )
            field = f"machine.device.{latency}"
            # For a single transfer the service time is part of the latency.
            known = outside.get(field)
            both = None if known is None else known + outside.get(f"machine.device.{alone}", 0.0)
            yield KernelTime(f"{way}s: latency of the device", field, fixed, "s", both)
            field = f"machine.device.{rate}"
            yield KernelTime(f"{way}s: rate of the device", field, rates, "B/s", outside.get(field))


def _processor(
    seen: Mapping[str, TracedProbe], outside: Mapping[str, float]
) -> Iterator[KernelTime]:
    probe = seen[device.PROBES["read", device.SMALL].name]
    rows = _calls_of_size(probe.calls, device.SMALL)
    if rows.height:
        each = kernel_trace.breakdown(probe.recording, rows)["processor"] / rows.height
        call = median(_durations(_calls_of_size(seen[calls.CALL.name].calls, 1)) or (0.0,))
        field = "machine.cpu.transfer"
        name = "processor time of a transfer beyond a call"
        yield KernelTime(name, field, (max(each - call, 0.0),), "s", outside.get(field))


def _flush(seen: Mapping[str, TracedProbe], outside: Mapping[str, float]) -> Iterator[KernelTime]:
    flushes = seen[FLUSH.probe.name].requests.filter(pl.col("direction") == "flush")
    field = "machine.device.flush"
    values = tuple(flushes["service_s"].to_list())
    yield KernelTime("a flush of the device", field, values, "s", outside.get(field))


def _journal(
    seen: Mapping[str, TracedProbe], _outside: Mapping[str, float]
) -> Iterator[KernelTime]:
    commits = [kernel_trace.activity(one.recording)["commit_seconds"] for one in seen.values()]
    yield KernelTime("a commit of the journal", None, tuple(t for row in commits for t in row), "s")


def _queue(seen: Mapping[str, TracedProbe], _outside: Mapping[str, float]) -> Iterator[KernelTime]:
    waited = pl.concat([traced.requests["queued_s"] for traced in seen.values()]).drop_nulls()
    yield KernelTime("a request in the I/O queue", None, tuple(waited.to_list()), "s")


def _read_ahead(
    seen: Mapping[str, TracedProbe], outside: Mapping[str, float]
) -> Iterator[KernelTime]:
    probe = seen[COLD_READS.name]
    reads = probe.requests.filter(pl.col("direction") == "read")["bytes"].cast(pl.Float64).to_list()
    largest = sorted(reads, reverse=True)[:1]
    field = "machine.io_scheduler.largest_request"
    yield KernelTime(
        "the largest request of cold reads", field, tuple(largest), "B", outside.get(field)
    )
    sizes = kernel_trace.folios(probe.recording)
    field = "machine.memory.largest_folio"
    largest = [float(sizes.max())] if len(sizes) else []
    yield KernelTime(
        "the largest folio of cold reads", field, tuple(largest), "B", outside.get(field)
    )


KERNEL_ESTIMATORS: tuple[KernelEstimator, ...] = (
    _calls,
    _processor,
    _device,
    _flush,
    _queue,
    _journal,
    _read_ahead,
)
"""All kernel estimators. To add one, write a function and list it here."""


def _calls_of_size(rows: pl.DataFrame, size: int) -> pl.DataFrame:
    """Select the calls that moved `size` bytes; this drops open and close."""
    return rows.filter(pl.col("result") == size)


def _durations(rows: pl.DataFrame) -> tuple[float, ...]:
    return tuple(((rows["left_ns"] - rows["entered_ns"]) * 1e-9).to_list())


def kernel_times(
    seen: Mapping[str, TracedProbe], parameters: tuple[Parameter, ...]
) -> tuple[KernelTime, ...]:
    """Estimate all kernel times, and pair each with the calibrated value."""
    outside = {
        parameter.field: float(parameter.value)
        for parameter in parameters
        if isinstance(parameter.value, (int, float)) and not isinstance(parameter.value, bool)
    }
    estimates = [entry for find in KERNEL_ESTIMATORS for entry in find(seen, outside)]
    return tuple(entry for entry in estimates if entry.values)
