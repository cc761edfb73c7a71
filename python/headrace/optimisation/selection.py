"""Ranking and selection: more replications for the leaders, before one is named the best.

All leaders run with the same seeds (common random numbers), and are compared seed by seed. After
each round, leaders that are worse with confidence leave. Half of the rest go on to twice as many
replications (successive halving).

Each comparison has a confidence that makes 95 % of all of them together (Bonferroni). So with 95 %
confidence the best leader is the answer, or is one that cannot be distinguished from it. This
supposes that means of replications are about normal. The rule for one objective is that of
screening procedures (Nelson, Swann, Goldsman and Song 2001).
"""

import itertools
import math
import statistics
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import TypeAlias

from headrace._core import student_quantile
from headrace.intervals import CONFIDENCE, FEWEST
from headrace.optimisation.candidate import Candidate, rank
from headrace.optimisation.goals import COST, Constraint, Goals, Objective

Replicate: TypeAlias = Callable[[Sequence[tuple[Candidate, int]]], object]
"""Runs candidates, each with a replication, and notes figures or an error in them."""
BEGIN = 2
"""Replications of the first round. They show whether there is chance in the scenario."""
FEWEST_EQUAL = 8
"""Differences that are equal without chance in sight, from which they count as exact."""


@dataclass
class Selected:
    """The answer of a selection."""

    best: list[Candidate]
    """The answer; several objectives have a front of them. Empty if none meets the constraints."""
    equals: list[Candidate]
    """Leaders that cannot be distinguished from the answer."""
    beaten: list[Candidate]
    """Leaders that are worse, or miss a constraint, with confidence."""
    comparisons: "Comparisons | None" = None
    """The comparisons that this follows from."""


@dataclass
class Comparisons:
    """Comparisons of leaders whose joint confidence is 95 %."""

    goals: Goals
    tests: int
    """Number of comparisons."""
    _quantiles: dict[int, float] = field(default_factory=dict)

    def beats(self, one: Candidate, other: Candidate) -> bool:
        """Return whether one is better with confidence: nowhere worse, and somewhere better."""
        if not all(self.is_met(one, constraint) for constraint in self.goals.constraints):
            return False
        least = [self._least_difference(one, other, goal) for goal in self.goals.objectives]
        return all(value >= 0 for value in least) and any(value > 0 for value in least)

    def is_met(self, candidate: Candidate, constraint: Constraint) -> bool:
        """Return whether a constraint is met with confidence."""
        mean, width = self._interval(candidate, constraint.figure)
        return constraint.violation(mean + constraint.sign * width) <= 0

    def is_missed(self, candidate: Candidate, constraint: Constraint) -> bool:
        """Return whether a constraint is missed with confidence."""
        mean, width = self._interval(candidate, constraint.figure)
        return constraint.violation(mean - constraint.sign * width) > 0

    def is_close(self, one: Candidate, other: Candidate, part: float) -> bool:
        """Return whether all objectives differ by less than a part, with confidence."""
        for objective in self.goals.objectives:
            mean = abs(one.mean(objective.figure) or 0.0)
            low = self._least_difference(one, other, objective)
            high = -self._least_difference(other, one, objective)
            if max(-low, high) > part * mean:
                return False
        return True

    def difference(self, one: Candidate, other: Candidate) -> tuple[float, float] | None:
        """Return how much better one is in the first objective, and half the width of the interval.

        The interval is one of those that hold together. None without common replications.
        """
        objective = self.goals.objectives[0]
        differences = paired_differences(one, other, objective.figure)
        if not differences:
            return None
        is_exact = objective.figure == COST or (one.is_exact and other.is_exact)
        mean = objective.sign * statistics.fmean(differences)
        return mean, self._width(differences, is_exact)

    def is_precise(self, candidate: Candidate, part: float) -> bool:
        """Return whether the bounds of all objectives are within a part of their means."""
        for objective in self.goals.objectives:
            mean, width = self._interval(candidate, objective.figure)
            if width > part * abs(mean):
                return False
        return True

    def _least_difference(self, one: Candidate, other: Candidate, objective: Objective) -> float:
        """Return the lower confidence bound of how much better one is."""
        differences = [
            objective.sign * difference
            for difference in paired_differences(one, other, objective.figure)
        ]
        is_exact = objective.figure == COST or (one.is_exact and other.is_exact)
        return statistics.fmean(differences) - self._width(differences, is_exact)

    def _interval(self, candidate: Candidate, name: str) -> tuple[float, float]:
        sample = candidate.sample(name)
        return statistics.fmean(sample), self._width(sample, name == COST or candidate.is_exact)

    def _width(self, sample: Sequence[float], is_exact: bool) -> float:
        """Return the distance of a one-sided confidence bound from the mean."""
        if is_exact:
            return 0.0
        if len(sample) < 2:
            return math.inf
        error = statistics.stdev(sample) / math.sqrt(len(sample))
        if error == 0 and len(sample) < FEWEST_EQUAL:
            return math.inf
        freedom = len(sample) - 1
        if freedom not in self._quantiles:
            self._quantiles[freedom] = student_quantile(1 - (1 - CONFIDENCE) / self.tests, freedom)
        return self._quantiles[freedom] * error


