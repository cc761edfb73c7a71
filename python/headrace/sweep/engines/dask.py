"""Runs on the workers of a Dask cluster: local processes, a running scheduler, or batch jobs."""

import logging
import queue
import time
import uuid
from collections.abc import Callable, Iterable, Iterator
from contextlib import AbstractContextManager, ExitStack, suppress
from dataclasses import dataclass
from types import TracebackType
from typing import Self

import msgspec
from distributed import Client, Future, KilledWorker
from distributed.client import FutureCancelledError

from headrace import __version__
from headrace._core import RunError
from headrace.interruption import LOOK_S
from headrace.simulate.scenario import Scenario
from headrace.simulate.trust import Trust
from headrace.sweep.engines.dask_run import Shipment, Stopped, carry_out_batch, receive
from headrace.sweep.task import Outcome, Task, base_of

AHEAD = 3
"""Batches at the cluster for each of its threads, so that none waits for the next."""
BATCH_S = 0.05
"""Duration of a batch. A run that takes longer is a batch of its own. A worker that dies takes the
batch with it, so this also bounds the finished work that may be lost."""
BATCH_MOST = 1000
"""Most runs in a batch."""
REFRESH_S = 1.0
"""Seconds between two counts of the workers."""


@dataclass
class Connection:
    """A connection to a cluster."""

    client: Client
    place: str
    """The cluster, for messages."""
    expected: int = 1
    """Threads that it will have, as far as it is known before they join."""
    refresh: Callable[[], object] = lambda: None
    """Called every second; replaces workers that are gone."""


