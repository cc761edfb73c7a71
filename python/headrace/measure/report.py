"""Records of a measurement's document: what the load engine reports, and what is added to it.

Times are in seconds, amounts in bytes, rates per second. Fields with a default are left out of the
document if they have it.
"""

from typing import Any, Self

import msgspec
from msgspec import UNSET, UnsetType

from headrace.environment import Environment
from headrace.fields import to_document
from headrace.io500 import Io500, Phase
from headrace.training import Training

EARLY = ("interrupted", "failed")
"""Reasons for which a measurement ends early."""


class ResultWarning(msgspec.Struct, frozen=True):
    """A warning beside a result."""

    condition: str
    """Identifier of the condition (docs/reference/conditions.md)."""
    message: str


class ScenarioText(msgspec.Struct, omit_defaults=True):
    """The scenario that was run."""

    name: str
    description: str
    toml: str
    sets: list[str] = []
    """Values that override the scenario's file, as `path=value`."""


class PlanText(msgspec.Struct, frozen=True):
    """Name and description of a benchmark without a scenario."""

    name: str
    description: str


class Stop(msgspec.Struct, frozen=True, omit_defaults=True):
    """Why a benchmark ended: `workload`, `time`, `requests` or `done`; `interrupted`, `failed` with
    the `error`; `unfinished` in a file that was saved after a step."""

    reason: str
    error: str | None = None

    @property
    def early(self) -> bool:
        """True if the measurement was interrupted, or an operation failed."""
        return self.reason in EARLY


class Load(msgspec.Struct, frozen=True):
    """Rates of operations that arrive at times of their own, in operations a second."""

    requested_per_second: float
    offered_per_second: float
    """Rate of intended starts as drawn in this run."""
    achieved_per_second: float


class Unfinished(msgspec.Struct, frozen=True):
    """Requests that were due before the end and never issued; `operations` has their counts. `mean`
    and `max` are seconds from the intended start to the end; None without requests."""

    count: int
    mean: float | None
    max: float | None
    operations: dict[str, int]


class Waits(msgspec.Struct, frozen=True):
    """Waits for messages between hosts, in seconds."""

    count: int
    mean: float | None
    max: float


class Coordination(msgspec.Struct, frozen=True):
    """Overhead of operations that processes on several hosts begin together."""

    announced: Waits
    go_ahead: Waits


class Sharing(msgspec.Struct, frozen=True, omit_defaults=True):
    """Operations that several processes began at the same moment, and their cost on many hosts."""

    rounds: int
    broken_off: int
    coordination: Coordination | None = None


class FileSet(msgspec.Struct, frozen=True):
    """Files that a group of operations has to itself, at the start."""

    workload: int
    group: str
    files: int
    bytes: int


class LeftOut(msgspec.Struct, frozen=True):
    """Operations that were left out, as in a simulation's result."""

    by: str
    what: str
    reason: str
    count: int


class Latency(msgspec.Struct, frozen=True):
    """Times of operations, in seconds; None where there is none."""

    count: int
    mean: float | None
    p50: float | None
    p95: float | None
    p99: float | None
    max: float | None


class OperationFigures(msgspec.Struct, frozen=True):
    """Counts and rate of one operation."""

    group: str
    count: int
    bytes: int
    active_seconds: float
    per_second: float | None
    """None if the operations took no time."""
    prepare_seconds: float
    """Time of preparation, which no latency includes."""


class CataloguedRate(msgspec.Struct, frozen=True):
    """A rate that the store catalogues."""

    per_second: float | None


class CataloguedTime(msgspec.Struct, frozen=True):
    """A time that the store catalogues, in seconds."""

    mean: float


class Catalogued(msgspec.Struct, frozen=True, kw_only=True):
    """Figures for the store's catalogue, by which sweeps are compared step by step."""

    operations: dict[str, CataloguedRate]
    latency: dict[str, Latency | CataloguedTime | None]


class GroupFigures(msgspec.Struct, frozen=True, omit_defaults=True):
    """Counts, rates and latencies of a group of operations, from merged histograms. A phase is from
    the first start to the last end of any of them."""

    operations: list[str]
    count: int
    bytes: int
    active_seconds: float
    per_second: float | None
    throughput: float | None
    """Bytes a second; None if no operation of the group moves bytes."""
    prepare_seconds: float
    latency: Latency
    latency_from_intended: Latency | None = None


class ClassifiedReads(msgspec.Struct, frozen=True):
    """Bytes that a mix read, by where they were found."""

    asked_bytes: int
    hit_bytes: int
    read_ahead_bytes: int
    missed_bytes: int
    unknown_bytes: int


class Files(msgspec.Struct, frozen=True):
    """The files of a benchmark's directory at the end."""

    count: int
    bytes: int


