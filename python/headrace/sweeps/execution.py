"""Sweeps: one scenario at many points, several times each."""

import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import nullcontext
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from os import PathLike
from pathlib import Path
from typing import Any, TypeAlias

from headrace import progress_events
from headrace._core import RunError, ScenarioError
from headrace.document_io import as_sets
from headrace.interruption import STOP_EXCEPTIONS
from headrace.intervals import FEWEST, half_width
from headrace.simulate.scenario import Scenario
from headrace.simulate.schedulers import check_trust
from headrace.simulate.trust import Trust, trust_of
from headrace.sweeps import designs
from headrace.sweeps.axis import Axis, WrongAxis, check_distinct, of_mapping
from headrace.sweeps.designs import Point
from headrace.sweeps.engines import engine
from headrace.sweeps.finished_runs import FinishedRuns
from headrace.sweeps.progress import OnProgress, shown
from headrace.sweeps.result import FIGURES, Run, Sweep, values
from headrace.sweeps.sensitivity import METHODS
from headrace.sweeps.task import Outcome, Task, anonymous, key_of

Vary: TypeAlias = Mapping[Any, Any] | Sequence[Axis]
"""Values by path or by a tuple of paths, or axes."""
OnStop: TypeAlias = Callable[[Sweep], object]
"""Callback with the finished runs of a sweep that is stopped."""
MOST_REPLICATIONS = 10_000


@dataclass(frozen=True)
class Precision:
    """When a point has enough replications."""

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

    def is_reached(self, outcomes: Sequence[Outcome]) -> bool:
        """Return whether a point needs no more replications."""
        known = [values(it.figures)[self.figure] for it in outcomes if it.figures is not None]
        present = [value for value in known if value is not None]
        if len(present) < len(outcomes) or len(outcomes) >= self.most:
            return True
        if len(present) < FEWEST:
            return False
        mean = sum(present) / len(present)
        width = half_width(present)
        return width is not None and width <= self.part * abs(mean)


@dataclass
class _Plan:
    """The runs of a sweep: known from the start, or added until the precision is reached."""

    scenario: Scenario
    points: Sequence[Point]
    replications: int
    precision: Precision | None
    first_seed: int
    tasks: list[tuple[Task, int, int]] = field(default_factory=list)
    """Tasks with their point and replication."""
    failed: list[Run] = field(default_factory=list)
    """Points that are no scenario."""
    refused: ScenarioError | None = None
    """The first error of such a point."""
    by_point: dict[int, list[Outcome]] = field(default_factory=dict)
    begun: dict[int, int] = field(default_factory=dict)
    """Replications of each point."""
    own_code: dict[tuple[str, str, str], Scenario] = field(default_factory=dict)
    """Scenarios with schedulers of their own, by module, class and folder."""

    def __post_init__(self) -> None:
        self._anonymous = anonymous(self.scenario.loaded)
        count = self.replications if self.precision is None else FEWEST
        for number, point in enumerate(self.points):
            for replication in range(count):
                if not self._add(number, point, replication):
                    break

    def _add(self, number: int, point: Point, replication: int) -> bool:
        seed = self.first_seed + replication
        # The same seeds at every point: common random numbers.
        sets = (*as_sets(point), f"run.seed={seed}", "run.replications=1")
        try:
            loaded = self._anonymous.with_sets(list(sets))
        except ScenarioError as error:
            self.refused = self.refused or error
            self.failed.append(
                Run(point=number, set=point, replication=replication, seed=seed, error=str(error))
            )
            return False
        if loaded.scheduler is not None:
            module, name, folder, *_ = loaded.scheduler
            self.own_code.setdefault((module, name, str(folder)), Scenario(loaded))
        self.begun[number] = replication + 1
        self.tasks.append((Task(len(self.tasks), key_of(loaded), sets), number, replication))
        return True

    def take(self, task: Task, outcome: Outcome) -> None:
        """Note an outcome; add a replication if the point needs one."""
        _, number, _ = self.tasks[task.number]
        found = self.by_point.setdefault(number, [])
        found.append(outcome)
        if self.precision is None:
            return
        # All of its replications have ended.
        if len(found) == self.begun[number] and not self.precision.is_reached(found):
            self._add(number, self.points[number], self.begun[number])


class _Waiting:
    """The tasks to run. It has more whenever the plan grows. Runs that are known are taken over
    at once, and of equal runs one is made."""

    def __init__(self, plan: _Plan, known: Mapping[str, Outcome]) -> None:
        self._plan = plan
        self._known = dict(known)
        """Outcomes by key, of an earlier sweep and of this one."""
        self._earlier = frozenset(known)
        self._equal: dict[str, list[Task]] = {}
        """Tasks that wait for a run in progress, by its key."""
        self._next = 0
        self.reused = 0
        self.outcomes: dict[int, Outcome] = {}
        """Outcomes by the number of their task."""

    def __iter__(self) -> Iterator[Task]:
        return self

    def __length_hint__(self) -> int:
        return len(self._plan.tasks) - self._next

    def __next__(self) -> Task:
        while self._next < len(self._plan.tasks):
            task = self._plan.tasks[self._next][0]
            self._next += 1
            outcome = self._known.get(task.key)
            if outcome is not None:
                self.reused += task.key in self._earlier
                self._take(task, outcome)
            elif task.key in self._equal:
                self._equal[task.key].append(task)
            else:
                self._equal[task.key] = []
                return task
        raise StopIteration

    def end(self, task: Task, outcome: Outcome) -> None:
        """Note the outcome of a task, and of those that are equal to it."""
        self._known[task.key] = outcome
        for each in (task, *self._equal.pop(task.key, ())):
            self._take(each, outcome)

    def _take(self, task: Task, outcome: Outcome) -> None:
        self.outcomes[task.number] = outcome
        self._plan.take(task, outcome)


