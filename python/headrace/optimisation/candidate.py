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

    Examples:
        >>> scenario = hr.load("scenarios/striped-read.toml", {"workload.files": 10})
        >>> best = hr.optimise(scenario, {"clients.count": [8, 64]}, minimise="latency").best
        >>> best.point, best.is_compared, len(best.replications), best.is_exact
        ({'clients.count': 8}, True, 8, False)
        >>> f"{best.mean('latency'):.4f} s ± {best.half_width('latency'):.4f} s"
        '0.0344 s ± 0.0000 s'
        >>> len(best.sample("latency")), sorted(best.means(["latency", "throughput"]))
        (8, ['latency', 'throughput'])
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
        return any(number >= self.search_replications for number in self.by_replication)

    @property
    def replications(self) -> list[int]:
        """Replications that its figures come from."""
        from_comparison = self.is_compared
        return sorted(
            n for n in self.by_replication if (n >= self.search_replications) == from_comparison
        )

    @property
    def is_exact(self) -> bool:
        """True if no figure of any run depends on the seed."""
        runs = list(self.by_replication.values())
        return len(runs) > 1 and all(run == runs[0] for run in runs)

    def sample(self, name: str) -> list[float]:
        """Return a figure of each replication; empty if a run has no such figure."""
        values = [self.by_replication[replication].get(name) for replication in self.replications]
        present = [value for value in values if value is not None]
        return present if len(present) == len(values) else []

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
    means = {candidate: candidate.means(goals.figures) for candidate in candidates}
    violations = {candidate: goals.violation(means[candidate]) for candidate in candidates}
    left = [candidate for candidate in candidates if violations[candidate] == 0]
    scores = {candidate: goals.score(means[candidate]) for candidate in left}
    ranks = []
    if len(goals.objectives) == 1:
        left.sort(key=lambda each: scores[each], reverse=True)
        grouped = itertools.groupby(left, key=lambda each: scores[each])
        ranks, left = [list(group) for _, group in grouped], []
    while left:
        front = [
            one for one in left if not any(dominates(scores[other], scores[one]) for other in left)
        ]
        ranks.append(front)
        left = [each for each in left if each not in front]
    missed = [candidate for candidate in candidates if violations[candidate] > 0]
    return ranks + [[each] for each in sorted(missed, key=lambda one: violations[one])]


def dominates(one: Sequence[float], other: Sequence[float]) -> bool:
    """Return whether one score is nowhere lower than another, and higher somewhere."""
    return all(a >= b for a, b in zip(one, other, strict=True)) and tuple(one) != tuple(other)
