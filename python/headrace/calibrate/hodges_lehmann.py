"""What several measurements say together."""

import statistics
from collections.abc import Sequence
from itertools import combinations_with_replacement


def hodges_lehmann(measured: Sequence[float]) -> float:
    """What measurements are in the mean, of which one in four may have been disturbed: the median
    of the means of any two, or of one with itself (Hodges and Lehmann 1963, Annals of Mathematical
    Statistics 34). Of two speeds that are seen as often it is the mean, where the median is one of
    them; where errors are normal it varies hardly more than the mean, and the median a quarter
    more. Of three the median counts, since one that was disturbed would be in half of the means."""
    if len(measured) == 3:
        return statistics.median(measured)
    return statistics.median(
        (one + other) / 2 for one, other in combinations_with_replacement(measured, 2)
    )
