"""Sweeps: one scenario at many points, several times each."""

import time
from collections import deque
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, nullcontext, suppress
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from os import PathLike
from pathlib import Path
from typing import TypeAlias

from headrace import progress_events
from headrace._core import RunError, ScenarioError
from headrace.document_io import without_option
from headrace.interruption import STOP_EXCEPTIONS
from headrace.intervals import FEWEST, half_width
from headrace.progress_bar import progress_bar
from headrace.simulate.scenario import Scenario, ScenarioSource, load
from headrace.simulate.trust import Trust, trust_of
from headrace.sweeps import designs
from headrace.sweeps.axis import Vary, WrongAxis, axes_of
from headrace.sweeps.designs import Point
from headrace.sweeps.engines import On, engine
from headrace.sweeps.finished_runs import FinishedRuns
from headrace.sweeps.result import FIGURES, Run, Sweep, values
from headrace.sweeps.sensitivity import METHODS
from headrace.sweeps.task import Outcome, Task, TaskMaker

OnStop: TypeAlias = Callable[[Sweep], object]
"""Callback with the finished runs of a sweep that is stopped."""
OnProgress: TypeAlias = Callable[[int, int], object]
"""Callback with the finished runs and the known runs."""
MOST_REPLICATIONS = 10_000
SCHEDULER = "scheduler"
"""Start of the paths that may name other code of a scheduler."""


@dataclass(frozen=True)
class Precision:
    """When a point has enough replications.

    Examples:
        >>> from headrace.sweeps import Precision
        >>> scenario = hr.load("scenarios/straggler.toml")
        >>> sweep = hr.sweep(scenario, {"servers.count": [4]}, precision=Precision(0.05, most=10))
        >>> sweep.points["runs"].to_list()
        [3]
    """

    part: float
    """Largest half width of the 95 % confidence interval, as a part of the mean."""
    figure: str = "throughput"
    """A name of `FIGURES`."""
    most: int = 100
    """Most replications of a point."""

    def __post_init__(self) -> None:
        if not 0 < self.part < 1:
            raise ValueError(f"precision {self.part:g}: expected a part above 0 and below 1")
        if self.figure not in FIGURES:
            raise ValueError(f"figure {self.figure!r}: expected {', '.join(FIGURES)}")
        if not FEWEST <= self.most <= MOST_REPLICATIONS:
            raise ValueError(
                f"{self.most} replications: expected {FEWEST} to {MOST_REPLICATIONS:,}"
            )

    def _is_reached(self, outcomes: Sequence[Outcome]) -> bool:
        """Return whether a point needs no more replications."""
        known = [values(one.figures)[self.figure] for one in outcomes if one.figures is not None]
        present = [value for value in known if value is not None]
        if len(present) < len(outcomes) or len(outcomes) >= self.most:
            return True
        if len(present) < FEWEST:
            return False
        mean = sum(present) / len(present)
        width = half_width(present)
        return width is not None and width <= self.part * abs(mean)


