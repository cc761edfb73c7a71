"""Runs in threads of this process: the kernel runs without Python's lock."""

import os
from collections.abc import Iterable, Iterator
from concurrent.futures import Future
from queue import Empty, SimpleQueue
from types import TracebackType
from typing import Self

from headrace.interruption import LOOK_S
from headrace.simulate.run_threads import RunThreads
from headrace.simulate.scenario import Scenario
from headrace.simulate.trust import Trust
from headrace.sweeps.task import Outcome, Task, carry_out

AHEAD = 4
"""Tasks in the pool for each thread, so that none waits for the next."""


class Threads:
    """Runs tasks in threads, one for each core by default."""

    def __init__(self, scenario: Scenario, trust: Trust, workers: int | None = None) -> None:
        self._workers = workers or len(os.sched_getaffinity(0))
        self._base, self._trust = scenario.loaded, trust
        self._threads = RunThreads(self._workers, "sweep")

    @classmethod
    def of(cls, scenario: Scenario, trust: Trust, argument: str) -> Self:
        """Return the engine `threads` or `threads:N`."""
        if argument and not (argument.isdecimal() and 0 < int(argument) <= 4096):
            raise ValueError(f"engine threads:{argument}: expected a number from 1 to 4096")
        return cls(scenario, trust, int(argument) if argument else None)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._threads.__exit__(kind, error, trace)

    def outcomes(self, tasks: Iterable[Task]) -> Iterator[tuple[Task, Outcome]]:
        """Yield each task with its outcome, as they complete."""
        waiting = iter(tasks)
        running: dict[Future[Outcome], Task] = {}
        ended: SimpleQueue[Future[Outcome]] = SimpleQueue()
        while True:
            while len(running) < self._workers * AHEAD:
                task = next(waiting, None)
                if task is None:
                    break
                future = self._threads.submit(self._run, task)
                running[future] = task
                future.add_done_callback(ended.put)
            if not running:
                return
            try:
                # For a moment, so that Ctrl-C comes through.
                future = ended.get(timeout=LOOK_S)
            except Empty:
                continue
            yield running.pop(future), future.result()

    def _run(self, task: Task) -> Outcome:
        return carry_out(self._base, task, self._trust, self._threads.go_on)