class CounterMeans(msgspec.Struct, frozen=True):
    """Means of processor and device counters; `cpu_…` are shares of all processors' time. Columns
    are explained in `headrace.measure.counters`."""

    device: str | None
    """Block device below the directory, the counters of which are for any program."""
    processors: int | float
    """Processors of the host; a mean of repetitions may be a fraction."""
    cpu_user: float
    cpu_system: float
    cpu_iowait: float
    cpu_steal: float
    cpu_own: float
    """That of the benchmark itself."""
    device_busy: float | None
    """Share of the time in which the device had work, without flushes."""
    device_flushing: float | None
    """Sum of the times of its flushes, over the time; None before Linux 5.5."""
    device_read_bytes_per_s: float | None
    device_write_bytes_per_s: float | None
    device_reads_per_s: float | None
    device_writes_per_s: float | None


class CacheFigures(msgspec.Struct, frozen=True, omit_defaults=True):
    """Page-cache hit rate of reads, and the bytes that it follows from."""

    hit_rate: float | None
    """Share of the bytes read that was in memory when requested; None with the reason in `note`."""
    note: str | UnsetType = UNSET
    asked_bytes: int | UnsetType | None = UNSET
    """All bytes read; mapped and direct reads and those of the warm-up are included."""
    hit_bytes: int | UnsetType | None = UNSET
    read_ahead_bytes: int | UnsetType | None = UNSET
    missed_bytes: int | UnsetType | None = UNSET
    """Bytes in no page cache, direct reads among them."""
    device_bytes: int | UnsetType | None = UNSET
    """Bytes that the kernel read from the device for the benchmark; None without a device."""
    unknown_bytes: int | UnsetType | None = UNSET
    """Bytes of reads that the kernel does not report."""


class Skew(msgspec.Struct, frozen=True):
    """Skew between the starts of ranks, and its uncertainty, in seconds."""

    skew_s: float
    uncertainty_s: float


class Host(msgspec.Struct):
    """A host whose ranks took part."""

    name: str
    ranks: list[int]
    processes: int
    counters: CounterMeans
    warnings: list[ResultWarning]


class KernelTime(msgspec.Struct, frozen=True):
    """Time breakdown of the timed calls from a kernel trace."""

    seconds: dict[str, float]
    """Seconds of all processes by component."""
    requests: int
    """Requests to the device since the first call."""
    lost: int
    """Events that the kernel lost."""


class EngineReport(msgspec.Struct, kw_only=True, omit_defaults=True):
    """Report of the load engine (crates/load/src/report.rs)."""

    kind: str
    scenario: ScenarioText
    seed: int
    version: str
    measured_seconds: float
    """Time from the common start of the processes to the end of the last one."""
    prepare_seconds: float
    """Time to create the files that had to exist."""
    processes: int
    stop: Stop
    load: Load | None = None
    unfinished: Unfinished | None = None
    sharing: Sharing | None = None
    trainings: list[Training] = []
    """Only of workloads of kind "training"."""
    io500: Io500 | None = None
    """Only if the workloads are the four of IO500, in turn."""
    file_sets: list[FileSet] = []
    error: str | None = None
    left_out: list[LeftOut] = []
    throughput: dict[str, float | None]
    """Bytes a second of each operation that moves bytes."""
    operations: dict[str, OperationFigures]
    operation_groups: dict[str, GroupFigures]
    phases: list[Phase] | None = None
    """None for several repetitions."""
    reads: ClassifiedReads | None = None
    latency: dict[str, Latency]
    """Service times by operation, and of `all`."""
    latency_from_intended: dict[str, Latency] = {}
    """Response times, where operations have an intended start; unfinished requests included."""


class Report(EngineReport, kw_only=True, omit_defaults=True):
    """The document of a measurement, or of several repetitions: then rates are means; counts, bytes
    and times are sums; files are those of one repetition."""

    calls: str
    """`posix`, `io-uring`, `null`, `mpi-io` or `mpi-io-collective`; absent in documents of earlier
    versions."""
    files: Files
    counters: CounterMeans
    cache: CacheFigures
    start: Skew | None = None
    hosts: list[Host] = []
    """The hosts of several ranks."""
    warnings: list[ResultWarning]
    environment: Environment | None = None
    """As `headrace.environment` has it; None for a step of a sweep."""
    kernel: KernelTime | None = None
    wanted_repeats: int | None = None
    """Number of repetitions that were requested; None for a single measurement."""
    repetitions: list[dict[str, Any]] | None = None
    """Document of each repetition, without the fields that all share."""
    intervals: dict[str, Any] | None = None
    """Half-widths of the 95 % confidence intervals of the means, by Student's t, in the shape of
    the document; empty with fewer than 3 repetitions."""

    @classmethod
    def of_engine(cls, engine: EngineReport, **more: Any) -> Self:
        """Complete the report of the load engine."""
        own = {field: getattr(engine, field) for field in engine.__struct_fields__}
        return cls(**own, **more)

    @property
    def early(self) -> Stop | None:
        """Why the measurement ended early, with the error if there was one; None if it did not."""
        return Stop(self.stop.reason, self.error) if self.stop.early else None

    def json(self) -> dict[str, Any]:
        """Return the document."""
        document: dict[str, Any] = to_document(self)
        return document
