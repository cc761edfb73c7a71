"""Points that no other surpasses in everything."""

from collections.abc import Sequence

import numpy as np


def front(points: Sequence[Sequence[float]]) -> list[int]:
    """Return the points of which no other is as small in every coordinate and smaller in one.

    Args:
        points: Points with equally many coordinates, all to be small.

    Returns:
        Indices of the points, in their order. Only the first of equal points is there.
    """
    if not points:
        return []
    table = np.asarray(points, dtype=float)
    # Sorted by all coordinates, a point is surpassed by earlier ones only.
    order = np.lexsort((np.arange(len(table)), *table.T[::-1]))
    kept = np.empty_like(table)
    best: list[int] = []
    for index in order:
        point = table[index]
        if not np.any(np.all(kept[: len(best)] <= point, axis=1)):
            kept[len(best)] = point
            best.append(int(index))
    return sorted(best)
