"""Runs in threads of this process: the kernel runs without Python's lock."""

import os
import threading
from collections.abc import Iterable, Iterator
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from types import TracebackType
from typing import Self

from headrace.interruption import LOOK_S
from headrace.simulate.scenario import Scenario
from headrace.simulate.trust import Trust
from headrace.sweeps.task import Outcome, Task, carry_out

AHEAD = 2
"""Tasks in the pool for each thread, so that none waits for the next."""


class _Stopped(Exception):
    """The sweep was stopped."""


class Threads:
    """Runs tasks in threads, one for each core by default."""

    def __init__(self, scenario: Scenario, trust: Trust, workers: int | None = None) -> None:
        self.workers = workers or len(os.sched_getaffinity(0))
        self._base, self._trust = scenario.loaded, trust
        self._pool = ThreadPoolExecutor(self.workers, "sweep")
        self._over = threading.Event()

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
        self._over.set()
        self._pool.shutdown(cancel_futures=True)

    def outcomes(self, tasks: Iterable[Task]) -> Iterator[tuple[Task, Outcome]]:
        """Yield each task with its outcome, as they complete."""
        waiting = iter(tasks)
        running: dict[Future[Outcome], Task] = {}
        while True:
            while len(running) < self.workers * AHEAD:
                task = next(waiting, None)
                if task is None:
                    break
                running[self._pool.submit(self._run, task)] = task
            if not running:
                return
            done, _ = wait(running, LOOK_S, FIRST_COMPLETED)
            for ended in done:
                yield running.pop(ended), ended.result()

    def _run(self, task: Task) -> Outcome:
        def go_on(*_: object) -> None:
            if self._over.is_set():
                raise _Stopped

        go_on()
        return carry_out(self._base, task, self._trust, go_on)
