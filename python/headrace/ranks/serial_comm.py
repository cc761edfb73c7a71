"""Communicator of a program without other ranks, and the interface of all communicators."""

import platform
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple, TypeVar

if TYPE_CHECKING:
    from mpi4py import MPI

T = TypeVar("T")


class Clock(NamedTuple):
    """Offset of a rank's monotonic clock to that of the first rank."""

    ahead_s: float
    uncertainty_s: float


class SerialComm:
    """The only rank."""

    rank = 0
    """Number among the ranks that take part."""
    size = 1
    """Number of ranks that take part: all, except within `on_hosts`."""
    number = 0
    """Number among all ranks that were started."""
    total = 1
    """Number of ranks that were started."""

    def __init__(self) -> None:
        self.host = platform.node()

    @property
    def first(self) -> bool:
        """True on the rank that prints and saves."""
        return self.rank == 0

    def name(self) -> str:
        """Return the name of this rank in messages."""
        return f"rank {self.number} on {self.host}"

    def gather(self, value: Any, *, early: bool = False) -> list[Any] | None:
        """Return the values of all ranks, in their order, on the first rank; None on the others.
        `early` stops the measurements of the others."""
        return [value]

    def broadcast(self, value: Any) -> Any:
        """Return the first rank's value on all ranks."""
        return value

    def run_on_all(self, work: Callable[[], T]) -> T:
        """Run work on all ranks. If it raises on any rank, all ranks raise."""
        return work()

    def hosts(self) -> dict[str, list[int]]:
        """The numbers of each host's ranks, by its name, in the order in which the ranks name
        them."""
        return {self.host: [0]}

    def on_hosts(self, count: int, work: Callable[[], T]) -> T:
        """Run work on the ranks of the first `count` hosts. The others are idle, and return or
        raise as the first rank does."""
        return work()

    def duplicate(self) -> "MPI.Intracomm":
        """Return a communicator of MPI of all ranks, for messages of the caller's own."""
        raise ValueError("there is one rank, without MPI")

    def take_interrupt(self) -> bool:
        """Return whether this rank was interrupted since the last call."""
        return False

    def begin(self, expected: Sequence[int]) -> None:
        """Prepare a measurement; `expected` is the number of ranks with processes of each
        workload."""

    def clocks(self) -> list[Clock]:
        """The ranks' clocks, at the first one, from the last `begin`."""
        return [Clock(0.0, 0.0)]

    def leave(self, status: int) -> int:
        """See `headrace.ranks.leave`."""
        return status
