"""Where the time in calls went, by a trace of the kernel."""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import partial
from os import PathLike
from statistics import median
from typing import Any

from headrace import kernel_trace
from headrace.calibrate.bound import DEVICE_AND_QUEUE, waits
from headrace.calibrate.case import seconds_in_calls
from headrace.calibrate.measured import Told
from headrace.calibrate.middle import middle
from headrace.kernel_trace import Recording
from headrace.measure import Measurement
from headrace.measure.kernel_traced import in_kernel
from headrace.validate.breakdown import Breakdown, held_share, simulated_device
from headrace.validate.discrepancy import explanation
from headrace.validate.point import Point
from headrace.validate.twin import Twin

KERNEL_TRACE = "kernel trace"
BENCHMARK = "the benchmark itself"
"""What it takes between its clock and the system call, and what others took of the processor
there."""


@dataclass(frozen=True)
class Traced:
    """A twin whose cases were carried out once more, to see in the kernel where their time
    goes."""

    twin: Twin
    breakdowns: tuple[Breakdown, ...]
    recordings: Mapping[str, Recording]
    """By the case's name."""
    cost: float
    """What tracing adds to the time of a case, as a part of it: the median of all."""

    def json(self) -> dict[str, Any]:
        """All figures."""
        lost = sum(recording.lost for recording in self.recordings.values())
        trace = {"cost": self.cost, "lost": lost}
        return self.twin.json() | explanation(self.breakdowns) | {"trace": trace}


def traced(twin: Twin, directory: str | PathLike[str], *, told: Told | None = None) -> Traced:
    """Carries each case of a twin out once more, and records what the kernel does.

    Raises KernelTraceError if the kernel cannot be traced, otherwise as
    `headrace.measure.measure_strict` does.
    """
    breakdowns, recordings, costs = [], {}, []
    with kernel_trace.trace_session(directory) as session:
        for number, (case, point) in enumerate(zip(twin.cases, twin.points, strict=True)):
            if told is not None:
                told(number, len(twin.cases), case.name)
            measured, recording = session.record(partial(case.measured, directory))
            recordings[case.name] = recording
            costs.append(case.seconds(measured.document) / middle(point.measured) - 1)
            breakdowns.append(from_trace(point, case.processes, measured, recording))
    found = tuple(it for it in breakdowns if it is not None)
    return Traced(twin, found, recordings, median(costs))


def from_trace(
    point: Point, processes: int, measured: Measurement, recording: Recording
) -> Breakdown | None:
    """What a trace tells of a measurement that was made for it, beside the simulation of its
    case.

    None if the system simulated is no machine with a local file system.
    """
    return from_kernel(point, processes, measured.document, in_kernel(measured.document, recording))


def from_kernel(
    point: Point, processes: int, document: Mapping[str, Any], kernel: Mapping[str, Any]
) -> Breakdown | None:
    """The same from what a result keeps of its trace (`kernel`)."""
    simulated = point.predicted.document
    if simulated_device(simulated) is None:
        return None
    parts = {name: seconds / processes for name, seconds in kernel["seconds"].items()}
    parts[BENCHMARK] = seconds_in_calls(document, processes) - sum(parts.values())
    return Breakdown(
        point.name,
        KERNEL_TRACE,
        parts,
        simulated_parts(simulated, processes),
        point.among,
        (kernel["requests"], float(_visits(simulated))),
    )


def simulated_parts(simulated: Mapping[str, Any], processes: int) -> dict[str, float]:
    """What a process of a simulated machine spends at each component, in seconds.

    What calls wait for transfers is divided as the transfers' own time is: in the I/O queue, and
    in the device with whatever queue that has itself. Where a limit holds them back, the kernel has
    no request yet: that is `other waiting`, as in a trace.
    """
    found = waits(simulated, processes)
    on_device = sum(found.pop(name, 0.0) for name in DEVICE_AND_QUEUE)
    residences = [_residence(simulated, name) for name in DEVICE_AND_QUEUE]
    queued = residences[1] / sum(residences) if sum(residences) > 0 else 0.0
    found |= {"device": (1 - queued) * on_device, "I/O queue": queued * on_device}
    device = simulated_device(simulated)
    held = held_share(simulated, device) if device is not None else 0.0
    if held > 0:
        found["other waiting"] = found.get("other waiting", 0.0) + held * found["device"]
        found["device"] *= 1 - held
    on_processor = found.pop("processor", 0.0)
    share = _waiting_for_processor(simulated)
    found |= {"processor": (1 - share) * on_processor, "processor queue": share * on_processor}
    return found


def _residence(simulated: Mapping[str, Any], name: str) -> float:
    """What all transfers spend at the stations of a name."""
    stations = [it for it in simulated["stations"] if it["station"].endswith(f"/{name}")]
    return sum(float(it["visits"] * it["residence"]) for it in stations)


def _waiting_for_processor(simulated: Mapping[str, Any]) -> float:
    """The part of the time on processors that is waiting for one."""
    entries = [it for it in simulated["breakdown"] if it["place"].endswith("/processor")]
    whole = sum(float(it["seconds"]) for it in entries)
    return sum(float(it["waiting"]) for it in entries) / whole if whole > 0 else 0.0


def _visits(simulated: Mapping[str, Any]) -> int:
    device = simulated_device(simulated)
    return 0 if device is None else int(device["visits"])
