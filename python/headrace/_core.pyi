from collections.abc import Callable, Sequence
from os import PathLike
from typing import Any, Self, TypeAlias

import numpy as np

Columns = dict[str, np.ndarray[tuple[int], np.dtype[Any]]]
Path = str | PathLike[str]
Progress = Callable[[float, int, float | None], object]

VERSION: str

class ScenarioError(ValueError):
    """An error in a scenario: its place, the given value, and the expected one.

    Examples:
        >>> try:
        ...     hr.load("scenarios/striped-read.toml", {"network.bandwidth": "1 furlong"})
        ... except hr.ScenarioError as error:
        ...     print(error)
        sets['network.bandwidth'] = '1 furlong': expected a rate such as "1 Gbit/s" or "125 MB/s"
    """

    file: str
    """File, or the setting that has the value."""
    line: int | None
    """Line, from 1."""
    column: int | None
    """Column, from 1."""
    text: str
    """The given value; empty if it has none."""
    message: str
    """The expected value."""

class TraceError(ValueError):
    """An error in a trace: its place, and what was expected.

    Examples:
        >>> hr.trace.trace_info("scenarios/striped-read.toml", format="strace")
        Traceback (most recent call last):
            ...
        headrace.TraceError: scenarios/striped-read.toml: none of 30 lines is strace's: ...
    """

class RunError(RuntimeError):
    """The reason why a run failed: a deadlock, or an error of the models.

    Examples:
        >>> class Idle(hr.Scheduler):
        ...     def job_arrival(self, job: hr.Job) -> None:
        ...         pass
        >>> sets = {"clients.count": 2, "workload.files": 2, "scheduler.python": "__main__:Idle"}
        >>> hr.run(hr.load("scenarios/striped-read.toml", sets))
        Traceback (most recent call last):
            ...
        headrace.RunError: deadlock at 0.00061872 s: no event is pending, but tokens wait in ...
    """

class SchedulerFailure(Exception): ...
class PolicyFailure(Exception): ...

class Job:
    """A job, as schedulers see it.

    Examples:
        >>> class Show(hr.Scheduler):
        ...     def job_arrival(self, job: hr.Job) -> None:
        ...         self.dispatch(job)
        ...         if self.number == 0 and job.client == 1 and not shown:
        ...             shown.append((job.operation, job.offset, job.size, job.file, job.workload))
        ...             print(f"{job.arrival * 1e6:.1f} µs", job.group, job.server, job.servers)
        >>> shown = []
        >>> sets = {"clients.count": 2, "workload.files": 2, "scheduler.python": "__main__:Show"}
        >>> result = hr.run(hr.load("scenarios/striped-read.toml", sets))
        616.8 µs all 0 [0]
        >>> shown
        [('read', 0, 262144, 2, 0)]
    """

    @property
    def group(self) -> str:
        """The name of its client's group."""
    @property
    def client(self) -> int:
        """The number of its client."""
    @property
    def workload(self) -> int:
        """The number of the workload that it is a part of."""
    @property
    def server(self) -> int:
        """The number of the server that it is for, or that `dispatch` sent it to."""
    @property
    def servers(self) -> list[int]:
        """The numbers of the servers that `dispatch` may send it to."""
    @property
    def file(self) -> int:
        """The number of its file."""
    @property
    def offset(self) -> int:
        """The first byte, within the part of the file that the server holds."""
    @property
    def size(self) -> int:
        """Bytes to read or write; 0 for an operation that moves none."""
    @property
    def operation(self) -> str:
        """Operation: "read", "write", "open" and so on."""
    @property
    def arrival(self) -> float:
        """Arrival at the scheduler, in seconds."""

class ServerState:
    """The state of a data server at the time of a view.

    Examples:
        >>> class Show(hr.Scheduler):
        ...     def job_arrival(self, job: hr.Job) -> None:
        ...         self.dispatch(job)
        ...     def view_arrival(self) -> None:
        ...         state = self.servers()[0]
        ...         if self.number == 0 and state.in_service:
        ...             print(state.jobs, state.queue, f"{state.utilisation:.2f}")
        ...             print(state.dirty, state.cached)
        >>> sets = {"clients.count": 2, "workload.files": 2, "scheduler.python": "__main__:Show"}
        >>> sets["scheduler.view_period"] = "10 ms"
        >>> result = hr.run(hr.load("scenarios/striped-read.toml", sets))
        1 0 0.54
        0 0
    """

    @property
    def jobs(self) -> int:
        """Jobs that have arrived and have not been answered."""
    @property
    def queue(self) -> int:
        """The waiting jobs."""
    @property
    def in_service(self) -> int:
        """The jobs that threads or devices serve."""
    @property
    def dirty(self) -> int:
        """Bytes in memory that are not on its devices yet."""
    @property
    def cached(self) -> int:
        """Bytes of files in memory."""
    @property
    def utilisation(self) -> float:
        """Share of the last period that its devices were busy, from 0 to 1."""

