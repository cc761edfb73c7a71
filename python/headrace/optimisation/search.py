"""Searches: the best point of a scenario's parameters."""

import itertools
import math
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from os import PathLike
from typing import TypeAlias

from headrace._core import RunError
from headrace.interruption import STOP_EXCEPTIONS
from headrace.optimisation import prices as pricing
from headrace.optimisation.candidate import Candidate, rank
from headrace.optimisation.goals import Goals, WrongGoal, goals, text
from headrace.optimisation.optimum import Optimum
from headrace.optimisation.prices import Price
from headrace.optimisation.samplers import choose
from headrace.optimisation.selection import Selected, select
from headrace.optimisation.space import space
from headrace.optimisation.study import Study
from headrace.optimisation.trial_runs import TrialRuns
from headrace.simulate.scenario import Scenario, ScenarioSource, load
from headrace.simulate.trust import Trust, trust_of
from headrace.sweeps.axis import Vary, axes_of
from headrace.sweeps.engines import On
from headrace.sweeps.execution import show_runs
from headrace.sweeps.result import values_text

OnProgress: TypeAlias = Callable[[int, int, str], object]
"""Callback with what is done, what there is to do, and the best point so far; in runs, or in
seconds if the time is limited."""
OnStop: TypeAlias = Callable[[Optimum], object]
TRIALS = 100
"""Trials of a search without a limit."""
MOST_TRIALS = 100_000
SEARCH_PART = 0.6
"""Part of a limited time for trials; the rest compares the leaders."""
LARGEST_MISS = 0.1
"""Largest violation of a leader: the mean of few runs may miss a constraint by chance."""
MOST_FRONT = 3
"""Most leaders of several objectives, as a multiple of the leaders that are asked for."""
MOST_GIVEN = 8
"""Most runs of the scenario as it was given."""


class Infeasible(RunError):
    """No point meets the constraints. `optimum` has all points.

    Examples:
        >>> from headrace.optimisation import Infeasible
        >>> goals = {"maximise": "throughput", "subject_to": "latency <= 1 us"}
        >>> try:
        ...     hr.optimise("scenarios/striped-read.toml", {"clients.count": [8, 64]}, **goals)
        ... except Infeasible as error:
        ...     print(len(error.optimum.candidates))
        2
    """

    def __init__(self, message: str, optimum: Optimum) -> None:
        super().__init__(message)
        self.optimum = optimum


