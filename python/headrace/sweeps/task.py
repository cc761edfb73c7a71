"""One run of a sweep, and its outcome; both cross to other processes and machines."""

import hashlib
from collections.abc import Callable, Mapping
from typing import Any

import msgspec

from headrace import __version__, _core
from headrace._core import Loaded, RunError, ScenarioError, TraceError, replication_seed
from headrace.document_io import as_sets
from headrace.io500 import Io500
from headrace.simulate.policies import own_code_error, policies
from headrace.simulate.scenario import Scenario
from headrace.simulate.schedulers import check_trust, placements, python_classes, schedulers
from headrace.simulate.trust import Trust
from headrace.trace.readable import readable_traces
from headrace.training import Training

FAILURES = (RunError, ScenarioError, TraceError, OSError)
"""Errors of one run, which do not end a sweep."""


class Base(msgspec.Struct, frozen=True):
    """The scenario that all runs of a sweep change, as it was given."""

    text: str
    """TOML."""
    file: str
    """Its file, for errors and for the files beside it."""
    sets: tuple[str, ...] = ()
    """Values of the command line over it."""


class Task(msgspec.Struct, frozen=True, omit_defaults=True):
    """One run: the base with other values."""

    number: int
    """Position in the sweep, from 0."""
    key: str
    """Key of the run, equal for equal scenarios, seeds and versions."""
    sets: tuple[str, ...]
    """Values in the form of `--set`, the seed among them."""
    loaded: Any = None
    """The scenario of the run, a `Loaded`. It does not cross to other processes."""


class Latency(msgspec.Struct, frozen=True):
    """Latency over all operations, in seconds."""

    mean: float | None = None
    p50: float | None = None
    p95: float | None = None
    p99: float | None = None
    max: float | None = None


class Figures(msgspec.Struct, frozen=True):
    """Main figures of one run."""

    throughput: float
    """Bytes a second of all operations over the whole run."""
    operations: float
    """Operations a second over the whole run."""
    latency: Latency
    simulated_seconds: float
    wall_seconds: float
    events: int
    bottleneck: str
    """The limiting station."""
    synced_writes: float | None = None
    """Bytes a second of writes and the syncs that store them; None without both."""
    accelerators: float | None = None
    """Accelerators of all trainings; None without one, as the next two."""
    au: float | None = None
    """Share of the time in which they compute, as DLIO counts it: the least of all trainings."""
    samples: float | None = None
    """Samples a second that all trainings together take."""
    score: float | None = None
    """Score of IO500; None of other workloads."""


class Details(msgspec.Struct, frozen=True):
    """The tables of a run's report, as `headrace run --json` prints them."""

    throughput: msgspec.Raw
    operations: msgspec.Raw
    latency: msgspec.Raw
    groups: msgspec.Raw
    bottleneck: msgspec.Raw
    stop: msgspec.Raw


class Outcome(msgspec.Struct, frozen=True):
    """Outcome of a task: its figures, or why it failed."""

    figures: Figures | None = None
    details: Details | None = None
    error: str = ""


class _Bottleneck(msgspec.Struct):
    station: str | None = None


class _Rates(msgspec.Struct):
    bytes: float
    count: float


class _SyncedWrites(msgspec.Struct):
    throughput: float


class Report(msgspec.Struct):
    """The part of a run's report that figures come from."""

    simulated_seconds: float
    wall_seconds: float
    events: int
    bottleneck: _Bottleneck
    operations: dict[str, _Rates]
    latency: dict[str, Latency]
    synced_writes: _SyncedWrites | None = None
    trainings: list[Training] = []
    io500: Io500 | None = None


