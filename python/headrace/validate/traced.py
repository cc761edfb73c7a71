"""Where the time in calls went, by a trace of the kernel."""

from collections.abc import Mapping
from typing import Any

from headrace import kernel_trace
from headrace.kernel_trace import Recording
from headrace.measure import Measurement
from headrace.validate.breakdown import DEVICE_AND_QUEUE, Breakdown, simulated_device, waits
from headrace.validate.point import Point, seconds_in_calls

KERNEL_TRACE = "kernel trace"
BENCHMARK = "the benchmark itself"
"""What it takes between its clock and the system call, and what others took of the processor
there."""
QUEUES = {"device": "I/O queue", "processor": "processor queue"}
"""By what they stand before."""


def from_trace(
    point: Point, processes: int, measured: Measurement, recording: Recording
) -> Breakdown | None:
    """What a trace tells of a measurement that was made for it, beside the simulation of its
    case.

    None if the system simulated is no machine with a local file system.
    """
    simulated = point.predicted.document
    if simulated_device(simulated) is None:
        return None
    made = kernel_trace.timed(recording, measured.document["measured_seconds"])
    parts = {
        name: seconds / processes
        for name, seconds in kernel_trace.breakdown(recording, made).items()
    }
    whole = seconds_in_calls(measured.document, processes)
    parts[BENCHMARK] = whole - sum(parts.values())
    requests = kernel_trace.requests(recording)
    start = made["entered_ns"].min()
    during = requests.filter(requests["issued_ns"] >= start) if start is not None else requests
    return Breakdown(
        point.name,
        KERNEL_TRACE,
        parts,
        simulated_parts(simulated, processes),
        point.among,
        (during.height, float(_visits(simulated))),
    )


def simulated_parts(simulated: Mapping[str, Any], processes: int) -> dict[str, float]:
    """What a process of a simulated machine spends at each component, in seconds.

    The device's time is divided as the time of its transfers is, in the queue and behind it, and
    the processor's as its own.
    """
    found = waits(simulated, processes)
    on_device = sum(found.pop(name, 0.0) for name in DEVICE_AND_QUEUE)
    on_processor = found.pop("processor", 0.0)
    for name, seconds in (("device", on_device), ("processor", on_processor)):
        waiting = _waiting(simulated, name)
        found[name] = (1 - waiting) * seconds
        found[QUEUES[name]] = waiting * seconds
    return found


def _waiting(simulated: Mapping[str, Any], name: str) -> float:
    """The part of the time at a station, and in the queue before it, that is waiting."""
    ends = (f"/{name}", f"/{QUEUES[name]}")
    stations = [it for it in simulated["stations"] if it["station"].endswith(ends)]
    whole = sum(it["visits"] * it["residence"] for it in stations)
    served = sum(
        it["visits"] * it["service"] for it in stations if it["station"].endswith(f"/{name}")
    )
    return max(1 - served / whole, 0.0) if whole > 0 else 0.0


def _visits(simulated: Mapping[str, Any]) -> int:
    device = simulated_device(simulated)
    return 0 if device is None else int(device["visits"])
