"""Significance of the difference between two sets of samples."""

import math
import statistics
from collections.abc import Callable, Sequence
from typing import NamedTuple

CONFIDENCE = 0.95
LARGEST_RATIO = 1e12
"""A ratio that may be larger has no bound."""
HALVINGS = 100


class Difference(NamedTuple):
    """Difference between the means of two sets of samples."""

    p: float
    """Probability of a difference this large if there is none: Welch's t test."""
    low: float
    """Lower bound of the confidence interval of the ratio of the means."""
    high: float | None
    """Upper bound; None if there is none, because the first mean may be 0."""


class _Mean(NamedTuple):
    value: float
    variance: float
    """Variance of the mean."""
    freedom: int


def difference(first: Sequence[float], other: Sequence[float]) -> Difference | None:
    """Return the difference of `other` from `first` by their means; None if neither varies, or if
    one has fewer than two samples.

    Welch's test (Biometrika 34, 1947, 28-35) does not take the variances for equal. The interval
    has the ratios that the same test does not reject, after Fieller (J. R. Stat. Soc. B 16,
    1954, 175-185): it has 1 if p is above 0.05, and leaves it out if p is below. The degrees
    of freedom change with the ratio. With few samples that vary much, ratios near 0 or large ones
    may therefore not be rejected though some between are. The interval then reaches to the end.
    """
    if min(len(first), len(other)) < 2:
        return None
    # Catalogues of earlier versions may have figures whose squares are no numbers.
    largest = max(map(abs, (*first, *other)))
    if largest > 0:
        first, other = [value / largest for value in first], [value / largest for value in other]
    one, two = _mean(first), _mean(other)
    if one.variance + two.variance == 0:
        return None
    statistic, freedom = _test(one, two, 1.0)

    # It takes a tenth of a second to import.
    from scipy.special import stdtr, stdtrit

    def accepted(ratio: float) -> bool:
        statistic, freedom = _test(one, two, ratio)
        return abs(statistic) <= float(stdtrit(freedom, 0.5 + CONFIDENCE / 2))

    p = 2 * float(stdtr(freedom, -abs(statistic)))
    estimate = two.value / one.value if one.value else LARGEST_RATIO
    if estimate >= LARGEST_RATIO:
        return Difference(p, 0.0, None)
    low = 0.0 if accepted(0.0) else _edge(accepted, estimate, 0.0)
    high = None if accepted(LARGEST_RATIO) else _edge(accepted, estimate, LARGEST_RATIO)
    return Difference(p, low, high)


def _mean(samples: Sequence[float]) -> _Mean:
    # Exactly 0 for equal values.
    variance = statistics.variance(samples)
    return _Mean(statistics.fmean(samples), variance / len(samples), len(samples) - 1)


def _test(one: _Mean, two: _Mean, ratio: float) -> tuple[float, float]:
    """Welch's t and its degrees of freedom, of the second mean being `ratio` times the first."""
    parts = (two.variance, ratio**2 * one.variance)
    apart = two.value - ratio * one.value
    variance = sum(parts)
    if variance == 0:
        return math.copysign(math.inf, apart) if apart else 0.0, 1.0
    # Shares first: squares of small variances would be 0.
    shares = [part / variance for part in parts]
    freedom = 1 / (shares[0] ** 2 / two.freedom + shares[1] ** 2 / one.freedom)
    return apart / math.sqrt(variance), freedom


def _edge(accepted: Callable[[float], bool], inside: float, outside: float) -> float:
    """Return the ratio at which acceptance ends."""
    for _ in range(HALVINGS):
        middle = (inside + outside) / 2
        if middle in (inside, outside):
            break
        inside, outside = (middle, outside) if accepted(middle) else (inside, middle)
    return inside