class Dask:
    """Runs tasks on a Dask cluster. Workers may die and join while it runs.

    Leaving its context cancels the runs in progress, on running schedulers too.
    """

    def __init__(
        self,
        scenario: Scenario,
        trust: Trust,
        connect: Callable[[], AbstractContextManager[Connection]],
    ) -> None:
        self._scenario, self._trust, self._connect = scenario, trust, connect
        self._stack = ExitStack()
        self._connection: Connection | None = None
        self._completed: queue.SimpleQueue[Future] = queue.SimpleQueue()
        self._running: dict[Future, list[Task]] = {}
        self._prefix = f"headrace-{uuid.uuid4().hex}"
        self._batches = 0
        self._run_s: float | None = None
        self._threads, self._counted = 1, 0.0

    @property
    def workers(self) -> int:
        """Number of runs that the cluster carries out at once."""
        return self._threads

    def __enter__(self) -> Self:
        with ExitStack() as stack:
            self._connection = stack.enter_context(self._connect())
            stack.callback(self._cancel, self._connection)
            self._stack = stack.pop_all()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._stack.close()

    def outcomes(self, tasks: Iterable[Task]) -> Iterator[tuple[Task, Outcome]]:
        """Yield each task with its outcome as they complete.

        Raises:
            RunError: The scheduler is gone, or the workers have another version of Headrace.
        """
        at = self._connection
        assert at is not None
        waiting = iter(tasks)
        again: list[list[Task]] = []
        shipment: Future | None = None
        while True:
            self._count(at)
            while len(self._running) < self._threads * AHEAD:
                batch = again.pop() if again else self._batch(waiting)
                if not batch:
                    break
                if shipment is None:
                    shipment = self._ship(at)
                self._submit(at, shipment, batch)
            if not self._running:
                return
            ended = self._wait(at)
            for future, outcomes in self._gather(at, ended):
                batch = self._running.pop(future)
                if outcomes is None:
                    # One by one: the worker died of one of them, or lost them all.
                    again += [[task] for task in batch]
                    continue
                yield from zip(batch, outcomes, strict=True)

    def _batch(self, waiting: Iterator[Task]) -> list[Task]:
        size = 1
        if self._run_s is not None:
            size = max(1, min(BATCH_MOST, int(BATCH_S / max(self._run_s, 1e-9))))
        batch: list[Task] = []
        while len(batch) < size and (task := next(waiting, None)) is not None:
            batch.append(task)
        return batch

    def _ship(self, at: Connection) -> Future:
        """Send what all runs share: Dask copies it to each worker once."""
        shipment = Shipment(
            __version__, base_of(self._scenario.loaded), tuple(sorted(self._trust.accepted))
        )
        return at.client.submit(
            receive, msgspec.json.encode(shipment), key=f"{self._prefix}-scenario", pure=False
        )

    def _submit(self, at: Connection, shipment: Future, batch: list[Task]) -> None:
        self._batches += 1
        future = at.client.submit(
            carry_out_batch,
            shipment,
            msgspec.json.encode(batch),
            key=f"{self._prefix}-run-{self._batches}",
            pure=False,
        )
        self._running[future] = batch
        future.add_done_callback(self._completed.put)

    def _wait(self, at: Connection) -> list[Future]:
        """Return the futures that have completed, at least one unless workers must be counted."""
        ended = []
        with suppress(queue.Empty):
            ended.append(self._completed.get(timeout=LOOK_S))
            while True:
                ended.append(self._completed.get_nowait())
        if at.client.status != "running":
            raise RunError(f"{at.place} is gone")
        return [future for future in ended if future in self._running]

    def _gather(
        self, at: Connection, ended: list[Future]
    ) -> Iterator[tuple[Future, list[Outcome] | None]]:
        """Yield futures with their outcomes, or with None if they must run again."""
        finished = [future for future in ended if future.status == "finished"]
        for future, answer in zip(finished, self._answers(at, finished), strict=True):
            if answer is None:
                yield future, None
                continue
            outcomes = msgspec.json.decode(answer, type=list[Outcome])
            for it in outcomes:
                if it.figures is not None:
                    spent = it.figures.wall_seconds
                    self._run_s = spent if self._run_s is None else 0.9 * self._run_s + 0.1 * spent
            yield future, outcomes
        for future in ended:
            if future.status == "finished":
                continue
            yield future, self._failed(at, future, len(self._running[future]))

    def _answers(self, at: Connection, finished: list[Future]) -> list[bytes | None]:
        if not finished:
            return []
        try:
            return list(at.client.gather(finished))
        except (OSError, FutureCancelledError, KeyError):
            # Their workers died before they answered.
            return [None] * len(finished)

    def _failed(self, at: Connection, future: Future, size: int) -> list[Outcome] | None:
        if future.status != "error":
            return None
        error = future.exception()
        if isinstance(error, Stopped):
            return None
        if isinstance(error, KilledWorker):
            if size > 1:
                return None
            return [Outcome(error=_killed(error))]
        if isinstance(error, RunError):
            raise RunError(f"{at.place}: {error}")
        if isinstance(error, ModuleNotFoundError):
            raise RunError(
                f"{at.place}: its workers lack a module ({error.name}): install headrace"
                f" {__version__} there"
            )
        raise RunError(f"{at.place}: a worker failed: {type(error).__name__}: {error}")

    def _count(self, at: Connection) -> None:
        if time.monotonic() - self._counted < REFRESH_S:
            return
        with suppress(OSError):
            at.refresh()
            self._threads = max(sum(at.client.nthreads().values()), at.expected, 1)
        self._counted = time.monotonic()

    def _cancel(self, at: Connection) -> None:
        """Cancel what still runs: a worker then ends the run itself."""
        if at.client.status == "running" and self._running:
            with suppress(OSError, TimeoutError):
                at.client.cancel(list(self._running))
        self._running.clear()


def _killed(error: BaseException) -> str:
    tried = getattr(error, "allowed_failures", 0) + 1
    return f"{tried} workers died while they ran it, perhaps of too little memory"


def silence() -> None:
    """Silence Dask's own reports in this process: the engine reports what matters."""
    for name in ("distributed", "dask_jobqueue", "tornado.application", "asyncio"):
        logging.getLogger(name).setLevel(logging.CRITICAL + 1)
