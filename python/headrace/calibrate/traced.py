"""A calibration whose probes are carried out once more, to see them in the kernel."""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from functools import partial
from os import PathLike
from statistics import median
from typing import Any

import polars as pl

from headrace import kernel_trace
from headrace.calibrate.balance import BALANCES
from headrace.calibrate.case import carried_out
from headrace.calibrate.equations import probes_where
from headrace.calibrate.equations.equation import settled
from headrace.calibrate.kernel_times import COLD_READS, METHOD, KernelTime, Seen, kernel_times
from headrace.calibrate.measured import Calibration, Told
from headrace.calibrate.parameter import Parameter
from headrace.calibrate.probe import Probe
from headrace.kernel_trace import Intervals, Recording
from headrace.measure import Measurement

LEAST = 10
"""Requests of a kind of which the documents tell."""


@dataclass(frozen=True)
class TracedCalibration:
    """A calibration, and what the kernel itself says of its parameters."""

    calibration: Calibration
    times: tuple[KernelTime, ...]
    recordings: Mapping[str, Recording]
    """By the probe's name."""
    requests: pl.DataFrame
    """Of the device, as `headrace.kernel_trace.requests` has them."""
    cost: float
    """What tracing adds to an operation's mean time, as a part of it: the median of all probes."""

    def json(self) -> dict[str, Any]:
        """All figures."""
        kernel = {
            "times": [time.json() for time in self.times],
            "service": kernel_trace.service(self.requests)
            .filter(pl.col("count") >= LEAST)
            .to_dicts(),
            "activity": {name: kernel_trace.activity(it) for name, it in self.recordings.items()},
            "cost": self.cost,
            "lost": sum(recording.lost for recording in self.recordings.values()),
        }
        return self.calibration.json() | {"machine": self.toml, "kernel": kernel}

    @property
    def toml(self) -> str:
        """The system's file, with a remark for each time that has a field. The parameters are
        those from outside, which tracing has not disturbed."""
        lines = [self.calibration.toml]
        for it in self.times:
            if it.field is not None:
                least, most = (it.text(value) for value in it.spread)
                text = f"# {METHOD}: {it.field} = {it.text(it.value)}"
                if len(it.values) > 1:
                    text += f", 90 % of {len(it.values)} between {least} and {most}"
                lines.append(f"{text}: {it.what}\n")
        return "".join(lines) if len(lines) == 1 else f"{lines[0]}\n{''.join(lines[1:])}"


@dataclass(frozen=True)
class Timeline:
    """What happened when, in seconds from the first request on."""

    requests: pl.DataFrame
    """Those of the device, with `at_s`."""
    commits: list[tuple[float, float]]
    write_back: list[tuple[float, float]]


def timeline(found: TracedCalibration) -> Timeline:
    """Of all probes, one behind another."""
    start = int(found.requests["issued_ns"].to_numpy().min(initial=LATEST))

    def spans(of: Callable[[Recording], Intervals]) -> list[tuple[float, float]]:
        every = [of(recording) for recording in found.recordings.values()]
        return [
            ((int(begin) - start) * 1e-9, (int(end) - start) * 1e-9)
            for it in every
            for begin, end in zip(it.starts, it.ends, strict=True)
        ]

    requests = found.requests.with_columns(((pl.col("issued_ns") - start) * 1e-9).alias("at_s"))
    return Timeline(requests, spans(kernel_trace.commits), spans(kernel_trace.write_back))


LATEST = (1 << 63) - 1


def probes(parameters: Iterable[Parameter]) -> list[Probe]:
    """What is traced on a machine of such parameters: all probes that make calls, each workload
    once."""
    every = probes_where(settled(parameters))
    every += [*(balance.probe for balance in BALANCES), COLD_READS]
    alike = {probe.workload: probe for probe in reversed(every) if probe.made_by == "posix"}
    return list(reversed(alike.values()))


def traced(
    calibration: Calibration, directory: str | PathLike[str], *, told: Told | None = None
) -> TracedCalibration:
    """Carries each probe out twice more: as it is, and with the kernel traced.

    Raises KernelTraceError if the kernel cannot be traced, otherwise as
    `headrace.measure.measure_strict` does.
    """
    seen: dict[str, Seen] = {}
    costs = []
    every = probes(calibration.parameters)
    with kernel_trace.trace_session(directory) as session:
        for number, probe in enumerate(every):
            if told is not None:
                told(number, len(every), probe.name)
            plain = _measured(probe, directory)
            measured, recording = session.record(partial(_measured, probe, directory))
            costs.append(_mean(measured) / _mean(plain) - 1)
            seen[probe.name] = _seen(measured, recording)
    return TracedCalibration(
        calibration,
        kernel_times(seen, calibration.parameters),
        {name: it.recording for name, it in seen.items()},
        pl.concat([it.requests for it in seen.values()]),
        median(costs),
    )


def _measured(probe: Probe, directory: str | PathLike[str]) -> Measurement:
    return carried_out(probe.text, directory, probe.bound)


def _mean(measured: Measurement) -> float:
    return float(measured.document["latency"]["all"]["mean"])


def _seen(measured: Measurement, recording: Recording) -> Seen:
    made = kernel_trace.timed(recording, measured.document["measured_seconds"])
    requests = kernel_trace.requests(recording)
    if made.height:
        start, end = made["entered_ns"].to_numpy().min(), made["left_ns"].to_numpy().max()
        requests = requests.filter(pl.col("issued_ns").is_between(start, end))
    return Seen(measured.document["latency"], recording, made, requests)