class Scheduler:
    """The base class of schedulers of one's own.

    Examples:
        >>> class FewestJobs(hr.Scheduler):
        ...     def job_arrival(self, job: hr.Job) -> None:
        ...         state = self.servers()
        ...         self.dispatch(job, min(job.servers, key=lambda server: state[server].jobs))
        >>> sets = {"scheduler.python": "__main__:FewestJobs", "scheduler.view_period": "10 ms"}
        >>> result = hr.run(hr.load("scenarios/replica-choice.toml", sets))
        >>> print(f"{result.summary['latency_mean_s'][0]:.3f} s")
        0.100 s
    """

    def __init__(self, *arguments: Any, **options: Any) -> None: ...
    def _place(self, number: int, count: int, groups: tuple[str, ...], seed: int) -> None: ...
    def job_arrival(self, job: Job) -> None:
        """A job has come; it waits until it is dispatched. Must be overridden."""
    def job_finish(self, job: Job) -> None:
        """A job that was dispatched has come back from its server.

        Examples:
            >>> class OneAtATime(hr.Scheduler):
            ...     def __init__(self) -> None:
            ...         self.waiting: list[hr.Job] = []
            ...     def job_arrival(self, job: hr.Job) -> None:
            ...         self.waiting.append(job)
            ...         if len(self.waiting) == 1:
            ...             self.dispatch(job)
            ...     def job_finish(self, job: hr.Job) -> None:
            ...         self.waiting.remove(job)
            ...         if self.waiting:
            ...             self.dispatch(self.waiting[0])
            >>> sets = {"clients.count": 2, "workload.files": 2}
            >>> sets["scheduler.python"] = "__main__:OneAtATime"
            >>> result = hr.run(hr.load("scenarios/striped-read.toml", sets))
            >>> print(f"{result.summary['latency_mean_s'][0] * 1e3:.1f} ms")
            15.1 ms
        """
    def message_arrival(self, sender: int, message: Any) -> None:
        """Another scheduler's message has come.

        Parameters:
            sender: Number of the scheduler that sent it, from 0.
        """
    def wake(self, tag: int) -> None:
        """A time asked for with `wake_in` has come."""
    def view_arrival(self) -> None:
        """The schedulers have learnt a newer state of the servers."""
    def dispatch(self, job: Job, server: int | None = None) -> None:
        """Sends a waiting job on to its server, or to another with a copy of its data.

        Parameters:
            job: A job that has arrived.
            server: One of `job.servers`; by default `job.server`.

        Raises:
            ValueError: The job does not wait here, or the server has no copy of its data.
        """
    def servers(self) -> tuple[ServerState, ...]:
        """The state of all data servers by number, as of `view_time`."""
    @property
    def view_time(self) -> float | None:
        """The simulated time of the state that `servers()` gives, in seconds; None without
        `scheduler.view_period`.

        Examples:
            >>> class Age(hr.Scheduler):
            ...     def job_arrival(self, job: hr.Job) -> None:
            ...         self.dispatch(job)
            ...     def view_arrival(self) -> None:
            ...         if self.number == 0 and self.view_time == 0.01:
            ...             print(f"{(self.now - self.view_time) * 1e3:.1f} ms old")
            >>> sets = {"clients.count": 2, "workload.files": 2, "scheduler.python": "__main__:Age"}
            >>> sets |= {"scheduler.view_period": "10 ms", "scheduler.view_delay": "1 ms"}
            >>> result = hr.run(hr.load("scenarios/striped-read.toml", sets))
            1.0 ms old
        """
    def send_message(self, to: int, message: Any) -> None:
        """Sends a message, any object, to another scheduler. It takes the scenario's
        `scheduler.message_latency`.

        Parameters:
            to: Number of the scheduler, from 0.
            message: Any object; do not modify it afterwards.

        Examples:
            >>> class Tell(hr.Scheduler):
            ...     def job_arrival(self, job: hr.Job) -> None:
            ...         self.dispatch(job)
            ...         if self.number == 0 and job.client == 1:
            ...             self.send_message(self.count - 1, job.size)
            ...     def message_arrival(self, sender: int, message: object) -> None:
            ...         print(f"{self.now * 1e6:.1f} µs: {sender} to {self.number}:", message)
            >>> sets = {"clients.count": 2, "workload.files": 2}
            >>> sets["scheduler.python"] = "__main__:Tell"
            >>> result = hr.run(hr.load("scenarios/striped-read.toml", sets))
            816.8 µs: 0 to 3: 262144
            19217.7 µs: 0 to 3: 262144
        """
    def wake_in(self, seconds: float, tag: int = 0) -> None:
        """Requests a call of `wake(tag)` after `seconds`.

        Parameters:
            seconds: Simulated seconds from now, at most 200 days.
            tag: A whole number, which `wake` gets.

        Examples:
            >>> class Delay(hr.Scheduler):
            ...     def __init__(self) -> None:
            ...         self.waiting: list[hr.Job] = []
            ...     def job_arrival(self, job: hr.Job) -> None:
            ...         self.waiting.append(job)
            ...         self.wake_in(0.001)
            ...     def wake(self, tag: int) -> None:
            ...         self.dispatch(self.waiting.pop(0))
            >>> sets = {"clients.count": 2, "workload.files": 2}
            >>> sets["scheduler.python"] = "__main__:Delay"
            >>> result = hr.run(hr.load("scenarios/striped-read.toml", sets))
            >>> print(f"{result.summary['latency_mean_s'][0] * 1e3:.1f} ms")
            16.1 ms
        """
    @property
    def now(self) -> float:
        """The simulated time, in seconds."""
    @property
    def number(self) -> int:
        """The number of this scheduler among those of the scenario, from 0."""
    @property
    def count(self) -> int:
        """Number of schedulers the scenario has."""
    @property
    def seed(self) -> int:
        """The scenario's `run.seed`, for random numbers of one's own."""
    @property
    def groups(self) -> tuple[str, ...]:
        """The names of the clients' groups.

        Examples:
            >>> class Show(hr.Scheduler):
            ...     def job_arrival(self, job: hr.Job) -> None:
            ...         if not self.now > 1e-3 and self.number == 0:
            ...             print(self.groups.index(job.group), self.seed)
            ...         self.dispatch(job)
            >>> sets = {"clients.count": 1, "workload.files": 1}
            >>> sets["scheduler.python"] = "__main__:Show"
            >>> result = hr.run(hr.load("scenarios/striped-read.toml", sets))
            0 1
        """

