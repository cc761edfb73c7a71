"""The order of simulations, and when there are enough."""

from collections.abc import Sequence
from typing import TypeVar

from headrace.design.search.candidates import Candidate

T = TypeVar("T")

BATCH = 4
"""Designs that are simulated side by side before the next ones are chosen."""
MOST_COARSE = 64
"""Designs that are simulated coarsely, at most."""
MOST_FULL = 6
"""Designs that are simulated in full, at most."""
CHEAPEST = 3
"""Cheapest designs that meet everything in a coarse simulation, before others are simulated."""
SPREAD = 12
"""Designs that are simulated for the front, spread over the costs."""
DOUBT = 0.8
"""Part of what an estimate must reach for a simulation (declared: coarse runs differ by less)."""
EXPECTED = 0.7
"""Part of its bound that a kind of design is expected to reach before one of it is simulated
(declared)."""
SCOUTS = 4
"""Designs that are simulated first, spread over the costs, to learn what the bounds are worth."""


class Efficiency:
    """Part of the bounds that simulations reach, by file system and class of disks.

    A design is passed over if the best so far of its kind says that it misses the demand.
    """

    def __init__(self) -> None:
        self._best: dict[tuple[str, str], float] = {}

    def note(self, candidate: Candidate, satisfaction: float) -> None:
        """Record a simulation: the least part of a requirement that any application got."""
        key = self._key(candidate)
        reached = satisfaction / candidate.headroom
        self._best[key] = max(self._best.get(key, 0.0), reached)

    def allows(self, candidate: Candidate) -> bool:
        """Return whether a candidate may meet the demand."""
        best = self._best.get(self._key(candidate), EXPECTED)
        return best * candidate.headroom >= DOUBT

    @staticmethod
    def _key(candidate: Candidate) -> tuple[str, str]:
        return candidate.design.file_system, candidate.design.disk.disk_class


def spread(candidates: Sequence[T], count: int) -> list[T]:
    """Return some of the candidates, evenly over their order, first and last among them."""
    if len(candidates) <= count:
        return list(candidates)
    if count <= 1:
        return list(candidates[:count])
    last = len(candidates) - 1
    return [candidates[round(index * last / (count - 1))] for index in range(count)]