class _Plan:
    """The runs of a sweep, planned one by one while others take place."""

    def __init__(
        self,
        maker: TaskMaker,
        points: Sequence[Point],
        replications: int,
        precision: Precision | None,
        trust: Trust,
    ) -> None:
        self._maker, self._points, self._precision, self._trust = maker, points, precision, trust
        self._count = replications if precision is None else FEWEST
        self._next = (0, 0)
        """Point and replication of the next run, beside the added ones."""
        self._added: deque[tuple[int, int]] = deque()
        """Replications that reach the precision."""
        self._ready: Task | None = None
        self._by_point: dict[int, list[Outcome]] = {}
        self._begun: dict[int, int] = {}
        """Replications of each point."""
        self._is_planning = False
        """Whether a run has left `_next` or `_added` and is not in `places` yet."""
        self.places: list[tuple[int, int]] = []
        """Point and replication of each task, by its number."""
        self.failed: list[Run] = []
        """Points that are no scenario."""
        self._check()

    def _check(self) -> None:
        """Plan the first task, and check the code of all schedulers.

        Raises:
            ScenarioError: No point is a scenario, or code is not trusted.
        """
        self._ready = self.next()
        if self._ready is None and self.failed:
            raise self._refused
        if any(path.startswith(SCHEDULER) for point in self._points for path in point):
            for point in self._points:
                with suppress(ScenarioError):
                    self._maker.task(0, point, 0)
            self._maker.check_trust(self._trust)

    @property
    def expected(self) -> int:
        """Number of runs, as far as it is known."""
        point, replication = self._next
        first = (len(self._points) - point) * self._count - replication
        return len(self.places) + self._is_planning + first + len(self._added)

    def next(self) -> Task | None:
        """Return the next task; None if no other is known.

        Raises:
            ScenarioError: Code of a scheduler is not trusted.
        """
        if self._ready is not None:
            ready, self._ready = self._ready, None
            return ready
        while (place := self._next_place()) is not None:
            task = self._task(*place)
            self._is_planning = False
            if task is not None:
                self._maker.check_trust(self._trust)
                return task
        return None

    def _next_place(self) -> tuple[int, int] | None:
        if self._added:
            self._is_planning = True
            return self._added.popleft()
        point, replication = self._next
        if point == len(self._points):
            return None
        self._is_planning = True
        last = replication + 1 == self._count
        self._next = (point + 1, 0) if last else (point, replication + 1)
        return point, replication

    def _task(self, number: int, replication: int) -> Task | None:
        point = self._points[number]
        try:
            task = self._maker.task(len(self.places), point, replication)
        except ScenarioError as wrong:
            error = without_option(wrong)
            if not self.failed:
                self._refused = error
            self.failed.append(
                Run(
                    point=number,
                    set=point,
                    replication=replication,
                    seed=self._maker.seed(replication),
                    error=str(error),
                )
            )
            if self._next[0] == number:
                # Its other replications would fail as well.
                self._next = (number + 1, 0)
            return None
        self._begun[number] = max(replication + 1, self._count)
        self.places.append((number, replication))
        self._is_planning = False
        return task

    def point(self, task: int) -> Point:
        """Return the point of a task."""
        return self._points[self.places[task][0]]

    def take(self, task: int, outcome: Outcome) -> None:
        """Note an outcome by its task's number; add a replication if the point needs one."""
        if self._precision is None:
            return
        number, _ = self.places[task]
        known = self._by_point.setdefault(number, [])
        known.append(outcome)
        # All of its replications have ended.
        if len(known) == self._begun[number] and not self._precision._is_reached(known):
            self._added.append((number, self._begun[number]))

    def runs(self, outcomes: Mapping[int, Outcome]) -> list[Run]:
        """Return the runs that have ended, by point and replication.

        Args:
            outcomes: Outcomes by the number of their task.
        """
        ended = [
            Run(
                point=point,
                set=dict(self._points[point]),
                replication=replication,
                seed=self._maker.seed(replication),
                figures=outcome.figures,
                details=outcome.details,
                error=outcome.error,
            )
            for task, (point, replication) in enumerate(self.places)
            if (outcome := outcomes.get(task)) is not None
        ]
        return sorted([*ended, *self.failed], key=lambda run: (run.point, run.replication))


class _Waiting:
    """The tasks to run. It has more whenever the plan grows. Runs that are known are taken over
    at once, and of equal runs one is made."""

    def __init__(self, plan: _Plan, known: Mapping[str, Outcome]) -> None:
        self._plan = plan
        self._known = dict(known)
        """Outcomes by key, of an earlier sweep and of this one."""
        self._earlier = frozenset(known)
        self._equal: dict[str, list[int]] = {}
        """Numbers of tasks that wait for a run in progress, by its key."""
        self._taken = 0
        self.reused = 0
        self.outcomes: dict[int, Outcome] = {}
        """Outcomes by the number of their task."""

    def __iter__(self) -> Iterator[Task]:
        return self

    def __length_hint__(self) -> int:
        return self._plan.expected - self._taken

    def __next__(self) -> Task:
        while (task := self._plan.next()) is not None:
            self._taken += 1
            outcome = self._known.get(task.key)
            if outcome is not None:
                self.reused += task.key in self._earlier
                self._take(task.number, outcome)
            elif task.key in self._equal:
                self._equal[task.key].append(task.number)
            else:
                self._equal[task.key] = []
                return task
        raise StopIteration

    def end(self, task: Task, outcome: Outcome) -> None:
        """Note the outcome of a task, and of those that are equal to it."""
        self._known[task.key] = outcome
        for number in (task.number, *self._equal.pop(task.key, ())):
            self._take(number, outcome)

    def _take(self, number: int, outcome: Outcome) -> None:
        self.outcomes[number] = outcome
        self._plan.take(number, outcome)