class Loaded:
    @staticmethod
    def from_text(text: str, file: Path, sets: list[str]) -> Loaded: ...
    @staticmethod
    def from_file(file: Path, sets: list[str]) -> Loaded: ...
    @staticmethod
    def measured(text: str, file: Path, sets: list[str]) -> Loaded: ...
    def with_sets(self, more: list[str]) -> Loaded: ...
    @property
    def source(self) -> tuple[str, Path, list[str]]: ...
    @property
    def name(self) -> str: ...
    @property
    def toml(self) -> str: ...
    @property
    def seed(self) -> int: ...
    @property
    def replications(self) -> int: ...
    @property
    def groups(self) -> list[str]: ...
    @property
    def traces(self) -> list[tuple[int, PathLike[str]]]: ...
    @property
    def schedulers(self) -> list[tuple[str, str, str, str, PathLike[str], dict[str, Any], int]]: ...
    @property
    def placements(
        self,
    ) -> list[
        tuple[str, int | None, tuple[str, str, PathLike[str]], dict[str, Any], tuple[int, int, int]]
    ]: ...
    @property
    def replacement(self) -> tuple[str, str, PathLike[str]] | None: ...
    def refusal(self, path: str, message: str) -> ScenarioError: ...
    def explain(self) -> str: ...
    def quantities(self) -> list[tuple[str, str, float, str]]: ...
    def cautions(self) -> list[tuple[str, str]]: ...
    def gives(self, path: str) -> bool: ...
    def structure(self, traces: Sequence[tuple[int, str | PathLike[str]]] | None = None) -> str: ...

class Document:
    @staticmethod
    def from_text(kind: str, text: str, file: Path, sets: list[str]) -> Document: ...
    @staticmethod
    def from_file(kind: str, file: Path, sets: list[str]) -> Document: ...
    @property
    def json(self) -> str: ...
    @property
    def toml(self) -> str: ...
    @property
    def rows(self) -> list[tuple[str, str | None, str, str]]: ...
    def refusal(self, path: str, message: str) -> ScenarioError: ...

