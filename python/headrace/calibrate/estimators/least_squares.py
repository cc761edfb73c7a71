"""Costs from several times by non-negative least squares."""

from collections.abc import Sequence

import numpy as np
from numpy.typing import ArrayLike, NDArray

from headrace._core import RunError


def costs(
    counts: Sequence[ArrayLike], times: ArrayLike, whole: Sequence[float]
) -> NDArray[np.float64]:
    """Return non-negative unit costs with the least squared errors relative to whole calls.

    Parameters
    ----------
    counts
        For each kind, the number of its units in each time.
    times
        Times without known costs, in seconds.
    whole
        Total times, by which errors are weighted, in seconds.

    Raises
    ------
    RunError
        If the solver does not converge.
    """
    from scipy.optimize import nnls

    weights = 1 / np.maximum(whole, 1e-12)
    columns = np.stack([np.asarray(kind, float) for kind in counts], axis=1)
    try:
        each, _ = nnls(columns * weights[:, None], np.asarray(times) * weights)
    except RuntimeError as error:
        raise RunError(
            f"the measured times yield no costs ({error}): repeat when the machine is less busy"
        ) from None
    return np.asarray(each, float)
