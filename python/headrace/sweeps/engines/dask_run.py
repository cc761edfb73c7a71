"""Functions that Dask workers execute for a sweep."""

import time
from collections.abc import Callable
from functools import lru_cache

import msgspec
from distributed import Status, Worker, get_worker
from distributed.utils import sync

from headrace import __version__
from headrace._core import Loaded, RunError
from headrace.simulate.trust import Trust
from headrace.sweeps.task import Base, Outcome, Task, carry_out, load_base

TOPIC = "headrace"
"""Topic of the events that carry reports. One for all sweeps: a scheduler keeps the last events of
each topic for ever."""
REPORT_S = 0.1
"""Seconds between two reports of a batch, at least."""
ENDING = (Status.closing, Status.closed, Status.failed, Status.stopping, Status.stopped)
SCENARIOS = 8
"""Scenarios that a worker keeps loaded."""


class Shipment(msgspec.Struct, frozen=True):
    """The part of a sweep that all runs share."""

    version: str
    """Version of Headrace that sends it."""
    sweep: str
    """Identity of the sweep."""
    base: Base
    trusted: tuple[str, ...]
    """SHA-256 of the scheduler code that may be executed."""


class Report(msgspec.Struct, frozen=True):
    """Finished runs of a batch; none when the batch begins."""

    sweep: str
    batch: int
    outcomes: tuple[tuple[int, Outcome], ...] = ()
    """Numbers of tasks with their outcomes."""


class Stopped(Exception):
    """The batch was cancelled, its worker ends, or another worker had begun it."""


def receive(shipment: bytes) -> bytes:
    """Return a shipment, as it was sent. Dask copies it to each worker."""
    return shipment


def run_batch(shipment: bytes, number: int, batch: bytes) -> None:
    """Run tasks one after the other and report each outcome as an event.

    Args:
        shipment: A `Shipment` as JSON.
        number: Number of the batch.
        batch: A list of `Task` as JSON.

    Raises:
        RunError: The worker has another version of Headrace.
        Stopped: The batch was cancelled, the worker ends, or a worker that died had begun the
            batch. Only the sweep knows which of its runs had finished.
    """
    sent, base, trust = _unpacked(shipment)
    worker = get_worker()
    key = worker.get_current_task()
    if _was_begun(worker, key):
        raise Stopped(key)
    _report(worker, Report(sent.sweep, number))
    go_on = _cancellation(worker, key)
    tasks = msgspec.json.decode(batch, type=list[Task])
    outcomes: list[tuple[int, Outcome]] = []
    reported = time.monotonic()

    def report(at_once: bool = False) -> None:
        nonlocal reported
        if outcomes and (at_once or time.monotonic() - reported >= REPORT_S):
            _report(worker, Report(sent.sweep, number, tuple(outcomes)))
            outcomes.clear()
            reported = time.monotonic()

    def progress(*_: object) -> None:
        go_on()
        # A long run must not keep back what ended just before it.
        report()

    for task in tasks:
        go_on()
        outcomes.append((task.number, carry_out(base, task, trust, progress)))
        report(at_once=task is tasks[-1])


def _report(worker: Worker, report: Report) -> None:
    # The same stream reports the end of the batch, after this.
    worker.log_event(TOPIC, {"sweep": report.sweep, "report": msgspec.json.encode(report)})


@lru_cache(SCENARIOS)
def _unpacked(shipment: bytes) -> tuple[Shipment, Loaded, Trust]:
    sent = msgspec.json.decode(shipment, type=Shipment)
    if sent.version != __version__:
        raise RunError(
            f"a worker has headrace {__version__}, this is headrace {sent.version}: install the"
            " same version at both"
        )
    return sent, load_base(sent.base), Trust(digests=sent.trusted)


def _was_begun(worker: Worker, key: str) -> bool:
    """Return whether a task was at a worker that has died: the scheduler gives it to another."""
    story = sync(worker.loop, worker.scheduler.get_story, keys_or_stimuli=[key])
    return any(
        it[0] == key and it[1] == "processing" and it[2] not in ("memory", "erred") for it in story
    )


def _cancellation(worker: Worker, key: str) -> Callable[..., None]:
    """Return a function that raises Stopped if a task is wanted no more.

    Dask does not interrupt a task that runs; its worker only notes that it was cancelled.
    """

    def go_on(*_: object) -> None:
        task = worker.state.tasks.get(key)
        if task is None or task.state == "cancelled" or worker.status in ENDING:
            raise Stopped(key)

    return go_on