class TaskMaker:
    """Makes the tasks of a scenario's points.

    A replication has the same seed at every point (`replication_seed`): common random numbers.
    """

    def __init__(self, scenario: Scenario) -> None:
        self._first_seed = scenario.loaded.seed
        # Name and description do not enter the key: they change no figure.
        self._anonymous = scenario.loaded.with_sets(['name=""', 'description=""'])
        self._known_code: set[tuple[str, str, str]] = set()
        self._new_code: list[Scenario] = []

    def seed(self, replication: int) -> int:
        """Return the seed of a replication."""
        return replication_seed(self._first_seed, replication)

    def task(self, number: int, point: Mapping[str, Any], replication: int) -> Task:
        """Return the task of a point.

        Args:
            number: Number of the task.
            point: Values by path.
            replication: Number of the replication, from 0.

        Raises:
            ScenarioError: The point is no scenario.
        """
        sets = (*as_sets(point), f"run.seed={self.seed(replication)}", "run.replications=1")
        loaded = self._anonymous.with_sets(list(sets))
        for named in python_classes(loaded):
            code = (named.module, named.name, str(named.folder))
            if code not in self._known_code:
                self._known_code.add(code)
                self._new_code.append(Scenario(loaded))
        key = hashlib.sha256(f"{__version__}\n{loaded.toml}".encode()).hexdigest()[:32]
        return Task(number, key, sets, loaded)

    def check_trust(self, trust: Trust) -> None:
        """Check the schedulers that tasks since the last call have of their own.

        Raises:
            ScenarioError: As `schedulers.check_trust` does.
        """
        new, self._new_code = self._new_code, []
        check_trust(new, trust)


def base_of(loaded: Loaded) -> Base:
    """Return a scenario as it crosses to other processes."""
    text, file, sets = loaded.source
    return Base(text, str(file), tuple(sets))


def load_base(base: Base) -> Loaded:
    """Load the base of a sweep."""
    return Loaded.from_text(base.text, base.file, list(base.sets))


def carry_out(
    base: Loaded, task: Task, trust: Trust, progress: Callable[..., object] | None = None
) -> Outcome:
    """Execute one run.

    Args:
        base: The scenario that the task changes.
        task: The run; `run.replications` is ignored.
        trust: Scheduler code that may be executed.
        progress: Callback of the kernel; an exception that it raises ends the run.

    Returns:
        The outcome; errors of the scenario and of the run are part of it.
    """
    try:
        loaded = task.loaded or base.with_sets(list(task.sets))
        with readable_traces(loaded) as traces:
            ended = _core.run(
                loaded,
                traces=traces,
                schedulers=schedulers(loaded, trust),
                placements=placements(loaded, trust),
                policies=policies(loaded, trust),
                progress=progress,
            )
    except FAILURES as error:
        return Outcome(error=str(error))
    except (_core.SchedulerFailure, _core.PolicyFailure) as failure:
        broken_off = own_code_error(failure, loaded)
        if not isinstance(broken_off, RunError):
            raise broken_off from broken_off.__cause__
        return Outcome(error=str(broken_off))
    text = ended["report"].encode()
    report = msgspec.json.decode(text, type=Report)
    return Outcome(figures(report, warm_up(loaded)), msgspec.json.decode(text, type=Details))


def warm_up(loaded: Loaded) -> float:
    """Return the seconds before statistics begin."""
    if not loaded.gives("run.warm_up"):
        return 0.0  # Its default; a list of all quantities takes as long as a short run.
    return sum(amount for path, _, amount, _ in loaded.quantities() if path == "run.warm_up")


def figures(report: Report, warm_up_s: float) -> Figures:
    """Return the main figures of a report.

    Rates are over the whole run, so that alternating operations are weighed by their time.

    Args:
        it: The report.
        warm_up_s: Seconds before statistics begin.
    """
    kept_s = report.simulated_seconds - warm_up_s
    seconds = kept_s if kept_s > 0 else float("inf")
    trainings = report.trainings
    every = [one.utilisation for one in trainings]
    samples = [one.samples_per_second for one in trainings]
    return Figures(
        throughput=sum(each.bytes for each in report.operations.values()) / seconds,
        operations=sum(each.count for each in report.operations.values()) / seconds,
        latency=report.latency.get("all", Latency()),
        simulated_seconds=report.simulated_seconds,
        wall_seconds=report.wall_seconds,
        events=report.events,
        bottleneck=report.bottleneck.station or "",
        synced_writes=None if report.synced_writes is None else report.synced_writes.throughput,
        accelerators=sum(one.accelerators for one in trainings) if trainings else None,
        au=min((one for one in every if one is not None), default=None),
        samples=sum(one for one in samples if one is not None) if any(samples) else None,
        score=None if report.io500 is None else report.io500.score,
    )
