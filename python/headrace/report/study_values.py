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
    """Half-width of the confidence interval; None if the range is from minimum to maximum."""


def has_intervals(document: Entry) -> bool:
    """Return whether there are enough repetitions for confidence intervals of their mean."""
    return any(it.get("half_width") is not None for it in document["summary"])


def statistic(document: Entry) -> str:
    """Return the name of the displayed statistic; empty for a single repetition."""
    if has_intervals(document):
        return f"means of {_repeats(document)}, ± half the width of their 95 % interval (t)"
    if document["wanted_repeats"] == 1:
        return ""
    return f"medians of {_repeats(document)}, from the least to the most"


def _repeats(document: Entry) -> str:
    """Return the number of repetitions, and the wanted number if it differs."""
    wanted = document["wanted_repeats"]
    done = [it["repeats"] for it in document["summary"]]
    least, most = min(done, default=0), max(done, default=0)
    if least == wanted:
        return f"{wanted} repeats"
    many = f"{most}" if least == most else f"{least} to {most}"
    return f"{many} of {wanted} repeats"


def shown(it: Entry) -> Shown:
    """The mean with its interval; of fewer repeats, of which mean and median are the same, the
    median with the least and the most."""
    half = it.get("half_width")
    if half is None:
        return Shown(it["median"], it["least"], it["most"], None)
    return Shown(it["mean"], it["mean"] - half, it["mean"] + half, half)
