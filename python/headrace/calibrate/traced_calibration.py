"""Repeat a calibration's probes under a kernel trace."""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from functools import partial
from os import PathLike
from statistics import median
from typing import Any

import polars as pl

from headrace import kernel_trace
from headrace.calibrate.case import run_workload
from headrace.calibrate.estimators import probes_for
from headrace.calibrate.estimators.estimator import known_settings
from headrace.calibrate.fitted_parameter import FITTED_PARAMETERS
from headrace.calibrate.kernel_times import (
    COLD_READS,
    METHOD,
    KernelTime,
    TracedProbe,
    kernel_times,
)
from headrace.calibrate.measurements import Calibration, ProgressCallback
from headrace.calibrate.parameter import Parameter
from headrace.calibrate.probe import Probe
from headrace.kernel_trace import Intervals, Recording
from headrace.measure import Measurement

LEAST = 10
"""Fewest requests of a kind that are reported."""


@dataclass(frozen=True)
class TracedCalibration:
    """A calibration, and its parameters as a kernel trace shows them."""

    calibration: Calibration
    times: tuple[KernelTime, ...]
    recordings: Mapping[str, Recording]
    """Recordings by name of the probe."""
    requests: pl.DataFrame
    """Requests of the device, as `headrace.kernel_trace.requests` returns them."""
    cost: float
    """Relative increase of the mean operation time by tracing: the median over all probes."""

    def json(self) -> dict[str, Any]:
        """Return the JSON document."""
        kernel = {
            "times": [time.json() for time in self.times],
            "service": kernel_trace.service(self.requests)
            .filter(pl.col("count") >= LEAST)
            .to_dicts(),
            "activity": {name: kernel_trace.activity(run) for name, run in self.recordings.items()},
            "cost": self.cost,
            "lost": sum(recording.lost for recording in self.recordings.values()),
        }
        return self.calibration.json() | {"machine": self.toml, "kernel": kernel}

    @property
    def toml(self) -> str:
        """Text of the machine file, with a comment for each kernel time that has a field. The
        parameters are those measured without tracing."""
        lines = [self.calibration.toml]
        for time in self.times:
            if time.field is not None:
                least, most = (time.text(value) for value in time.spread)
                text = f"# {METHOD}: {time.field} = {time.text(time.value)}"
                if len(time.values) > 1:
                    text += f", 90 % of {len(time.values)} between {least} and {most}"
                lines.append(f"{text}: {time.what}\n")
        return "".join(lines) if len(lines) == 1 else f"{lines[0]}\n{''.join(lines[1:])}"


@dataclass(frozen=True)
class Timeline:
    """Requests, commits and write-back over time, in seconds from the first request."""

    requests: pl.DataFrame
    """Requests of the device, with `at_s`."""
    commits: list[tuple[float, float]]
    write_back: list[tuple[float, float]]


def timeline(traced: TracedCalibration) -> Timeline:
    """Return the timeline over all probes, one after another."""
    start = int(traced.requests["issued_ns"].to_numpy().min(initial=LATEST))

    def spans(times: Callable[[Recording], Intervals]) -> list[tuple[float, float]]:
        every = [times(recording) for recording in traced.recordings.values()]
        return [
            ((int(begin) - start) * 1e-9, (int(end) - start) * 1e-9)
            for intervals in every
            for begin, end in zip(intervals.starts, intervals.ends, strict=True)
        ]

    requests = traced.requests.with_columns(((pl.col("issued_ns") - start) * 1e-9).alias("at_s"))
    return Timeline(requests, spans(kernel_trace.commits), spans(kernel_trace.write_back))


LATEST = (1 << 63) - 1


def probes(parameters: Iterable[Parameter]) -> list[Probe]:
    """Return the probes that are traced: all that make system calls, each workload once."""
    every = probes_for(known_settings(parameters))
    every += [*(fitted.probe for fitted in FITTED_PARAMETERS), COLD_READS]
    alike = {probe.workload: probe for probe in reversed(every) if probe.made_by == "posix"}
    return list(reversed(alike.values()))


def trace_calibration(
    calibration: Calibration,
    directory: str | PathLike[str],
    *,
    on_progress: ProgressCallback | None = None,
) -> TracedCalibration:
    """Measure each probe twice more, without and with a kernel trace.

    Raises
    ------
    KernelTraceError
        If the kernel cannot be traced.
    RunError, ScenarioError, OSError
        As `headrace.measure.measure_strict` does.
    """
    seen: dict[str, TracedProbe] = {}
    costs = []
    every = probes(calibration.parameters)
    with kernel_trace.trace_session(directory) as session:
        for number, probe in enumerate(every):
            if on_progress is not None:
                on_progress(number, len(every), probe.name)
            plain = _measured(probe, directory)
            measured, recording = session.record(partial(_measured, probe, directory))
            costs.append(_mean(measured) / _mean(plain) - 1)
            seen[probe.name] = _seen(measured, recording)
    return TracedCalibration(
        calibration,
        kernel_times(seen, calibration.parameters),
        {name: value.recording for name, value in seen.items()},
        pl.concat([traced.requests for traced in seen.values()]),
        median(costs),
    )


def _measured(probe: Probe, directory: str | PathLike[str]) -> Measurement:
    return run_workload(probe.text, directory, probe.resource)


def _mean(measured: Measurement) -> float:
    return measured.report.latency["all"].mean or 0.0


def _seen(measured: Measurement, recording: Recording) -> TracedProbe:
    calls = kernel_trace.timed(recording, measured.report.measured_seconds)
    requests = kernel_trace.requests(recording)
    if calls.height:
        start, end = calls["entered_ns"].to_numpy().min(), calls["left_ns"].to_numpy().max()
        requests = requests.filter(pl.col("issued_ns").is_between(start, end))
    return TracedProbe(measured.report.latency, recording, calls, requests)