@dataclass
class _Search:
    """A search in progress."""

    scenario: Scenario
    goals: Goals
    study: Study
    runs: TrialRuns
    replications: int
    trials: int | None
    seconds: float | None
    on_progress: OnProgress
    begun: float = field(default_factory=time.monotonic)
    tried: list[Candidate] = field(default_factory=list)
    """Candidate of each trial."""
    planned: int = 0
    """Runs that are known to come."""
    done: int = 0
    best_text: str = ""
    """The best point so far as text."""

    def search(self, batch: int) -> None:
        """Try points until the trials or the time are over."""
        most = self.trials if self.trials is not None else MOST_TRIALS
        self.planned = most * self.replications
        while len(self.tried) < most and not self.is_over(SEARCH_PART):
            asked = self.study.ask(min(batch, most - len(self.tried)), self.runs.is_known)
            if not asked:
                break
            begin = len(self.tried)
            those = [
                self.runs.candidate(point, begin + number)
                for number, (_, point) in enumerate(asked)
            ]
            before = self.done
            self.replicate([(one, each) for one in those for each in range(self.replications)])
            for (trial, _), candidate in zip(asked, those, strict=True):
                self.study.tell(trial, candidate)
                self.tried.append(candidate)
            self.done = before + len(asked) * self.replications
            self._update_best()
            self.tell()
        self.planned = self.done

    def replicate(self, requests: Sequence[tuple[Candidate, int]]) -> None:
        """Run candidates."""
        self.planned = max(self.planned, self.done + len(requests))
        self.runs.run(requests)

    def compare(self, leaders: int, most: int, indifference: float) -> Selected:
        """Compare the leaders with new replications.

        If all of them turn out to miss a constraint, the next leaders follow.
        """
        beaten: list[Candidate] = []
        while True:
            those = self.leaders(leaders)
            if not those:
                return Selected([], [], beaten)
            selected = select(
                self.goals,
                those,
                self.replicate,
                most=most,
                indifference=indifference,
                is_over=self.is_over,
            )
            if selected.best:
                return replace(selected, beaten=beaten + selected.beaten)
            beaten += [*selected.equals, *selected.beaten]

    def leaders(self, count: int) -> list[Candidate]:
        """Return the best candidates that were not compared, by the runs of the search."""
        known = [candidate for candidate in self.succeeded if not candidate.is_compared]
        near = [
            it for it in known if self.goals.violation(it.means(self.goals.figures)) <= LARGEST_MISS
        ]
        chosen: list[Candidate] = []
        for each in rank(near, self.goals):
            if len(chosen) >= count:
                break
            room = (MOST_FRONT if len(self.goals.objectives) > 1 else 1) * count - len(chosen)
            if len(each) > room:
                figure = self.goals.objectives[0].figure
                each = _spread(sorted(each, key=lambda one: one.mean(figure) or 0.0), room)
            chosen += each
        return chosen

    @property
    def succeeded(self) -> list[Candidate]:
        """Candidates with all of their runs so far."""
        return [
            one
            for one in self.runs.candidates
            if not one.error and set(range(self.replications)) <= set(one.by_replication)
        ]

    def given(self, replications: int) -> Candidate | None:
        """Run the scenario as it was given, with the seeds of the comparison."""
        if self.is_over():
            return None
        candidate = Candidate(-1, {}, self.replications)
        self.runs.price(candidate)
        count = min(replications, MOST_GIVEN)
        self.replicate([(candidate, self.replications + number) for number in range(count)])
        return None if candidate.error else candidate

    def is_over(self, part: float = 1.0) -> bool:
        """Return whether a part of the time is over."""
        return self.seconds is not None and self.elapsed >= part * self.seconds

    @property
    def elapsed(self) -> float:
        """Seconds since the begin."""
        return time.monotonic() - self.begun

    def on_run(self) -> None:
        """Note a run."""
        self.done += 1
        self.tell()

    def tell(self) -> None:
        """Report the progress."""
        if self.seconds is not None:
            total = math.ceil(self.seconds)
            self.on_progress(min(int(self.elapsed), total), total, self.best_text)
        else:
            self.on_progress(self.done, self.planned, self.best_text)

    def best_so_far(self) -> Candidate | None:
        """Return the best point by all runs so far, even if it misses constraints."""
        compared = [candidate for candidate in self.succeeded if candidate.is_compared]
        ranks = rank(compared or self.succeeded, self.goals)
        return _compromise(ranks[0], self.goals) if ranks else None

    def _update_best(self) -> None:
        best = self.best_so_far()
        if best is None:
            return
        name = self.goals.objectives[0].figure
        misses = self.goals.violation(best.means(self.goals.figures)) > 0
        value = text(name, best.mean(name)) + (" (misses a constraint)" if misses else "")
        self.best_text = f"best {name} {value}: {values_text(best.point)}"


