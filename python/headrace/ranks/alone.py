"""A program without others, and what all ranks have in common."""

import platform
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple, TypeVar

T = TypeVar("T")


class Clock(NamedTuple):
    """How the monotonic clock of a rank differs from the first one's."""

    ahead_s: float
    uncertainty_s: float


class Alone:
    """The only rank."""

    rank = 0
    size = 1

    def __init__(self) -> None:
        self.host = platform.node()

    @property
    def first(self) -> bool:
        """Whether it is the rank that prints and saves."""
        return self.rank == 0

    def name(self) -> str:
        """What this rank is called in messages."""
        return f"rank {self.rank} on {self.host}"

    def gather(self, what: Any, *, early: bool = False) -> list[Any] | None:
        """What all ranks give, in their order, at the first one; None at the others. `early`
        has the others end what they are measuring."""
        return [what]

    def broadcast(self, what: Any) -> Any:
        """What the first rank gives."""
        return what

    def agreed(self, work: Callable[[], T]) -> T:
        """Works on all ranks. Raises at all of them what any of them raised."""
        return work()

    def begin(self, expected: Sequence[int]) -> None:
        """Before a measurement, in which so many ranks have processes of each workload."""

    def clocks(self) -> list[Clock]:
        """The ranks' clocks, at the first one, from the last `begin`."""
        return [Clock(0.0, 0.0)]

    def leave(self, status: int) -> int:
        """See `headrace.ranks.leave`."""
        return status
