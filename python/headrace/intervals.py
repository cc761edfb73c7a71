"""How far a mean of few values may be off."""

import math
import statistics
from collections.abc import Mapping, Sequence
from typing import Any

from headrace._core import student_quantile

CONFIDENCE = 0.95


def half_width(values: Sequence[float]) -> float | None:
    """Half the width of the 95 % confidence interval of the mean, by Student's t; none of fewer
    than two values."""
    if len(values) < 2:
        return None
    # Exactly 0 for equal values.
    error = statistics.stdev(map(float, values)) / math.sqrt(len(values))
    return student_quantile(0.5 + CONFIDENCE / 2, len(values) - 1) * error


def half_widths(values: Sequence[Any]) -> Any:
    """Of each figure in documents of one shape; none for figures that not all have."""
    first = values[0]
    if isinstance(first, Mapping):
        keys = [key for key in first if all(key in value for value in values)]
        return {key: half_widths([value[key] for value in values]) for key in keys}
    if any(value is None for value in values):
        return None
    return half_width(values)