def optimise(
    scenario: ScenarioSource,
    vary: Vary,
    *,
    maximise: str | Sequence[str] = (),
    minimise: str | Sequence[str] = (),
    subject_to: str | Sequence[str] = (),
    prices: Mapping[str, float | str] | Sequence[Price] = (),
    trials: int | None = None,
    seconds: float | None = None,
    sampler: str | None = None,
    replications: int | None = None,
    leaders: int = 12,
    most_replications: int = 32,
    indifference: float = 0.01,
    batch: int = 8,
    on: On = "threads",
    directory: str | PathLike[str] | None = None,
    progress: bool | OnProgress | None = None,
    trust: bool | Trust = False,
    on_stop: OnStop | None = None,
) -> Optimum:
    """Search the parameters of a scenario for the best point.

    A sampler proposes points in batches, each of which runs with the seeds of the scenario. The
    leaders then run with other seeds, the better half of them twice as often each round. All
    points have the same seeds, and are compared seed by seed.

    Args:
        scenario: The scenario to vary, or a path, a text or a dictionary, as `load` accepts.
        vary: Values by path, as in `sweep`; ranges need no number of values.
        maximise: Figures to maximise: `throughput`, `operations`, or others of `FIGURES`.
        minimise: Figures to minimise: `latency_p99`, `cost`, or others of `FIGURES`.
        subject_to: Constraints, such as `latency_p99 <= 20 ms`.
        prices: Prices for the cost: `{"servers.count": 5000, "servers.memory.cache": "4/GiB"}`.
        trials: Number of trials, by default 100 if the time is not limited.
        seconds: Time for the search and the comparison.
        sampler: A name of `SAMPLERS`. By default `full` if the trials suffice for all points,
            `nsga2` for several objectives and many trials, and `tpe` otherwise.
        replications: Runs of each trial, by default `run.replications`.
        leaders: Points that are compared with more runs.
        most_replications: Most runs of a leader in the comparison.
        indifference: Part of an objective by which a difference does not matter.
        batch: Trials between two updates of the sampler, which run side by side.
        on: Engine, as in `sweep`.
        directory: Where finished runs are saved. A run that is there is not run again, and the same
            search goes on to the same answer.
        progress: As in `sweep`. A callback gets the best point so far as well, as a text.
        trust: As in `run`.
        on_stop: Callback with the best so far when Ctrl-C or a signal ends the search.

    Returns:
        The answer, the points that cannot be distinguished from it, and all trials.

    Raises:
        WrongAxis: The axes are invalid.
        WrongGoal: The goals, prices or limits of the search are invalid.
        ScenarioError: Every point is invalid, or the end of a range.
        RunError: Every point failed.
        Infeasible: No point meets the constraints; the message names the nearest.

    Examples:
        >>> scenario = hr.load("scenarios/striped-read.toml", {"workload.files": 10})
        >>> vary = {"servers.device.read_rate": ["60 MB/s", "100 MB/s"]}
        >>> hr.optimise(scenario, vary, maximise="throughput").best.point
        {'servers.device.read_rate': '100 MB/s'}
    """
    scenario = load(scenario)
    given_prices = pricing.of_mapping(prices) if isinstance(prices, Mapping) else list(prices)
    aims = goals(_names(maximise), _names(minimise), _texts(subject_to), bool(given_prices))
    _check_limits(trials, seconds, leaders, most_replications, indifference, batch)
    axes = axes_of(vary)
    count = scenario.loaded.replications if replications is None else replications
    if count < 1:
        raise WrongGoal(f"{count} replications: expected 1 or more")
    where = space(axes, scenario)
    most = trials if trials is not None else TRIALS if seconds is None else None
    name = choose(sampler, where.size, len(aims.objectives), most or TRIALS)
    study = Study(where, aims, name, scenario.loaded.seed, most or TRIALS)
    runs = TrialRuns(
        scenario,
        given_prices,
        aims.figures,
        count,
        on,
        directory,
        trust_of(trust),
        lambda: search.on_run(),
    )
    if where.size is not None and most is not None and name == "full":
        most = where.size
    with _reported(progress) as on_progress:
        search = _Search(scenario, aims, study, runs, count, most, seconds, on_progress)
        try:
            with runs:
                search.search(batch)
                if not search.succeeded:
                    raise _all_failed(search)
                selected = search.compare(leaders, most_replications, indifference)
                if not selected.best:
                    raise _infeasible(search, name)
                best = _compromise(selected.best, aims)
                given = search.given(len(best.replications))
        except STOP_EXCEPTIONS:
            if on_stop is not None:
                on_stop(_optimum(search, name, is_stopped=True))
            raise
    return _optimum(search, name, selected, given)


@contextmanager
def _reported(progress: bool | OnProgress | None) -> Iterator[OnProgress]:
    if callable(progress):
        yield progress
        return
    with show_runs(progress, "optimise") as tell:
        yield lambda done, known, best: tell(done, known)


