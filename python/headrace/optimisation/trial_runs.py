"""Runs of a search: on an engine, none of them twice."""

from collections.abc import Callable, Sequence
from contextlib import ExitStack
from os import PathLike
from pathlib import Path
from types import TracebackType
from typing import Self

import msgspec

from headrace._core import ScenarioError
from headrace.document_io import as_sets, without_option
from headrace.optimisation.candidate import Candidate
from headrace.optimisation.goals import COST
from headrace.optimisation.prices import Price, cost
from headrace.simulate.scenario import Scenario
from headrace.simulate.trust import Trust
from headrace.sweeps.designs import Point
from headrace.sweeps.engines import On, engine
from headrace.sweeps.finished_runs import FinishedRuns
from headrace.sweeps.result import values
from headrace.sweeps.task import Outcome, Task, TaskMaker


class TrialRuns:
    """Runs candidates of a scenario. Replication r has the seed `run.seed` + r at every point."""

    def __init__(
        self,
        scenario: Scenario,
        prices: Sequence[Price],
        figures: Sequence[str],
        search_replications: int,
        on: On,
        directory: str | PathLike[str] | None,
        trust: Trust,
        on_run: Callable[[], object] = lambda: None,
    ) -> None:
        """Prepare the runs.

        Args:
            scenario: The scenario that all points change.
            prices: Prices of its fields.
            figures: Figures that every run must have.
            search_replications: Replications before the comparison of leaders.
            on: Engine, as in `sweep`.
            directory: Where finished runs are saved.
            trust: Scheduler code that may be executed.
            on_run: Callback after each run.
        """
        self._scenario, self._prices, self._figures = scenario, prices, figures
        self._search_replications = search_replications
        self._on, self._directory, self._trust = on, directory, trust
        self._on_run = on_run
        self._tasks = TaskMaker(scenario)
        self._candidates: dict[bytes, Candidate] = {}
        self._costs: dict[Candidate, float] = {}
        self._known: dict[str, Outcome] = {}
        self._stack = ExitStack()
        self._begun = 0
        self.refused: ScenarioError | None = None
        """The first error of a point that is no scenario."""
        self.made = 0
        self.reused = 0
        """Runs that an earlier search had finished."""

    def __enter__(self) -> Self:
        with ExitStack() as stack:
            self._finished = (
                stack.enter_context(FinishedRuns(Path(self._directory)))
                if self._directory is not None
                else None
            )
            if self._finished is not None:
                self._known |= self._finished.known
            self._earlier = set(self._known)
            self._engine = stack.enter_context(engine(self._on, self._scenario, self._trust))
            self._stack = stack.pop_all()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._stack.__exit__(kind, error, trace)

    @property
    def candidates(self) -> list[Candidate]:
        """All points so far, in the order of their first trials."""
        return list(self._candidates.values())

    def is_known(self, point: Point) -> bool:
        """Return whether a point came before."""
        return _key(point) in self._candidates

    def candidate(self, point: Point, number: int) -> Candidate:
        """Return the candidate of a point; a point that came before keeps its own.

        Raises:
            WrongPrice: A field of the point cannot be priced.
        """
        key = _key(point)
        candidate = self._candidates.get(key)
        if candidate is None:
            candidate = Candidate(number, point, self._search_replications)
            self.price(candidate)
            self._candidates[key] = candidate
        return candidate

    def price(self, candidate: Candidate) -> None:
        """Check a candidate, and find its cost."""
        try:
            loaded = self._scenario.loaded.with_sets(as_sets(candidate.point))
        except ScenarioError as wrong:
            error = without_option(wrong)
            self.refused = self.refused or error
            candidate.error = str(error)
            return
        if self._prices:
            self._costs[candidate] = cost(self._prices, Scenario(loaded))

    def run(self, requests: Sequence[tuple[Candidate, int]]) -> None:
        """Run candidates, each with a replication, unless that is known.

        Raises:
            UntrustedCode: A point has a scheduler that is not trusted.
        """
        waiting: dict[str, list[tuple[Candidate, int]]] = {}
        tasks: list[Task] = []
        for candidate, replication in requests:
            if candidate.error or replication in candidate.by_replication:
                continue
            task = self._tasks.task(self._begun, candidate.point, replication)
            if task.key not in waiting and task.key not in self._known:
                self._begun += 1
                tasks.append(task)
            waiting.setdefault(task.key, []).append((candidate, replication))
        self._tasks.check_trust(self._trust)
        for key in [key for key in waiting if key in self._known]:
            self.reused += key in self._earlier
            self._take(waiting[key], self._known[key])
        for task, outcome in self._engine.outcomes(tasks):
            self.made += 1
            self._known[task.key] = outcome
            if self._finished is not None:
                self._finished.add(task.key, outcome)
            self._take(waiting[task.key], outcome)
            self._on_run()

    def _take(self, runs: Sequence[tuple[Candidate, int]], outcome: Outcome) -> None:
        for candidate, replication in runs:
            if outcome.figures is None:
                candidate.error = candidate.error or outcome.error
                continue
            named = values(outcome.figures) | {COST: self._costs.get(candidate)}
            missing = [name for name in self._figures if named[name] is None]
            if missing:
                why = "no operation has ended"
                if missing[0] in ("au", "accelerators", "samples"):
                    why = 'expected a workload of kind "training"'
                elif missing[0] == "score":
                    why = "expected the four workloads of IO500, in turn"
                candidate.error = f"the run has no {missing[0]}: {why}"
            candidate.by_replication[replication] = named


def _key(point: Point) -> bytes:
    return msgspec.json.encode(point, order="sorted")
