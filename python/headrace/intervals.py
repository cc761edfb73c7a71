"""Means of few values, and how far they may be off."""

import math
import statistics
from collections.abc import Mapping, Sequence
from typing import Any

from headrace._core import student_quantile

CONFIDENCE = 0.95
FEWEST = 3
"""Fewest values for a confidence interval. For two values, it is thirteen times as wide as their
difference."""


def means(values: Sequence[Any], key: str = "") -> Any:
    """The mean of each figure, over the documents that have it."""
    values = [value for value in values if value is not None]
    if not values:
        return None
    first = values[0]
    if isinstance(first, dict):
        keys = dict.fromkeys(key for value in values for key in value)
        return {key: means([value.get(key) for value in values], key) for key in keys}
    if isinstance(first, int | float):
        if key == "max":
            return max(values)
        # A whole number stays one if all agree.
        return first if all(value == first for value in values) else math.fsum(values) / len(values)
    return first


def half_width(values: Sequence[float]) -> float | None:
    """Half the width of the 95 % confidence interval of the mean, by Student's t; none of fewer
    than two values."""
    if len(values) < 2:
        return None
    # Exactly 0 for equal values.
    error = statistics.stdev(map(float, values)) / math.sqrt(len(values))
    return student_quantile(0.5 + CONFIDENCE / 2, len(values) - 1) * error


def half_widths(values: Sequence[Any]) -> Any:
    """Return the half-width of each figure in documents of one shape; None for figures that some
    documents lack."""
    first = values[0]
    if isinstance(first, Mapping):
        keys = [key for key in first if all(key in value for value in values)]
        return {key: half_widths([value[key] for value in values]) for key in keys}
    if any(value is None for value in values):
        return None
    return half_width(values)