def _optimum(
    search: _Search,
    sampler: str,
    selected: Selected | None = None,
    given: Candidate | None = None,
    *,
    is_stopped: bool = False,
) -> Optimum:
    front = selected.best if selected is not None else []
    best = _compromise(front, search.goals) if front else search.best_so_far()
    if not front and best is not None:
        front = [best]
    return Optimum(
        name=search.scenario.name,
        scenario=search.scenario.toml,
        goals=search.goals,
        candidates=search.runs.candidates,
        best=best,
        best_scenario="" if best is None else search.scenario.with_(best.point).toml,
        front=front,
        equals=selected.equals if selected is not None else [],
        comparisons=selected.comparisons if selected is not None else None,
        given=given,
        candidate_of_trial=[candidate.number for candidate in search.tried],
        importances=search.study.importances(),
        sampler=sampler,
        runs=search.runs.made,
        reused=search.runs.reused,
        is_stopped=is_stopped,
        wall_s=search.elapsed,
    )


def _compromise(front: Sequence[Candidate], goals: Goals) -> Candidate:
    """Return the point that is nearest to the best of every objective, each scaled to the front."""
    if len(front) == 1 or len(goals.objectives) == 1:
        return front[0]
    scores = {candidate: goals.score(candidate.means(goals.figures)) for candidate in front}
    columns = list(zip(*scores.values(), strict=True))

    def distance(candidate: Candidate) -> float:
        return math.hypot(
            *(
                (max(column) - value) / ((max(column) - min(column)) or 1.0)
                for value, column in zip(scores[candidate], columns, strict=True)
            )
        )

    return min(front, key=distance)


def _spread(front: Sequence[Candidate], count: int) -> list[Candidate]:
    """Return some of a sorted front, equally spaced, with both ends."""
    if count < 2:
        return list(front[:count])
    places = [round(number * (len(front) - 1) / (count - 1)) for number in range(count)]
    return [front[place] for place, _ in itertools.groupby(places)]


def _all_failed(search: _Search) -> Exception:
    candidates = search.runs.candidates
    if not candidates:
        return RunError("the time was over before the first trial: give more")
    first = candidates[0]
    refused = search.runs.refused
    if refused is not None and not any(candidate.by_replication for candidate in candidates):
        return refused
    return RunError(
        f"all {len(candidates):,} points failed; the first, {values_text(first.point)}:"
        f" {first.error}"
    )


def _infeasible(search: _Search, sampler: str) -> Exception:
    known = [candidate for candidate in search.succeeded if not candidate.error]
    nearest = min(known, key=lambda one: search.goals.violation(one.means(search.goals.figures)))
    missed = [
        f"{limit.figure} {text(limit.figure, mean)}"
        for limit in search.goals.constraints
        if (mean := nearest.mean(limit.figure)) is not None and limit.violation(mean) > 0
    ]
    limits = " and ".join(map(str, search.goals.constraints))
    message = (
        f"none of {len(known):,} points meets {limits}: the nearest has {' and '.join(missed)}, at"
        f" {values_text(nearest.point)}"
    )
    return Infeasible(message, _optimum(search, sampler))


def _names(given: str | Sequence[str]) -> list[str]:
    texts = [given] if isinstance(given, str) else given
    return [name.strip() for each in texts for name in each.split(",") if name.strip()]


def _texts(given: str | Sequence[str]) -> list[str]:
    return [given] if isinstance(given, str) else list(given)


def _check_limits(
    trials: int | None,
    seconds: float | None,
    leaders: int,
    most_replications: int,
    indifference: float,
    batch: int,
) -> None:
    if trials is not None and not 1 <= trials <= MOST_TRIALS:
        raise WrongGoal(f"{trials:,} trials: expected 1 to {MOST_TRIALS:,}")
    if seconds is not None and not 0 < seconds < math.inf:
        raise WrongGoal(f"a time of {seconds:g} s: expected more than 0")
    for name, number, least, limit in (
        ("leaders", leaders, 1, 1000),
        ("replications of a leader", most_replications, 4, 10_000),
        ("trials in a batch", batch, 1, 10_000),
    ):
        if not least <= number <= limit:
            raise WrongGoal(f"{number:,} {name}: expected {least} to {limit:,}")
    if not 0 <= indifference < 1:
        raise WrongGoal(f"indifference {indifference:g}: expected a part of 0 or more, below 1")
