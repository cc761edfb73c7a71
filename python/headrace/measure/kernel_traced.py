"""A measurement during which the kernel is traced."""

from collections.abc import Callable
from os import PathLike

from headrace import kernel_trace
from headrace.kernel_trace import Recording
from headrace.measure.measurement import Measurement
from headrace.measure.report import KernelTime, Report


def measure_with_kernel_trace(
    measure: Callable[[], Measurement], below: str | PathLike[str]
) -> tuple[Measurement, Recording]:
    """Measure below a directory while the kernel is traced. The document then has `kernel`.

    Raises KernelTraceError if the kernel cannot be traced, and what the measurement raises.

    Examples:
        >>> sets = {"clients.count": 2, "workload.files": 4}
        >>> workload = hr.measure.load("scenarios/striped-read.toml", sets)
        >>> run = lambda: hr.measure.measure(workload, ".")
        >>> measured, recording = hr.measure.measure_with_kernel_trace(run, ".")  # doctest: +SKIP
        >>> measured.document["kernel"]["requests"]  # doctest: +SKIP
        64
    """
    with kernel_trace.trace_session(below) as session:
        measurement, recording = session.record(measure)
    measurement.report.kernel = in_kernel(measurement.report, recording)
    return measurement, recording


def in_kernel(report: Report, recording: Recording) -> KernelTime:
    """Return the time breakdown of the timed calls, in seconds of all processes.

    It includes the number of device requests since the first call, and of lost events.
    """
    summary = kernel_trace.timed(recording, report.measured_seconds)
    requests = kernel_trace.requests(recording)
    start = summary["entered_ns"].min()
    during = requests.filter(requests["issued_ns"] >= start) if start is not None else requests
    return KernelTime(kernel_trace.breakdown(recording, summary), during.height, recording.lost)
