"""Search for the highest load that a system sustains."""

import math
from collections.abc import Callable

HIGHEST = 1e7
"""Operations a second: more than a processor makes calls."""
LOWEST = 0.01
"""Operations a second."""


def search(keeps_up: Callable[[float], bool], start: float, refinements: int) -> None:
    """Try loads: double the load while the system sustains it, then halve the unknown range
    `refinements` times.

    A first load that is too high is halved until one is sustained. The ratio is halved, because
    loads differ by factors.
    """
    good, bad = _bracket(keeps_up, start)
    if good is None or bad is None:
        return
    for _ in range(refinements):
        middle = _short(math.sqrt(good * bad))
        if not good < middle < bad:
            return
        if keeps_up(middle):
            good = middle
        else:
            bad = middle


def _bracket(keeps_up: Callable[[float], bool], start: float) -> tuple[float | None, float | None]:
    """Return the last sustained load and the first that was not, a factor of 2 apart."""
    load = start
    if keeps_up(load):
        while load * 2 <= HIGHEST:
            load *= 2
            if not keeps_up(load):
                return load / 2, load
        return load, None
    while load / 2 >= LOWEST:
        load /= 2
        if keeps_up(load):
            return load, load * 2
    return None, load


def _short(load: float) -> float:
    """Round to three digits, the precision of the search."""
    return float(f"{load:.3g}")
