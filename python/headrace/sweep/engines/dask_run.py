"""What a Dask worker does for a sweep."""

from collections.abc import Callable
from functools import lru_cache

import msgspec
from distributed import Status, get_worker

from headrace import __version__
from headrace._core import Loaded, RunError
from headrace.simulate.trust import Trust
from headrace.sweep.task import Base, Outcome, Task, carry_out, load_base

ENDING = (Status.closing, Status.closed, Status.failed, Status.stopping, Status.stopped)
SCENARIOS = 8
"""Scenarios that a worker keeps loaded."""


class Shipment(msgspec.Struct, frozen=True):
    """What all runs of a sweep share."""

    version: str
    """Version of Headrace that sends it."""
    base: Base
    trusted: tuple[str, ...]
    """SHA-256 of the scheduler code that may be executed."""


class Stopped(Exception):
    """The run was cancelled, or its worker ends."""


def receive(shipment: bytes) -> bytes:
    """Return what all runs share, as it was sent. Dask copies it to each worker."""
    return shipment


def carry_out_batch(shipment: bytes, batch: bytes) -> bytes:
    """Carry out runs one after the other.

    Args:
        shipment: A `Shipment` as JSON.
        batch: A list of `Task` as JSON.

    Returns:
        A list of `Outcome` as JSON.

    Raises:
        RunError: The worker has another version of Headrace.
        Stopped: The batch was cancelled, or the worker ends.
    """
    base, trust = _unpacked(shipment)
    go_on = _cancellation()
    outcomes: list[Outcome] = []
    for task in msgspec.json.decode(batch, type=list[Task]):
        go_on()
        outcomes.append(carry_out(base, task, trust, go_on))
    return msgspec.json.encode(outcomes)


@lru_cache(SCENARIOS)
def _unpacked(shipment: bytes) -> tuple[Loaded, Trust]:
    sent = msgspec.json.decode(shipment, type=Shipment)
    if sent.version != __version__:
        raise RunError(
            f"a worker has headrace {__version__}, this is headrace {sent.version}: install the"
            " same version at both"
        )
    return load_base(sent.base), Trust(digests=sent.trusted)


def _cancellation() -> Callable[..., None]:
    """Return a function that raises Stopped if the batch of this thread is wanted no more.

    Dask does not interrupt a task that runs; its worker only notes that it was cancelled.
    """
    worker = get_worker()
    key = worker.get_current_task()

    def go_on(*_: object) -> None:
        task = worker.state.tasks.get(key)
        if task is None or task.state == "cancelled" or worker.status in ENDING:
            raise Stopped(key)

    return go_on
