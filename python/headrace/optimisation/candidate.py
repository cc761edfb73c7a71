"""Points that a search has tried."""

import itertools
import statistics
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from headrace.intervals import half_width
from headrace.optimisation.goals import Goals
from headrace.sweeps.designs import Point


@dataclass(eq=False)
class Candidate:
    """A point with the figures of its replications.

    Search replications choose the leaders. Later replications have other seeds, and compare the
    leaders: an estimate from the runs that chose them would be too good.
    """

    number: int
    """First trial that proposed the point, from 0."""
    point: Point
    search_replications: int
    by_replication: dict[int, Mapping[str, float | None]] = field(default_factory=dict)
    """Figures by name, and the cost; by replication."""
    error: str = ""

    @property
    def is_compared(self) -> bool:
        """True if it has replications beyond those of the search."""
        return any(it >= self.search_replications for it in self.by_replication)

    @property
    def replications(self) -> list[int]:
        """Replications that its figures come from."""
        from_comparison = self.is_compared
        return sorted(
            it for it in self.by_replication if (it >= self.search_replications) == from_comparison
        )

    @property
    def is_exact(self) -> bool:
        """True if no figure of any run depends on the seed."""
        runs = list(self.by_replication.values())
        return len(runs) > 1 and all(run == runs[0] for run in runs)

    def sample(self, name: str) -> list[float]:
        """Return a figure of each replication; empty if a run has no such figure."""
        found = [self.by_replication[it].get(name) for it in self.replications]
        present = [value for value in found if value is not None]
        return present if len(present) == len(found) else []

    def mean(self, name: str) -> float | None:
        """Return the mean of a figure."""
        sample = self.sample(name)
        return statistics.fmean(sample) if sample else None

    def half_width(self, name: str) -> float | None:
        """Return half the width of the 95 % confidence interval of a mean."""
        return half_width(self.sample(name))

    def means(self, names: Sequence[str]) -> dict[str, float]:
        """Return the means of figures that the candidate is known to have."""
        return {name: statistics.fmean(self.sample(name)) for name in names}


def rank(candidates: Sequence[Candidate], goals: Goals) -> list[list[Candidate]]:
    """Sort candidates into ranks by their means, the best rank first.

    Candidates that meet all constraints come first. A rank of one objective is a value. A rank of
    several is a front: no point of it betters another in all objectives (Deb et al. 2002). The
    others follow, each a rank, the least violation first.
    """
    means = {it: it.means(goals.figures) for it in candidates}
    violations = {it: goals.violation(means[it]) for it in candidates}
    left = [it for it in candidates if violations[it] == 0]
    scores = {it: goals.score(means[it]) for it in left}
    ranks = []
    if len(goals.objectives) == 1:
        left.sort(key=lambda it: scores[it], reverse=True)
        grouped = itertools.groupby(left, key=lambda it: scores[it])
        ranks, left = [list(group) for _, group in grouped], []
    while left:
        front = [
            it for it in left if not any(dominates(scores[other], scores[it]) for other in left)
        ]
        ranks.append(front)
        left = [it for it in left if it not in front]
    missed = [it for it in candidates if violations[it] > 0]
    return ranks + [[it] for it in sorted(missed, key=lambda it: violations[it])]


def dominates(one: Sequence[float], other: Sequence[float]) -> bool:
    """Return whether one score is nowhere lower than another, and higher somewhere."""
    return all(a >= b for a, b in zip(one, other, strict=True)) and tuple(one) != tuple(other)
