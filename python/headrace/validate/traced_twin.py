"""Time in calls by component, from a kernel trace."""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import partial
from os import PathLike
from statistics import median
from typing import Any

from headrace import kernel_trace
from headrace.calibrate.hodges_lehmann import hodges_lehmann
from headrace.calibrate.limiting_resource import DEVICE_AND_QUEUE, waits
from headrace.calibrate.measurements import ProgressCallback
from headrace.calibrate.run_report import RunReport
from headrace.fields import to_document
from headrace.kernel_trace import Recording
from headrace.measure import Measurement
from headrace.measure.kernel_traced import in_kernel
from headrace.measure.report import KernelTime
from headrace.validate.breakdown import Breakdown, simulated_device, throttled_share
from headrace.validate.discrepancy import discrepancy_record
from headrace.validate.point import Point
from headrace.validate.twin import Twin

KERNEL_TRACE = "kernel trace"
BENCHMARK = "the benchmark itself"
"""Time between the benchmark's clock and the system call, including preemption there."""


@dataclass(frozen=True)
class TracedTwin:
    """A twin whose cases were measured once more under a kernel trace."""

    twin: Twin
    breakdowns: tuple[Breakdown, ...]
    recordings: Mapping[str, Recording]
    """Recordings by name of the case."""
    cost: float
    """Relative increase of a case's time by tracing: the median over all cases."""

    def json(self) -> dict[str, Any]:
        """Return the JSON document."""
        lost = sum(recording.lost for recording in self.recordings.values())
        breakdowns = [breakdown.record() for breakdown in self.breakdowns]
        return self.twin.json() | {
            "breakdowns": to_document(breakdowns),
            "discrepancy": to_document(discrepancy_record(self.breakdowns)),
            "trace": {"cost": self.cost, "lost": lost},
        }


def trace_twin(
    twin: Twin, directory: str | PathLike[str], *, on_progress: ProgressCallback | None = None
) -> TracedTwin:
    """Measure each case of a twin once more under a kernel trace.

    Raises
    ------
    KernelTraceError
        If the kernel cannot be traced.
    RunError, ScenarioError, OSError
        As `headrace.measure.measure_strict` does.
    """
    breakdowns, recordings, costs = [], {}, []
    with kernel_trace.trace_session(directory) as session:
        for number, (case, point) in enumerate(zip(twin.cases, twin.points, strict=True)):
            if on_progress is not None:
                on_progress(number, len(twin.cases), case.name)
            measured, recording = session.record(partial(case.measure, directory))
            recordings[case.name] = recording
            costs.append(
                case.seconds(RunReport.measured(measured.report)) / hodges_lehmann(point.measured)
                - 1
            )
            breakdowns.append(breakdown_from_trace(point, case.processes, measured, recording))
    known = tuple(breakdown for breakdown in breakdowns if breakdown is not None)
    return TracedTwin(twin, known, recordings, median(costs))


def breakdown_from_trace(
    point: Point, processes: int, measured: Measurement, recording: Recording
) -> Breakdown | None:
    """Compare a traced measurement with the simulation of its case.

    Returns
    -------
    Breakdown or None
        None if the simulated system is not a machine with a local file system.
    """
    seconds = RunReport.measured(measured.report).seconds_in_calls(processes)
    return breakdown_from_kernel(point, processes, seconds, in_kernel(measured.report, recording))


def breakdown_from_kernel(
    point: Point, processes: int, seconds: float, kernel: KernelTime
) -> Breakdown | None:
    """Compare the trace summary of a measurement with its simulation.

    Parameters
    ----------
    point
        The measured and predicted time.
    processes
        Number of processes.
    seconds
        Measured time of a process in calls.
    kernel
        Summary of the kernel trace.
    """
    simulated = point.predicted.report
    if simulated_device(simulated) is None:
        return None
    parts = {name: of_all / processes for name, of_all in kernel.seconds.items()}
    parts[BENCHMARK] = seconds - sum(parts.values())
    return Breakdown(
        point.name,
        KERNEL_TRACE,
        parts,
        simulated_parts(simulated, processes),
        point.within_repetitions,
        (kernel.requests, float(_visits(simulated))),
    )


def simulated_parts(simulated: RunReport, processes: int) -> dict[str, float]:
    """Return the seconds that a simulated process spends at each component.

    Waits for transfers are divided like the transfers' own time, between the I/O queue and the
    device. Time in which a limit throttles transfers is `other waiting`, because the kernel has no
    request yet.
    """
    waiting = waits(simulated, processes)
    on_device = sum(waiting.pop(name, 0.0) for name in DEVICE_AND_QUEUE)
    residences = [_residence(simulated, name) for name in DEVICE_AND_QUEUE]
    queued = residences[1] / sum(residences) if sum(residences) > 0 else 0.0
    waiting |= {"device": (1 - queued) * on_device, "I/O queue": queued * on_device}
    device = simulated_device(simulated)
    held = throttled_share(simulated, device) if device is not None else 0.0
    if held > 0:
        waiting["other waiting"] = waiting.get("other waiting", 0.0) + held * waiting["device"]
        waiting["device"] *= 1 - held
    on_processor = waiting.pop("processor", 0.0)
    share = _waiting_for_processor(simulated)
    waiting |= {"processor": (1 - share) * on_processor, "processor queue": share * on_processor}
    return waiting


def _residence(simulated: RunReport, name: str) -> float:
    """Return the total time of all transfers at stations with this name."""
    stations = [station for station in simulated.stations if station.station.endswith(f"/{name}")]
    return sum(station.stay for station in stations)


def _waiting_for_processor(simulated: RunReport) -> float:
    """Return the share of processor time that is spent waiting for a processor."""
    entries = [entry for entry in simulated.breakdown if entry.place.endswith("/processor")]
    whole = sum(entry.seconds for entry in entries)
    return sum(entry.waiting for entry in entries) / whole if whole > 0 else 0.0


def _visits(simulated: RunReport) -> int:
    device = simulated_device(simulated)
    return 0 if device is None else device.visits
