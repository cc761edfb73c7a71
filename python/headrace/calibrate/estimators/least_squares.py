"""Costs that several times have in common."""

from collections.abc import Sequence

import numpy as np
from numpy.typing import ArrayLike, NDArray

from headrace._core import RunError


def costs(
    counts: Sequence[ArrayLike], times: ArrayLike, whole: Sequence[float]
) -> NDArray[np.float64]:
    """What one of each kind costs, none less than nothing, if so many of each kind take so long:
    the squares of the errors are least, relative to whole calls. `counts` has the kinds, each
    with how many of it the times have.

    Raises RunError if nothing follows from them."""
    from scipy.optimize import nnls

    weights = 1 / np.maximum(whole, 1e-12)
    columns = np.stack([np.asarray(kind, float) for kind in counts], axis=1)
    try:
        each, _ = nnls(columns * weights[:, None], np.asarray(times) * weights)
    except RuntimeError as error:
        raise RunError(
            f"no costs follow from such times ({error}): repeat this when the machine is less busy"
        ) from None
    return np.asarray(each, float)
