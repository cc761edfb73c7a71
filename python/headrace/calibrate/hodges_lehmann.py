"""Robust mean of a few repetitions."""

import statistics
from collections.abc import Sequence
from itertools import combinations_with_replacement


def hodges_lehmann(measured: Sequence[float]) -> float:
    """Return the Hodges-Lehmann estimate: the median of the means of all pairs.

    Each value is also paired with itself (Hodges and Lehmann 1963, Annals of Mathematical
    Statistics 34). One outlier in four values is tolerated. If two speeds alternate, the estimate
    is their mean, whereas the median is one of them. For three values the median is returned,
    because an outlier would be in half of the means.
    """
    if len(measured) == 3:
        return statistics.median(measured)
    return statistics.median(
        (one + other) / 2 for one, other in combinations_with_replacement(measured, 2)
    )
