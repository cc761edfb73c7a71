"""Jobs, and the files that they read and write."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal, TypeAlias

POSIX, IO_URING = "posix", "io-uring"
Work: TypeAlias = Literal[
    "transfer",
    "create",
    "stat",
    "unlink",
    "mkdir",
    "rmdir",
    "truncate",
    "allocate",
    "punch",
    "compute",
]
OF_OFFSETS = ("transfer", "truncate", "allocate", "punch")
"""Work with offsets in files; others have names of files, or none."""
Sizes: TypeAlias = Sequence[tuple[int, float]]
"""Bytes of requests and the share of each size."""

Distribution: TypeAlias = Mapping[str, Any]
"""Distribution of random offsets: `kind`, and the parameters of that kind."""

# The load engine has the same structures with the same fields (crates/load/src/jobs/job.rs).


@dataclass(frozen=True)
class Access:
    """Offsets of a process's requests."""

    random: bool = False
    random_share: float = 1.0
    """Share of random requests of a random job; others follow the last one."""
    in_a_row: int = 1
    """Requests until a new random offset."""
    same_offset: bool = False
    """True if these have the same offset; they follow each other otherwise."""
    step: int = 0
    """Bytes between two sequential requests; negative: backwards."""
    each_once: bool = True
    distribution: Distribution = field(default_factory=lambda: {"kind": "uniform"})
    align: int = 0
    """Multiple that random offsets are of; 0: the block."""
    zones: tuple[int, int, int] | None = None
    """Bytes moved in a zone of a file before the next, bytes of the zone, bytes between zones."""


@dataclass(frozen=True)
class Pace:
    """Times at which requests are made. Pairs are of reads and writes of each process."""

    requests: tuple[float | None, float | None] = (None, None)
    bytes: tuple[float | None, float | None] = (None, None)
    poisson: bool = False
    think: tuple[float, float, int] | None = None
    """Seconds of a pause, those spent on the processor, and requests before each."""
    delay: tuple[float, float] = (0.0, 0.0)
    """Least and most seconds before the first request."""
    flow: tuple[int, float] | None = None
    """Number of a group of jobs, and the job's part of their requests."""
    latency_target: "LatencyTarget | None" = None


@dataclass(frozen=True)
class LatencyTarget:
    """Search for the largest queue depth within a latency."""

    seconds: float
    window: float
    """Seconds for which a depth is tried."""
    share: float
    """Share of the requests that must keep it."""
    goes_on: bool
    """True if the search goes on to the end of the job."""


@dataclass(frozen=True)
class SteadyState:
    """End of a job whose rate has become steady."""

    by: str
    """`iops`, `bw` or `lat`."""
    slope: bool
    """Limit of the slope of a line through the rates, or of the largest deviation from the mean."""
    limit: float
    relative: bool
    """True if the limit is a share of the mean."""
    seconds: float
    ramp: float


@dataclass(frozen=True)
class Batches:
    """How requests are handed over and awaited; 0 is one by one."""

    submit: int = 0
    complete: int = 0
    low: int = 0
    """Requests in flight down to which a full queue is emptied."""


@dataclass(frozen=True)
class JobContent:
    """Content of what is written."""

    compressible: float = 0.0
    duplicates: float = 0.0
    pattern: Sequence[int] = ()
    by_place: bool = False
    """True if data depend on file and offset, so that other jobs can compare them."""
    verify: bool = False
    read_back: bool = False


@dataclass(frozen=True)
class Scheduling:
    """Scheduling of a job's threads."""

    cpus: Sequence[int] = ()
    one_cpu_each: bool = False
    nice: int | None = None
    io_priority: tuple[int, int] | None = None


