"""Runs side by side, one for each core, with one progress bar."""

import math
import os
import time
from collections.abc import Sequence
from types import TracebackType
from typing import Any, Self

from headrace._core import RunError, ScenarioError
from headrace.progress_bar import progress_bar
from headrace.progress_events import OnStep
from headrace.simulate.result import Result
from headrace.simulate.run_threads import RunThreads, completed
from headrace.simulate.runs import run
from headrace.simulate.scenario import Scenario
from headrace.simulate.trust import Trust


class ParallelRuns:
    """Run scenarios in parallel, within a context.

    `processes` is the number of parallel runs, by default one for each core. `progress` shows a
    bar; by default one is shown on a terminal and in Jupyter. A function is called with the
    completed runs, those known so far, and a title. Leaving the context early, as Ctrl-C does,
    stops every run. `trust` says which scheduler code may be executed. A run that is not over at
    the monotonic time `deadline` raises TimeoutError.
    """

    def __init__(
        self,
        title: str,
        processes: int | None = None,
        progress: bool | OnStep | None = None,
        trust: Trust | None = None,
        deadline: float = math.inf,
    ):
        self._deadline = deadline
        self._trust = trust or Trust()
        self._on_progress = progress if callable(progress) else None
        self.processes = processes or os.cpu_count() or 1
        self._bar = progress_bar("", False if callable(progress) else progress)
        self._threads = RunThreads(self.processes)
        self._title, self._done, self._total = title, 0, 0

    def __enter__(self) -> Self:
        self._advance = self._bar.__enter__()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._threads.__exit__(kind, error, trace)
        self._bar.__exit__(kind, error, trace)

    def title(self, title: str) -> None:
        """Set the title beside the progress bar."""
        self._title = title
        self._report()

    def more(self, done: int, total: int) -> None:
        """Show runs of another engine besides those of this one."""
        self._show(self._done + done, self._total + total)

    def _report(self) -> None:
        self._show(self._done, self._total)

    def _show(self, done: int, total: int) -> None:
        self._advance(done, total, f"{self._title}, {done:,} of {total:,}")
        if self._on_progress is not None:
            self._on_progress(done, total, self._title)

    def results(self, scenarios: Sequence[Scenario]) -> list[Result]:
        """The result of each. Raises as `run` does, at the first that fails."""
        return self._all(scenarios, ())

    def results_or_errors(
        self, scenarios: Sequence[Scenario]
    ) -> list[Result | RunError | ScenarioError | TimeoutError]:
        """The result of each, or why that one cannot be run."""
        return self._all(scenarios, (RunError, ScenarioError, TimeoutError))

    def _go_on(self, *_: object) -> None:
        self._threads.go_on()
        if time.monotonic() > self._deadline:
            raise TimeoutError("the time is over")

    def _all(self, scenarios: Sequence[Scenario], caught: tuple[type[Exception], ...]) -> list[Any]:
        def one(scenario: Scenario) -> Result | Exception:
            try:
                # The first files of a run are made before it reports.
                self._go_on()
                return run(scenario, progress=self._go_on, trust=self._trust, server_series=False)
            except caught as error:
                return error

        self._total += len(scenarios)
        self._report()
        runs = [self._threads.submit(one, scenario) for scenario in scenarios]
        left = set(runs)
        while left:
            done = completed(left)
            left -= done
            for ended in done:
                ended.result()
            self._done += len(done)
            self._report()
        return [ended.result() for ended in runs]