def paired_differences(one: Candidate, other: Candidate, name: str) -> list[float]:
    """Return the differences of a figure, seed by seed."""
    common = sorted(set(one.replications) & set(other.replications))
    return [_value(one, name, number) - _value(other, name, number) for number in common]


def schedule(most: int) -> list[int]:
    """Return the replications of each leader after each round."""
    counts = [BEGIN]
    while counts[-1] < most:
        counts.append(min(2 * counts[-1], most))
    return counts


def select(
    goals: Goals,
    leaders: Sequence[Candidate],
    replicate: Replicate,
    *,
    most: int,
    indifference: float,
    is_over: Callable[[], bool] = lambda: False,
) -> Selected:
    """Compare leaders with new replications.

    Args:
        goals: Objectives and constraints.
        leaders: Candidates to compare.
        replicate: Runs them.
        most: Most new replications of a leader.
        indifference: Part of a mean by which a difference does not matter. The comparison ends when
            all that are left are that close. With several objectives, it ends when their means are
            known that well.
        is_over: Whether the time is over; the first round is completed nevertheless.
    """
    rounds = schedule(most)
    pairs = max(len(leaders) - 1, 1) + len(leaders) * len(goals.constraints)
    comparisons = Comparisons(goals, pairs * (len(rounds) + 2))
    going, aside, beaten = list(leaders), list[Candidate](), list[Candidate]()
    before, first = 0, leaders[0].search_replications
    for count in rounds:
        if before and is_over():
            break
        more = [
            one for one in going if not before or not _is_known_well(one, comparisons, indifference)
        ]
        replicate([(each, first + number) for each in more for number in range(before, count)])
        before = count
        going = [candidate for candidate in going if not candidate.error]
        lost = _beaten(going, going, comparisons)
        beaten += lost
        going = [candidate for candidate in going if candidate not in lost]
        is_enough = count >= FEWEST or all(candidate.is_exact for candidate in going)
        if is_enough and _is_settled(going, comparisons, indifference):
            break
        if count > BEGIN and count < most:
            going, dropped = _halves(going, goals)
            aside += dropped
    best = _best(going, goals) or _best(aside, goals)
    left = [candidate for candidate in (*going, *aside) if candidate not in best]
    lost = _beaten(left, best, comparisons)
    left = [candidate for candidate in left if candidate not in lost]
    if best and not is_over():
        # Those that were set aside early had few replications.
        last = min(before, FEWEST_EQUAL)
        replicate([(candidate, first + number) for candidate in left for number in range(last)])
        left = [candidate for candidate in left if not candidate.error]
        lost += _beaten(left, best, comparisons)
    equals = [candidate for candidate in left if candidate not in lost]
    return Selected(best, equals, beaten + lost, comparisons)


def _beaten(
    those: Sequence[Candidate], by: Sequence[Candidate], comparisons: Comparisons
) -> list[Candidate]:
    return [
        candidate
        for candidate in those
        if any(comparisons.is_missed(candidate, limit) for limit in comparisons.goals.constraints)
        or any(other is not candidate and comparisons.beats(other, candidate) for other in by)
    ]


def _is_settled(going: Sequence[Candidate], comparisons: Comparisons, indifference: float) -> bool:
    """Return whether more replications would tell nothing that matters."""
    if all(candidate.is_exact for candidate in going):
        return True
    limits = comparisons.goals.constraints
    if not all(comparisons.is_met(candidate, limit) for candidate in going for limit in limits):
        return False
    if len(comparisons.goals.objectives) > 1:
        return all(comparisons.is_precise(candidate, indifference) for candidate in going)
    return all(
        comparisons.is_close(one, other, indifference)
        for one, other in itertools.combinations(going, 2)
    )


def _is_known_well(candidate: Candidate, comparisons: Comparisons, part: float) -> bool:
    """Return whether a point of a front needs no more replications. One objective needs the same
    number of all, as differences are taken seed by seed."""
    return len(comparisons.goals.objectives) > 1 and (
        comparisons.is_precise(candidate, part)
        and all(comparisons.is_met(candidate, limit) for limit in comparisons.goals.constraints)
    )


def _halves(going: Sequence[Candidate], goals: Goals) -> tuple[list[Candidate], list[Candidate]]:
    """Return the better half with the whole of the first rank, and the others. Two stay: the
    comparison of the first with the second matters most."""
    ranks = rank(going, goals)
    ordered = list(itertools.chain.from_iterable(ranks))
    keep = max(math.ceil(len(going) / 2), len(ranks[0]) if ranks else 0, 2)
    return ordered[:keep], ordered[keep:]


def _best(going: Sequence[Candidate], goals: Goals) -> list[Candidate]:
    feasible = [each for each in going if goals.violation(each.means(goals.figures)) == 0]
    ranks = rank(feasible, goals)
    if not ranks:
        return []
    if len(goals.objectives) > 1:
        return ranks[0]
    # Of equal means, the one that is farthest from the limits.
    return [min(ranks[0], key=lambda each: goals.largest_violation(each.means(goals.figures)))]


def _value(candidate: Candidate, name: str, replication: int) -> float:
    value = candidate.by_replication[replication][name]
    assert value is not None
    return value
