"""Jobs, and the files that they read and write."""

from collections.abc import Sequence
from dataclasses import dataclass, field

POSIX, IO_URING = "posix", "io-uring"


@dataclass(frozen=True)
class Job:
    """Reads and writes of one size, by several processes that do the same. The load engine has
    the same fields (`crates/load/src/jobs/job.rs`)."""

    name: str
    file: int
    """The number of its file, of its first process's if each has its own."""
    bytes: int
    """Bytes of each file that the job uses."""
    block: int
    """Bytes of a request."""
    read_share: float
    """Share of the requests that are reads."""
    random: bool
    shared: bool = False
    """True if all processes use one file."""
    queue_depth: int = 1
    """Requests in flight per process at the most."""
    processes: int = 1
    calls: str = POSIX
    direct: bool = False
    """Bypass the page cache (O_DIRECT)."""
    stable: bool = False
    """A write returns when its data is on stable storage (O_DSYNC)."""
    seconds: float | None = None
    repeated: bool = False
    """Start again at the end of the file until the time is over."""
    warm_up: float = 0.0
    """Seconds before, which do not count."""
    rate: float | None = None
    """Requests per second of each process."""
    sync_every: int | None = None
    sync_at_end: bool = False
    seed: int = 1

    @property
    def reads(self) -> bool:
        """True if the job reads."""
        return self.read_share > 0

    @property
    def writes(self) -> bool:
        """True if the job writes."""
        return self.read_share < 1

    @property
    def requested(self) -> float | None:
        """Requests per second of all processes; None where each makes as many as it can."""
        return None if self.rate is None else self.rate * self.processes

    @property
    def lasts(self) -> float | None:
        """Seconds, where that is known."""
        return None if self.seconds is None else self.warm_up + self.seconds

    def files(self) -> range:
        """The numbers of its files."""
        return range(self.file, self.file + (1 if self.shared else self.processes))

    def label(self, operation: str) -> str:
        """Return the name of one of the job's operations in a result."""
        one_kind = self.reads != self.writes
        return self.name if one_kind and operation != "sync" else f"{self.name}, {operation}"


@dataclass(frozen=True)
class FileLayout:
    """A file that is made before the first job."""

    number: int
    bytes: int
    written: bool = True
    """True if the file is written; false if it is only allocated."""
    least: int = 0
    """Bytes that it has in any case."""
    seconds: float | None = None
    """Seconds after which a file stops growing during layout; None without a limit."""


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
