"""Threads for runs side by side, which stop when their context is left."""

import threading
from collections.abc import Callable, Collection
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from types import TracebackType
from typing import Self, TypeVar

from headrace.interruption import LOOK_S

A = TypeVar("A")
T = TypeVar("T")


class Stopped(Exception):
    """The context of the threads was left before or during a run."""


class RunThreads:
    """Threads for runs: the kernel runs without Python's lock.

    Leaving the context stops the runs in progress and drops those that have not begun.
    """

    def __init__(self, count: int, name: str = "") -> None:
        self._pool = ThreadPoolExecutor(count, name)
        self._over = threading.Event()

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

    def go_on(self, *_: object) -> None:
        """Raise Stopped once the context was left; a progress callback of the kernel."""
        if self._over.is_set():
            raise Stopped

    def submit(self, run: Callable[[A], T], argument: A) -> Future[T]:
        """Let a thread execute a run, unless the context is left before."""

        def begin() -> T:
            self.go_on()
            return run(argument)

        return self._pool.submit(begin)


def completed(running: Collection[Future[T]]) -> set[Future[T]]:
    """Return the runs that have ended; none after a moment, so that Ctrl-C comes through."""
    return wait(running, LOOK_S, FIRST_COMPLETED).done
