"""Two costs that several times have in common."""

from collections.abc import Sequence

import numpy as np
from numpy.typing import ArrayLike


def two_costs(
    first: ArrayLike, second: ArrayLike, times: ArrayLike, whole: Sequence[float]
) -> tuple[float, float]:
    """What one of the first and one of the second costs, none of them less than nothing, if so
    many of them take so long: the squares of the errors are least, relative to whole calls."""
    from scipy.optimize import nnls

    weights = 1 / np.maximum(whole, 1e-12)
    columns = np.stack([np.asarray(first), np.asarray(second)], axis=1)
    each, _ = nnls(columns * weights[:, None], np.asarray(times) * weights)
    return float(each[0]), float(each[1])
