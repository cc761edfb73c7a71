"""Runs on the workers of a Dask cluster: local processes, a running scheduler, or batch jobs."""

import logging
import math
import operator
import queue
import time
import uuid
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import AbstractContextManager, ExitStack, contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from types import TracebackType
from typing import Any, Self

import msgspec
from distributed import Client, Future, KilledWorker

from headrace import __version__
from headrace._core import RunError
from headrace.interruption import LOOK_S
from headrace.simulate.scenario import Scenario
from headrace.simulate.trust import Trust
from headrace.sweeps.engines.dask_run import TOPIC, Report, Shipment, Stopped, receive, run_batch
from headrace.sweeps.task import Outcome, Task, base_of

AHEAD = 2
"""Batches at the cluster for each of its threads, so that none waits for the next."""
BATCH_S = 1.0
"""Duration of a batch, for each of which Dask takes some 8 ms. A run that takes longer is a
batch of its own."""
BATCH_MOST = 1000
"""Most runs in a batch."""
MOST_DEATHS = 3
"""Workers that may die during one run, before it counts as failed."""
LOGGERS = ("distributed", "dask_jobqueue", "tornado", "asyncio")
REFRESH_S = 1.0
"""Seconds between two counts of the workers."""


@dataclass(frozen=True)
class Connection:
    """A connection to a cluster."""

    client: Client
    place: str
    """The cluster, for messages."""
    expected: int = 1
    """Threads that it will have, as far as it is known before they join."""
    refresh: Callable[[], object] = lambda: None
    """Called every second; replaces workers that are gone."""


@dataclass
class _Batch:
    """Runs that one worker executes one after the other."""

    number: int
    pending: dict[int, Task]
    """Tasks without an outcome, by number."""
    is_single: bool
    is_begun: bool = False