def sweep(
    scenario: Scenario,
    vary: Vary,
    *,
    design: str | None = None,
    samples: int | None = None,
    sensitivity: str | None = None,
    replications: int | None = None,
    precision: Precision | None = None,
    on: str = "threads",
    directory: str | PathLike[str] | None = None,
    progress: bool | OnProgress | None = None,
    trust: bool | Trust = False,
    on_stop: OnStop | None = None,
) -> Sweep:
    """Run a scenario at every point of a design.

    Args:
        scenario: The scenario to vary.
        vary: Values by path: `{"clients.count": [4, 8]}`; ranges as text:
            `{"layout.unit": "64 KiB..4 MiB:log7"}`; linked fields by a tuple of paths. Or axes.
        design: `full` (every combination), `latin-hypercube` or `sobol`.
        samples: Points of a sampled design; for `sensitivity` the number of rows or trajectories,
            which have a point or two more than there are axes.
        sensitivity: `sobol` or `morris`: the design from which `Sweep.sensitivity` comes.
        replications: Runs of each point, by default `run.replications`. Replication r has the
            seed `run.seed` + r at every point (common random numbers).
        precision: Adds replications to each point until it is reached.
        on: Engine: `threads`, `threads:4`, or one of `ENGINES`.
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
    """
    axes = list(vary) if isinstance(vary, Sequence) else of_mapping(vary)
    if not axes:
        raise WrongAxis("nothing varies: give at least one path with values")
    check_distinct(axes)
    count = scenario.loaded.replications if replications is None else replications
    if not 1 <= count <= MOST_REPLICATIONS:
        raise ValueError(f"{count} replications: expected 1 to {MOST_REPLICATIONS:,}")
    seed = scenario.loaded.seed
    name = _design_name(design, sensitivity)
    designed = designs.design(name, axes, scenario, samples, seed)

    def whole(found: Sweep) -> Sweep:
        return replace(
            found,
            design=name,
            axes=[axis.name for axis in axes],
            coordinates=designed.coordinates,
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
    on: str = "threads",
    directory: str | PathLike[str] | None = None,
    progress: bool | OnProgress | None = None,
    trust: bool | Trust = False,
    design_name: str = "points",
    on_stop: OnStop | None = None,
) -> Sweep:
    """Run a scenario at given points; see `sweep`."""
    begun, started = time.monotonic(), datetime.now(UTC)
    trusted = trust_of(trust)
    plan = _Plan(scenario, points, replications, precision, scenario.loaded.seed)
    if plan.refused is not None and not plan.tasks:
        raise plan.refused
    check_trust(plan.own_code.values(), trusted)
    record = nullcontext() if directory is None else FinishedRuns(Path(directory))
    with record as finished:
        waiting = _Waiting(plan, {} if finished is None else finished.known)

        def found() -> Sweep:
            runs = _runs(plan, waiting.outcomes)
            return Sweep(
                scenario.name,
                scenario.toml,
                runs,
                reused=waiting.reused,
                left=len(plan.tasks) + len(plan.failed) - len(runs),
                wall_s=time.monotonic() - begun,
                design=design_name,
                seed=plan.first_seed,
                axes=list(dict.fromkeys(path for point in points for path in point)),
                started=started,
            )

        try:
            with shown(progress) as tell, engine(on, scenario, trusted) as workers:
                for task, outcome in workers.outcomes(waiting):
                    if finished is not None:
                        finished.add(task.key, outcome)
                    waiting.end(task, outcome)
                    _report(plan, task, outcome, len(waiting.outcomes))
                    tell(len(waiting.outcomes), len(plan.tasks))
                tell(len(waiting.outcomes), len(plan.tasks))
        except (*STOP_EXCEPTIONS, RunError):
            if on_stop is not None:
                on_stop(found())
            raise
    return found()


def _report(plan: _Plan, task: Task, outcome: Outcome, number: int) -> None:
    """Report the figures of a finished run to a program that shows them."""
    if outcome.figures is None or not progress_events.wanted():
        return
    point = plan.points[plan.tasks[task.number][1]]
    name = ", ".join(f"{path}={value}" for path, value in point.items())
    progress_events.finish_step(number, name, {**point, **values(outcome.figures)})


def _runs(plan: _Plan, outcomes: Mapping[int, Outcome]) -> list[Run]:
    """Return the runs that have ended, by point and replication."""
    ended = [
        Run(
            point=point,
            set=dict(plan.points[point]),
            replication=replication,
            seed=plan.first_seed + replication,
            figures=outcome.figures,
            details=outcome.details,
            error=outcome.error,
        )
        for task, point, replication in plan.tasks
        if (outcome := outcomes.get(task.number)) is not None
    ]
    return sorted([*ended, *plan.failed], key=lambda run: (run.point, run.replication))