def document_schema(kind: str) -> str: ...
def document_form(kind: str) -> str: ...
def run(
    loaded: Loaded,
    *,
    requests: Callable[[Columns | None], object] | None = None,
    traces: Sequence[tuple[int, str | PathLike[str]]] | None = None,
    schedulers: list[tuple[str, list[Scheduler]]] | None = None,
    placements: Sequence[tuple[int | None, object, int]] | None = None,
    policies: Callable[[int, int], object] | None = None,
    progress: Progress | None = None,
    playback: int | None = None,
    server_samples: int | None = None,
) -> dict[str, Any]: ...
def import_numpy() -> None: ...
def schema() -> str: ...
def presets() -> list[tuple[str, str]]: ...
def workloads() -> list[tuple[str, str]]: ...
def parse_bytes(text: str) -> int: ...
def parse_seconds(text: str) -> float: ...
def parse_rate(text: str) -> float: ...
def parse_span(text: str) -> float: ...
def student_quantile(p: float, freedom: int) -> float: ...
def replication_seed(seed: int, replication: int) -> int: ...
def reliability(question: str, on_progress: Callable[[float], object] | None = None) -> str: ...

TRACE_OPERATIONS: list[str]
TRACE_GROUPS: list[str]
TRACE_CALLS: list[str]
TRACE_NO_FILE: int
TRACE_FORMATS: list[tuple[str, str, bool]]

def trace_flags_text(bits: int) -> str: ...
def trace_flags_bits(text: str) -> int | None: ...

class TraceReader:
    def __new__(cls, path: Path, format: str | None = None, messages: bool = False) -> Self: ...
    @staticmethod
    def synthesis(
        *,
        processes: int,
        shared: bool,
        block: int,
        transfer: int,
        segments: int,
        phases: str,
        random: bool,
        think_ns: int,
        seed: int,
    ) -> TraceReader: ...
    def next_batch(self, max: int) -> Columns | None: ...
    def file_names(self, numbers: Sequence[int]) -> list[str]: ...
    def process_names(self, numbers: Sequence[int]) -> list[str]: ...
    def skipped(self) -> str: ...
    def cancel(self) -> None: ...

class TraceNames:
    def __new__(cls) -> Self: ...
    def intern(self, names: list[str]) -> np.ndarray[tuple[int], np.dtype[np.uint32]]: ...
    def names(self, numbers: Sequence[int]) -> list[str]: ...

class TraceWriter:
    def __new__(cls, path: Path, format: str | None = None, at: Path | None = None) -> Self: ...
    def write(self, batch: Columns, files: list[str], processes: list[str]) -> None: ...
    def finish(self) -> None: ...
    def skipped(self) -> str: ...

class TraceSummarizer:
    def __new__(cls) -> Self: ...
    def add(self, batch: Columns) -> None: ...
    def busiest(self) -> list[int]: ...
    def finish(self, names: list[str]) -> str: ...

class BenchmarkDirectory:
    def __init__(self, below: Path) -> None: ...
    @staticmethod
    def join(path: Path, mark: str) -> BenchmarkDirectory: ...
    @property
    def mark(self) -> str: ...
    @property
    def path(self) -> PathLike[str]: ...
    def is_there(self) -> bool: ...
    def usage(self) -> tuple[int, int]: ...
    def remove(self, progress: Callable[[int], object] | None = None) -> None: ...

Counts: TypeAlias = tuple[int, int, float]

class JobTarget:
    @staticmethod
    def directory(directory: BenchmarkDirectory) -> JobTarget: ...
    @staticmethod
    def device(path: Path) -> JobTarget: ...
    def geometry(self) -> tuple[int, int] | None: ...
    def takes_direct(self) -> bool: ...
    def lay_out(
        self,
        number: int,
        bytes: int,
        *,
        least: int,
        seconds: float | None,
        filled: str,
        direct: bool,
        progress: Callable[[int], object] | None = None,
    ) -> int: ...
    def run(
        self, jobs: str, *, progress: Callable[[float, list[list[Counts]]], object] | None = None
    ) -> tuple[str, bool, str | None]: ...

