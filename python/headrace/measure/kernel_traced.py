"""A measurement during which the kernel is traced."""

from collections.abc import Callable, Mapping
from os import PathLike
from typing import Any

from headrace import kernel_trace
from headrace.kernel_trace import Recording
from headrace.measure.measurement import Measurement


def measure_with_kernel_trace(
    measure: Callable[[], Measurement], below: str | PathLike[str]
) -> tuple[Measurement, Recording]:
    """Measure below a directory while the kernel is traced. The document then has `kernel`.

    Raises KernelTraceError if the kernel cannot be traced, and what the measurement raises.
    """
    with kernel_trace.trace_session(below) as session:
        measurement, recording = session.record(measure)
    measurement.document["kernel"] = in_kernel(measurement.document, recording)
    return measurement, recording


def in_kernel(document: Mapping[str, Any], recording: Recording) -> dict[str, Any]:
    """Return the time breakdown of the timed calls, in seconds of all processes.

    It includes the number of device requests since the first call, and of lost events.
    """
    made = kernel_trace.timed(recording, document["measured_seconds"])
    requests = kernel_trace.requests(recording)
    start = made["entered_ns"].min()
    during = requests.filter(requests["issued_ns"] >= start) if start is not None else requests
    return {
        "seconds": kernel_trace.breakdown(recording, made),
        "requests": during.height,
        "lost": recording.lost,
    }