def sweep(
    scenario: ScenarioSource,
    vary: Vary,
    *,
    design: str | None = None,
    samples: int | None = None,
    sensitivity: str | None = None,
    replications: int | None = None,
    precision: Precision | None = None,
    on: On = "threads",
    directory: str | PathLike[str] | None = None,
    progress: bool | OnProgress | None = None,
    trust: bool | Trust = False,
    on_stop: OnStop | None = None,
) -> Sweep:
    """Run a scenario at every point of a design.

    Args:
        scenario: The scenario to vary, or a path, a text or a dictionary, as `load` accepts.
        vary: Values by path: `{"clients.count": [4, 8]}`; ranges as text:
            `{"layout.unit": "64 KiB..4 MiB:log7"}`; linked fields by a tuple of paths. Or axes.
        design: `full` (every combination), `latin-hypercube` or `sobol`.
        samples: Points of a sampled design; for `sensitivity` the number of rows or trajectories,
            which have a point or two more than there are axes.
        sensitivity: `sobol` or `morris`: the design from which `Sweep.sensitivity` comes.
        replications: Runs of each point, by default `run.replications`. Each has the same
            seed at every point (common random numbers).
        precision: Adds replications to each point until it is reached.
        on: Engine: `threads`, `threads:4`, or one of `ENGINES`. Or a Dask `Client` or cluster,
            such as a `LocalCluster`.
        directory: Where finished runs are saved. A run that is there is not run again.
        progress: Whether to show a progress bar; by default on a terminal and in Jupyter. Or a
            callback with the finished and the known runs.
        trust: As in `run`.
        on_stop: Callback with the finished runs when Ctrl-C, a signal or the end of the workers
            ends the sweep.

    Returns:
        The result; failed points are part of it.

    Raises:
        WrongAxis: The axes or the design are invalid.
        ScenarioError: A range's end is invalid, or every point.
        ValueError: Another argument is invalid.

    Examples:
        >>> sweep = hr.sweep("scenarios/striped-read.toml", {"layout.unit": ["64 KiB", "1 MiB"]})
        >>> sweep.points["layout.unit_bytes"].to_list()
        [65536.0, 1048576.0]
    """
    scenario = load(scenario)
    axes = axes_of(vary)
    count = scenario.loaded.replications if replications is None else replications
    if not 1 <= count <= MOST_REPLICATIONS:
        raise ValueError(f"{count} replications: expected 1 to {MOST_REPLICATIONS:,}")
    seed = scenario.loaded.seed
    name = _design_name(design, sensitivity)
    designed = designs.design(name, axes, scenario, samples, seed)

    def whole(result: Sweep) -> Sweep:
        return replace(
            result, design=name, axes=[axis.name for axis in axes], coordinates=designed.coordinates
        )

    return whole(
        run_points(
            scenario,
            designed.points,
            replications=count,
            precision=precision,
            on=on,
            directory=directory,
            progress=progress,
            trust=trust,
            on_stop=on_stop and (lambda partial: on_stop(whole(partial))),
        )
    )


def _design_name(design: str | None, sensitivity: str | None) -> str:
    if sensitivity is None:
        return design or "full"
    if sensitivity not in METHODS:
        raise WrongAxis(f"sensitivity {sensitivity!r}: expected {' or '.join(METHODS)}")
    if design is not None:
        raise WrongAxis(f"sensitivity {sensitivity} has a design of its own: leave {design} out")
    return METHODS[sensitivity].design


def run_points(
    scenario: Scenario,
    points: Sequence[Point],
    *,
    replications: int = 1,
    precision: Precision | None = None,
    on: On = "threads",
    directory: str | PathLike[str] | None = None,
    progress: bool | OnProgress | None = None,
    trust: bool | Trust = False,
    on_stop: OnStop | None = None,
) -> Sweep:
    """Run a scenario at given points; see `sweep`."""
    begun, started = time.monotonic(), datetime.now(UTC)
    trusted = trust_of(trust)
    plan = _Plan(TaskMaker(scenario), points, replications, precision, trusted)
    record = nullcontext() if directory is None else FinishedRuns(Path(directory))
    with record as finished:
        waiting = _Waiting(plan, {} if finished is None else finished.known)

        def found() -> Sweep:
            runs = plan.runs(waiting.outcomes)
            return Sweep(
                scenario.name,
                scenario.toml,
                runs,
                reused=waiting.reused,
                left=plan.expected + len(plan.failed) - len(runs),
                wall_s=time.monotonic() - begun,
                design="points",
                seed=scenario.loaded.seed,
                axes=list(dict.fromkeys(path for point in points for path in point)),
                started=started,
            )

        try:
            with show_runs(progress) as tell, engine(on, scenario, trusted) as workers:
                for task, outcome in workers.outcomes(waiting):
                    if finished is not None:
                        finished.add(task.key, outcome)
                    waiting.end(task, outcome)
                    _report(plan, task, outcome, len(waiting.outcomes))
                    tell(len(waiting.outcomes), plan.expected)
                tell(len(waiting.outcomes), plan.expected)
        except (*STOP_EXCEPTIONS, RunError):
            if on_stop is not None:
                on_stop(found())
            raise
    return found()


def _report(plan: _Plan, task: Task, outcome: Outcome, number: int) -> None:
    """Report the figures of a finished run to a program that shows them."""
    if outcome.figures is None or not progress_events.wanted():
        return
    point = plan.point(task.number)
    name = ", ".join(f"{path}={value}" for path, value in point.items())
    progress_events.finish_step(number, name, {**point, **values(outcome.figures)})


@contextmanager
def show_runs(progress: bool | OnProgress | None, title: str = "sweep") -> Iterator[OnProgress]:
    """Yield a callback for the finished and the known runs.

    Args:
        progress: Whether to draw a bar; None draws one on a terminal and in Jupyter. Or the
            callback itself.
        title: Name of the work.
    """
    if callable(progress):
        yield progress
        return
    with progress_bar(title, progress) as advance:
        yield lambda done, known: advance(done, known, f"{done:,} of {known:,} runs")