def has_io_uring() -> bool: ...
def planned_requests(job: str, rank: int, most: int) -> list[tuple[int, int, int, bool]]: ...
def open_directory(path: str | PathLike[str], strictly: bool = False) -> int: ...
def trusts_owner(owner: int) -> bool: ...
def confine(readable: Sequence[str], writable: Sequence[str]) -> bool: ...
def measure(
    loaded: Loaded,
    directory: BenchmarkDirectory,
    *,
    calls: str = "posix",
    traces: Sequence[tuple[int, str | PathLike[str]]] | None = None,
    progress: Callable[[bool, float, list[tuple[int, int]], tuple[int, int]], object] | None = None,
    share: tuple[int, int] | None = None,
    others: object = None,
    space: tuple[float, int | None] = (1.0, None),
) -> dict[str, Any]: ...
def together(loaded: Loaded, parts: list[tuple[str, bytes]]) -> dict[str, Any]: ...
def room_needed(loaded: Loaded) -> tuple[int, int]: ...
def check_room(
    loaded: Loaded, below: str | PathLike[str], space: tuple[float, int | None] = (1.0, None)
) -> None: ...
def hosts_of_each(loaded: Loaded, hosts: int) -> list[int]: ...

class RoundKeeper:
    def __init__(self, hosts: int) -> None: ...
    def hear(
        self, by: int, message: tuple[int, int, int | None]
    ) -> list[tuple[int, tuple[int, int, int | None]]]: ...

class Mirror:
    def __init__(
        self,
        directory: Path,
        at: Path,
        *,
        attribute_timeout: float,
        entry_timeout: float,
        directory_timeout: float,
        readdirplus: bool,
    ) -> None: ...
    def counts(self) -> list[tuple[str, int]]: ...
    def unmount(self) -> None: ...

def clean_benchmarks(
    below: Path, only: str | None = None
) -> tuple[list[str], list[tuple[str, str]]]: ...
def merged_histograms(
    parts: list[tuple[str, tuple[int, int, int] | None]], quantiles: list[float]
) -> tuple[int, float | None, float | None, list[float | None]]: ...
def operations() -> list[tuple[str, str, bool]]: ...
def answer_messages(address: str, token: str, started: Callable[[str], object]) -> None: ...
def ask_messages(
    address: str,
    token: str,
    sizes: list[int],
    seconds: float,
    progress: Callable[[int], object] | None = None,
) -> list[tuple[int, int, float, float, float, float]]: ...

class FunctionFailure(Exception): ...

class NetModel:
    @staticmethod
    def from_text(
        text: str,
        format: str,
        file: str,
        name: str,
        functions: Sequence[Any] | None = None,
        types: list[tuple[str, Any]] | None = None,
    ) -> NetModel: ...
    @property
    def name(self) -> str: ...
    @property
    def run_settings(self) -> list[float | None]: ...
    def structure(self) -> str: ...
    def run(
        self,
        until: float | None,
        warmup: float,
        seed: int,
        on_progress: Callable[[float], object] | None = None,
        own: Sequence[tuple[str, str | None, Callable[..., object], bool]] = ...,
        playback: int | None = None,
    ) -> tuple[str, dict[str, Any] | None]: ...
    @property
    def node_paths(self) -> list[str]: ...
    @property
    def monitors(self) -> list[tuple[str, str]]: ...
    def play(self, seed: int) -> NetPlay: ...
    def negation(self, formula: str) -> str | None: ...
    def plain(self) -> str: ...
    def state_space(
        self,
        limit: int,
        timed: bool,
        reach: str | None = None,
        holds: list[tuple[str, str | None]] = ...,
        reduced: bool = False,
        on_progress: Callable[[float], object] | None = None,
    ) -> str: ...
    def chain(
        self,
        limit: int,
        conditions: list[str],
        on_progress: Callable[[float], object] | None = None,
    ) -> tuple[Columns, list[str], list[str]]: ...

class NetPlay:
    @property
    def time(self) -> float: ...
    def step(self, until: float | None = None) -> str: ...
    def run(
        self,
        until: float | None = None,
        condition: str | None = None,
        on_progress: Callable[[float], object] | None = None,
    ) -> str: ...
    def enabled(self) -> str: ...
    def fire(self, path: str, copy: int, binding: int) -> str: ...
    def marking(self) -> str: ...
    def pending(self) -> str: ...
    def counts(self) -> list[tuple[int, int, int]]: ...
    def figures(self) -> str: ...
    def reset(self) -> None: ...

def is_net_document(text: str, format: str) -> bool: ...
def parse_net_expression(text: str) -> str: ...