@dataclass(frozen=True)
class Job:
    """Requests of several processes that do the same."""

    name: str
    file: int
    """The number of its file, of its first process's if each has its own."""
    bytes: int
    """Bytes of each file that the job uses."""
    block: int
    """Bytes of the smallest request."""
    read_share: float
    """Share of the requests that are reads."""
    access: Access = Access()
    work: Work = "transfer"
    shared: bool = False
    """True if all processes use the same files."""
    files: int = 1
    """Files of a process."""
    file_order: tuple[str, int] = ("round-robin", 1)
    creates: bool = False
    """True if files are created when they are opened."""
    advice: str = "none"
    """Advice to the kernel: `random` or `sequential` access."""
    cold: bool = True
    cold_again: bool = False
    """Files leave the page cache before the job, and before each further pass."""
    offset: int = 0
    offset_step: int = 0
    """First byte that is used, and how much later each process begins."""
    sizes: tuple[Sizes, Sizes] = ((), ())
    """Sizes of reads and of writes; empty: all have a block."""
    queue_depth: int = 1
    """Requests in flight per process at the most."""
    batches: Batches = Batches()
    processes: int = 1
    calls: str = POSIX
    direct: bool = False
    """Bypass the page cache (O_DIRECT)."""
    stable: bool = False
    """A write returns when its data is on stable storage (O_DSYNC)."""
    stable_attributes: bool = False
    """The same of its attributes (O_SYNC)."""
    seconds: float | None = None
    repeated: bool = False
    """Start again at the end of the file until the time is over."""
    passes: int = 1
    total: int | None = None
    """Bytes that a process moves in a pass; all of its files' if None."""
    most: int | None = None
    """Requests of a process at the most."""
    warm_up: float = 0.0
    """Seconds before, which do not count."""
    pace: Pace = Pace()
    sync_every: int | None = None
    sync_data_every: int | None = None
    sync_at_end: bool = False
    content: JobContent = JobContent()
    scheduling: Scheduling = Scheduling()
    after: str | None = None
    """Name of a job of the same stage whose end it awaits."""
    ends_all: bool = False
    steady_state: SteadyState | None = None
    compute: tuple[float, float] | None = None
    """Share of the processor, and seconds of computing at a time."""
    log: bool = False
    seed: int = 1

    @property
    def random(self) -> bool:
        """True if offsets are random."""
        return self.access.random

    @property
    def reads(self) -> bool:
        """True if the job reads."""
        return self.work == "transfer" and self.read_share > 0

    @property
    def writes(self) -> bool:
        """True if the job changes files."""
        return self.work in OF_OFFSETS and (self.read_share < 1 or self.work != "transfer")

    @property
    def requested(self) -> float | None:
        """Requests per second of all processes; None where each makes as many as it can."""
        rates = [
            rate or (amount / self.block if amount else None)
            for rate, amount in zip(self.pace.requests, self.pace.bytes, strict=True)
        ]
        used = [rate for rate, way in zip(rates, (self.reads, self.writes), strict=True) if way]
        return None if None in used else sum(rate or 0.0 for rate in used) * self.processes or None

    @property
    def lasts(self) -> float | None:
        """Seconds, where that is known."""
        if self.seconds is None:
            return None
        return self.pace.delay[1] + self.warm_up + self.seconds

    def all_files(self) -> range:
        """The numbers of its files."""
        return range(self.file, self.file + self.files * (1 if self.shared else self.processes))

    def label(self, operation: str) -> str:
        """Return the name of one of the job's operations in a result."""
        one_kind = self.reads != self.writes and not self.content.read_back
        own = ("read", "write") if one_kind else ()
        return self.name if operation in own else f"{self.name}, {operation}"


@dataclass(frozen=True)
class FileLayout:
    """A file that is made before the first job."""

    number: int
    bytes: int
    filled: str = "written"
    """`written`, `allocated`, `sparse` (only as long as it is), or `directory`."""
    least: int = 0
    """Bytes that it has in any case."""
    seconds: float | None = None
    """Seconds after which a file stops growing during layout; None without a limit."""


@dataclass(frozen=True)
class Log:
    """Logs that a job writes as fio does."""

    name: str
    """The job's name."""
    kinds: Sequence[tuple[str, str]]
    """`bw`, `lat` or `iops`, each with the beginning of its file's name."""
    milliseconds: int
    """Time over which entries are averaged; 0: each request."""


@dataclass(frozen=True)
class Plan:
    """Jobs in stages; the jobs of a stage begin together when those of the stage before have
    ended."""

    name: str
    description: str
    stages: Sequence[Sequence[Job]]
    files: Sequence[FileLayout] = ()
    job_file: str | None = None
    """The text of the file that the jobs come from."""
    notes: Sequence[str] = field(default_factory=tuple)
    """Options of the job file that Headrace treats otherwise, each with its line."""
    logs: Sequence[Log] = ()