class Dask:
    """Runs tasks on a Dask cluster. Workers may die and join while it runs.

    Outcomes arrive as each run completes. Tasks of a worker that died are submitted again, unless
    their outcomes had arrived. Leaving the context cancels the runs in progress.
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
        self._news: queue.SimpleQueue[Report | Future] = queue.SimpleQueue()
        self._running: dict[Future, _Batch] = {}
        self._by_number: dict[int, _Batch] = {}
        self._again: list[list[Task]] = []
        self._deaths: dict[int, int] = {}
        self._identity = uuid.uuid4().hex
        self._submitted = 0
        self._run_s: float | None = None
        self._threads, self._counted = 1, float("-inf")
        self._have_joined = False

    def __enter__(self) -> Self:
        with ExitStack() as stack:
            stack.enter_context(quiet())
            self._connection = at = stack.enter_context(self._connect())
            at.client.subscribe_topic(TOPIC, self._hear)
            stack.callback(self._cancel, at.client)
            self._stack = stack.pop_all()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        if error is not None and self._connection is not None and not self._have_joined:
            error.add_note(f"no worker has joined {self._connection.place}")
        self._stack.close()

    def outcomes(self, tasks: Iterable[Task]) -> Iterator[tuple[Task, Outcome]]:
        """Yield each task with its outcome as they complete.

        Raises:
            RunError: The scheduler is gone, or the workers have another version of Headrace.
        """
        at = self._connection
        assert at is not None
        waiting = iter(tasks)
        shipment: Future | None = None
        while True:
            self._count(at)
            while len(self._running) < self._threads * AHEAD:
                batch = self._again.pop() if self._again else self._next_batch(waiting)
                if not batch:
                    break
                if shipment is None or shipment.status not in ("pending", "finished"):
                    shipment = self._ship(at.client)
                self._submit(at.client, shipment, batch)
            if not self._running:
                return
            for news in self._wait(at):
                if isinstance(news, Report):
                    yield from self._reported(news)
                elif news in self._running:
                    yield from self._ended(at, news)

    def _next_batch(self, waiting: Iterator[Task]) -> list[Task]:
        size = 1
        if self._run_s is not None:
            size = max(1, min(BATCH_MOST, int(BATCH_S / max(self._run_s, 1e-6))))
        if left := operator.length_hint(waiting):
            # Smaller towards the end, so that all threads end together.
            size = min(size, math.ceil(left / (2 * self._threads)))
        batch: list[Task] = []
        while len(batch) < size and (task := next(waiting, None)) is not None:
            batch.append(task)
        return batch

    def _ship(self, client: Client) -> Future:
        """Send the part that all runs share: Dask copies it to each worker once."""
        base = base_of(self._scenario.loaded)
        shipment = Shipment(
            __version__,
            self._identity,
            # Workers have directories of their own.
            msgspec.structs.replace(base, file=str(Path(base.file).absolute())),
            tuple(sorted(self._trust.accepted)),
        )
        return client.submit(
            receive, msgspec.json.encode(shipment), key=self._key("scenario"), pure=False
        )

    def _submit(self, client: Client, shipment: Future, tasks: list[Task]) -> None:
        key = self._key("run")
        batch = _Batch(self._submitted, {task.number: task for task in tasks}, len(tasks) == 1)
        # Dask runs what is submitted within a minute in any order, unless it has priorities.
        future = client.submit(
            run_batch,
            shipment,
            batch.number,
            msgspec.json.encode([msgspec.structs.replace(task, loaded=None) for task in tasks]),
            key=key,
            pure=False,
            priority=-batch.number,
        )
        self._running[future] = self._by_number[batch.number] = batch
        future.add_done_callback(self._news.put)

    def _key(self, label: str) -> str:
        self._submitted += 1
        return f"headrace-{label}-{self._identity}-{self._submitted}"

    def _hear(self, event: tuple[float, Mapping[str, Any]]) -> None:
        _, message = event
        if message["sweep"] == self._identity:
            self._news.put(msgspec.json.decode(message["report"], type=Report))

    def _wait(self, at: Connection) -> list[Report | Future]:
        """Return the news; nothing after a moment, so that workers can be counted."""
        news = []
        with suppress(queue.Empty):
            news.append(self._news.get(timeout=LOOK_S))
            while True:
                news.append(self._news.get_nowait())
        if at.client.status != "running":
            raise RunError(f"{at.place} is gone")
        return news

    def _reported(self, report: Report) -> Iterator[tuple[Task, Outcome]]:
        batch = self._by_number.get(report.batch)
        if batch is None:
            return
        batch.is_begun = True
        for number, outcome in report.outcomes:
            task = batch.pending.pop(number, None)
            if task is None:
                continue
            if outcome.figures is not None:
                spent = outcome.figures.wall_seconds
                known = spent if self._run_s is None else self._run_s
                self._run_s = 0.9 * known + 0.1 * spent
            yield task, outcome

    def _ended(self, at: Connection, future: Future) -> Iterator[tuple[Task, Outcome]]:
        """Take a batch that has ended; submit tasks without an outcome again."""
        batch = self._running.pop(future)
        del self._by_number[batch.number]
        if future.status == "error":
            _check(at.place, future.exception())
        left = list(batch.pending.values())
        if not batch.is_begun:
            if left:
                self._again.append(left)
            return
        for task in left:
            deaths = self._deaths.get(task.number, 0) + batch.is_single
            self._deaths[task.number] = deaths
            if deaths == MOST_DEATHS:
                yield task, Outcome(error=f"{deaths} workers died of it, perhaps out of memory")
            else:
                # One by one, as the worker may have died of any of them.
                self._again.append([task])

    def _count(self, at: Connection) -> None:
        if time.monotonic() - self._counted < REFRESH_S:
            return
        with suppress(OSError):
            at.refresh()
            threads = sum(at.client.nthreads().values())
            self._threads = max(threads, at.expected, 1)
            self._have_joined = self._have_joined or threads > 0
        self._counted = time.monotonic()

    def _cancel(self, client: Client) -> None:
        """Cancel batches in progress: a worker then ends the run itself."""
        if client.status == "running" and self._running:
            with suppress(OSError, TimeoutError):
                client.cancel(list(self._running))
        self._running.clear()


def _check(place: str, error: BaseException | None) -> None:
    """Raise RunError unless a batch that ended with an error may be submitted again."""
    if isinstance(error, Stopped | KilledWorker):
        return
    if isinstance(error, ModuleNotFoundError):
        raise RunError(
            f"{place}: a worker has no module {error.name}: install headrace {__version__} there,"
            " with the extra dask"
        )
    if isinstance(error, RunError):
        raise RunError(f"{place}: {error}")
    raise RunError(f"{place}: a worker failed: {type(error).__name__}: {error}")


@contextmanager
def quiet() -> Iterator[None]:
    """Silence Dask's own reports in this process: the engine reports what matters."""
    names = [name for name in logging.root.manager.loggerDict if name.startswith(LOGGERS)]
    loggers = [(logger := logging.getLogger(name), logger.level) for name in names]
    for logger, _ in loggers:
        logger.setLevel(logging.CRITICAL + 1)
    try:
        yield
    finally:
        for logger, level in loggers:
            logger.setLevel(level)
