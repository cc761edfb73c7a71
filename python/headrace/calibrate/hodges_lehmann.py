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


CONFIDENCE = 0.9
"""Confidence of intervals."""


def hodges_lehmann_interval(measured: Sequence[float]) -> tuple[float, float]:
    """Return the confidence interval of the Hodges-Lehmann estimate.

    Its ends are means of pairs. Wilcoxon's signed-rank distribution gives their places for 90 %
    (Hollander, Wolfe and Chicken 2014, Nonparametric Statistical Methods, section 3.3). With fewer
    than five values they are the least and the greatest value.
    """
    count = len(measured)
    means = sorted((one + other) / 2 for one, other in combinations_with_replacement(measured, 2))
    # Number of sign patterns by the sum of the positive ranks.
    patterns = [1]
    for rank in range(1, count + 1):
        patterns = [
            (patterns[total] if total < len(patterns) else 0)
            + (patterns[total - rank] if 0 <= total - rank < len(patterns) else 0)
            for total in range(len(patterns) + rank)
        ]
    outside, below = 0, 0.0
    for number in patterns:
        below += number / 2**count
        if below > (1 - CONFIDENCE) / 2:
            break
        outside += 1
    outside = max(outside - 1, 0)
    return means[outside], means[-1 - outside]
