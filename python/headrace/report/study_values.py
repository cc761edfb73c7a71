"""The statistic that tables and figures show of a micro-benchmark's repeats: the same in both."""

from collections.abc import Mapping
from typing import Any, NamedTuple

Entry = Mapping[str, Any]


class Shown(NamedTuple):
    """A figure of a point, and the range around it."""

    value: float | None
    low: float | None
    high: float | None
    half_width: float | None
    """None if the range is from the least to the most."""


def has_intervals(document: Entry) -> bool:
    """Whether there are enough repeats for confidence intervals of their mean."""
    return any(it.get("half_width") is not None for it in document["summary"])


def statistic(document: Entry) -> str:
    """What is shown, in words; nothing of a single repeat."""
    repeats = document["wanted_repeats"]
    if has_intervals(document):
        return f"means of {repeats} repeats, ± half the width of their 95 % interval (t)"
    return f"medians of {repeats} repeats, from the least to the most" if repeats > 1 else ""


def shown(it: Entry) -> Shown:
    """The mean with its interval; of fewer repeats, of which mean and median are the same, the
    median with the least and the most."""
    half = it.get("half_width")
    if half is None:
        return Shown(it["median"], it["least"], it["most"], None)
    return Shown(it["mean"], it["mean"] - half, it["mean"] + half, half)
