"""Knee of a curve of load and response time."""

from collections.abc import Sequence

import numpy as np


def knee(loads: Sequence[float], responses: Sequence[float]) -> int | None:
    """Return the index of the knee among points in order of load; None with fewer than three.

    The knee is the point farthest from the straight line between the first and the last point, both
    axes scaled to 1: Satopaa et al. 2011, "Finding a Kneedle in a Haystack", section III. Its
    smoothing is left out, for which a load sweep has too few points. No slope or threshold must be
    chosen. The highest sustained load, which needs them, is reported separately.
    """
    if len(loads) < 3:
        return None
    x, y = _scaled(loads), _scaled(responses)
    below = x - y
    place = int(np.argmax(below))
    # A line, or a curve that bends the other way, has no knee.
    return place if 0 < place < len(loads) - 1 and below[place] > 1e-9 else None


def _scaled(values: Sequence[float]) -> np.ndarray:
    array = np.asarray(values, dtype=float)
    span = np.ptp(array)
    return (array - array.min()) / span if span > 0 else np.zeros_like(array)
