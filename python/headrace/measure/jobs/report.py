"""Records of the document of jobs. Times are in seconds, amounts in bytes, rates per second."""

from typing import Any, NamedTuple

import msgspec

from headrace.environment import Environment
from headrace.measure.report import (
    ClassifiedReads,
    CounterMeans,
    Files,
    Latency,
    PlanText,
    ResultWarning,
    Stop,
)


class JobLatency(Latency, frozen=True):
    """Times of requests, in seconds; None where there is none."""

    p999: float | None


class InFlight(msgspec.Struct, frozen=True):
    """Requests in flight per process, over time."""

    mean: float
    max: int


class Exact(msgspec.Struct, frozen=True):
    """Exact figures of a histogram, in ns."""

    sum: int
    least: int
    most: int


class Counted(msgspec.Struct):
    """Counts and rate of a job's operation."""

    count: int
    bytes: int
    active_seconds: float
    per_second: float | None


class RequestFigures(Counted, omit_defaults=True):
    """Counts, rates and times of one kind of requests."""

    throughput: float | None
    latency: JobLatency
    latency_from_intended: JobLatency | None = None


class Requests(RequestFigures, omit_defaults=True, kw_only=True):
    """One kind of requests, as the load engine reports it."""

    histogram: str
    exact: Exact | None = None

    def figures(self) -> RequestFigures:
        """Return the figures without the histogram."""
        return msgspec.convert(self, RequestFigures, from_attributes=True)


class LoggedRequest(NamedTuple):
    """A request in a log. Times in nanoseconds, from the start of the jobs."""

    ended: int
    latency: int
    kind: int
    """0: read, 1: write, 2: another."""
    bytes: int
    offset: int


class EngineJob(msgspec.Struct, frozen=True):
    """Report of the load engine about a job (crates/load/src/jobs/report.rs)."""

    name: str
    seconds: float
    requests: dict[str, Requests]
    in_flight: InFlight
    not_made: int
    """Requests that were due and not made before the end."""
    reads: ClassifiedReads | None = None
    depth: int | None = None
    steady_after: float | None = None
    logs: list[list[LoggedRequest]] = []


class JobFigures(msgspec.Struct, frozen=True, omit_defaults=True):
    """Settings and results of a job that made a request."""

    name: str
    stage: int
    """Jobs of one stage ran concurrently."""
    pattern: str
    """`sequential` or `random`."""
    read_share: float
    block: int
    """Size of a request."""
    bytes: int
    """Size of a file."""
    queue_depth: int
    processes: int
    calls: str
    direct: bool
    stable: bool
    """True if files were opened with O_DSYNC; `direct`: with O_DIRECT."""
    requested_per_second: float | None
    seconds: float
    """From the common start to the end of the last request, warm-up included."""
    in_flight: InFlight
    not_made: int
    """Requests that were due and not made before the end."""
    cache_hit_rate: float | None
    """Share of the bytes read that the page cache had; None if unknown, or without reads."""
    operations: dict[str, RequestFigures]
    work: str = "transfer"
    """`create`, `stat` and so on, where requests do not read and write."""
    blocks: list[list[int]] | None = None
    """Sizes of reads and of writes, where there are several."""
    depth_within_latency: int | None = None
    """The queue depth that a search for a latency ended with, the least of all processes."""
    steady_after: float | None = None
    """Seconds after which the job's rate was steady."""


class JobPrediction(msgspec.Struct, frozen=True):
    """Simulated figures of a job's operation. Times in seconds."""

    name: str
    operation: str
    count: int
    per_second: float | None
    throughput: float | None
    mean: float | None
    p50: float | None
    p99: float | None


class JobPredictions(msgspec.Struct, frozen=True):
    """The same jobs, simulated."""

    system: str
    """The file that describes the system."""
    jobs: list[JobPrediction]
    left_out: list[str]
    """What is not simulated."""


class JobsReport(msgspec.Struct, kw_only=True, omit_defaults=True):
    """The document of jobs. Keys NAME are jobs; one that reads and writes has `NAME, read` and
    `NAME, write`, and syncs are `NAME, sync`. Throughput of writes includes their syncs."""

    kind: str
    scenario: PlanText
    version: str
    place: dict[str, Any]
    environment: Environment
    files: Files
    jobs: list[JobFigures]
    throughput: dict[str, float]
    operations: dict[str, Counted]
    latency: dict[str, JobLatency]
    measured_seconds: float
    processes: int
    counters: CounterMeans
    notes: list[str]
    """Differences from fio."""
    stop: Stop
    warnings: list[ResultWarning]
    calls: str | None = None
    """None if jobs use different calls; each job names its own."""
    job_file: str | None = None
    """Text of the fio job file."""
    latency_from_intended: dict[str, JobLatency] = {}
    predicted: JobPredictions | None = None
    """With `--predict`."""
