"""Cost of reading cached pages, and of a page by buffer size (Nguyen 2011, section 4.5)."""

import itertools
import math
from dataclasses import dataclass
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from headrace.calibrate.case import WARM
from headrace.calibrate.estimators.estimator import Estimator, Known
from headrace.calibrate.probe import Probe, Times, calls

PAGE = 4096
KIB, MIB = 1024, 1024 * 1024
FILE = 64 * MIB
BLOCKS = tuple(4 * KIB << step for step in range(13))
"""4 KiB to 16 MiB. Single small sizes may be a fifth off any line: on a Zen processor 4 KiB took
0.80 us, 8 KiB 1.42 and 16 KiB 1.93. More sizes reduce their influence."""
READS = {
    block: Probe(f"cached reads of {block // KIB} KiB", calls(FILE // block, block, ["read"], WARM))
    for block in BLOCKS
}
LARGEST_SHARE = 0.99
FEWEST = 5
"""Sizes up to the first bend."""


@dataclass(frozen=True)
class Calls:
    """Times of calls by their size."""

    pages: NDArray[np.float64]
    """Pages that each call copies."""
    times: NDArray[np.float64]
    """Time of each call minus its known costs, in seconds."""
    whole: NDArray[np.float64]
    """Total time of each call, in seconds."""


Costs: TypeAlias = tuple[float, float, float]
"""Cost of a page in each of three segments, in seconds."""


def _levels(known: Known) -> list[float]:
    """Return the sizes of the L2 and L3 caches in pages; missing levels are left out."""
    names = [f"machine.copying.l{level}" for level in (2, 3)]
    return [known[name] / PAGE for name in names if name in known]


PAGES = np.array([block / PAGE for block in BLOCKS])


def _calls(times: Times, known: Known) -> Calls:
    whole = np.array([times[probe.name] for probe in READS.values()])
    return Calls(PAGES, np.maximum(whole - known["machine.cpu.system_call"], 0.0), whole)


def _bends(times: Times, known: Known) -> dict[str, float]:
    levels = _levels(known)
    first, second, _ = change_points(_calls(times, known), levels)
    shares = dict(zip(("l2_share", "l3_share"), (first, second), strict=True))
    return {
        f"machine.copying.{name}": shares[name] / level
        for name, level in zip(("l2_share", "l3_share"), levels, strict=False)
    }


def _solve(times: Times, known: Known) -> dict[str, float]:
    levels = _levels(known)
    shares = [
        known[f"machine.copying.{name}"] * level
        for name, level in zip(("l2_share", "l3_share"), levels, strict=False)
    ]
    first, second = [*shares, math.inf, math.inf][:2]
    _, (near, middle, far) = _pieces(_calls(times, known), first, second)
    values = {"machine.copying.page_in_l2": near}
    if levels:
        values["machine.copying.page_in_l3"] = middle
        values["machine.copying.page_in_memory"] = far
    return values


def copied(pages: float, known: Known) -> float:
    """Return the time to copy a number of pages, without the call, in seconds.

    Parameters
    ----------
    pages
        Number of pages.
    known
        Known parameters, by field.
    """

    def value(name: str, otherwise: float) -> float:
        return known.get(f"machine.copying.{name}", otherwise)

    near = value("page_in_l2", 0.0)
    middle = value("page_in_l3", near)
    far = value("page_in_memory", middle)
    first = value("l2", 0.0) * value("l2_share", 0.0) / PAGE or math.inf
    second = value("l3", 0.0) * value("l3_share", 0.0) / PAGE or first
    return (
        min(pages, first) * near
        + max(min(pages, second) - first, 0.0) * middle
        + max(pages - max(first, second), 0.0) * far
    )


def change_points(calls: Calls, caches: list[float]) -> tuple[float, float, Costs]:
    """Fit a piecewise linear function of three segments from the origin to the times of calls.

    Bends lie within the caches, and beyond the fifth size, because fewer points give unstable
    costs. Each pair of measured sizes is a candidate. The bends are the means of all candidates, in
    logarithms. The weight of a candidate is the likelihood of its errors, relative to whole calls
    (Hoeting et al. 1999, Bayesian model averaging, Statistical Science 14). The best candidate
    alone would jump between neighbouring sizes by chance.

    Parameters
    ----------
    calls
        Times by size.
    caches
        Sizes of the L2 and L3 caches, in pages.

    Returns
    -------
    tuple
        First and second bend in pages, and the costs.
    """
    pages = calls.pages
    smallest = pages[FEWEST - 1]
    candidates = [
        [share for share in pages if smallest <= share <= LARGEST_SHARE * cache] or [cache / 2]
        for cache in [*caches, *caches[-1:], 2 * smallest][:2]
    ]
    bends = np.array([pair for pair in itertools.product(*candidates) if pair[1] >= pair[0]])
    errors = np.array([_pieces(calls, first, second)[0] for first, second in bends])
    first, second = mean_bends(bends, errors, len(pages))
    return float(first), float(second), _pieces(calls, float(first), float(second))[1]


def mean_bends(
    bends: NDArray[np.float64], errors: NDArray[np.float64], sizes: int
) -> NDArray[np.float64]:
    """Return the likelihood-weighted means of candidate bends, in logarithms.

    Parameters
    ----------
    bends
        One row per candidate.
    errors
        Sum of squared errors of each candidate.
    sizes
        Number of measured sizes.
    """
    # All candidates have as many parameters, so the errors decide. Errors below a millionth of a
    # call are rounding.
    likely = np.maximum(errors, 1e-12) ** (-sizes / 2)
    means = np.average(np.log(bends), axis=0, weights=likely / likely.max())
    return np.asarray(np.exp(means), float)


def _pieces(calls: Calls, first: float, second: float) -> tuple[float, Costs]:
    """Fit the costs for given bends; return the sum of squared errors and the costs."""
    from scipy.optimize import nnls

    pages = calls.pages
    columns = np.stack(
        [
            np.minimum(pages, first),
            np.clip(pages - first, 0.0, second - first),
            np.maximum(pages - second, 0.0),
        ],
        axis=1,
    )
    weights = 1 / np.maximum(calls.whole, 1e-12)
    each, error = nnls(columns * weights[:, None], calls.times * weights)
    # An empty segment takes the cost of its neighbour.
    if second == first:
        each[1] = each[2]
    for piece in (1, 2):
        if not columns[:, piece].any() and second > first:
            each[piece] = each[piece - 1]
    return float(error) ** 2, (each[0], each[1], each[2])


ESTIMATOR = Estimator(
    tuple(READS.values()),
    _solve,
    "cached reads of 4 KiB to 16 MiB: piecewise linear least squares with three segments",
    {"l2_share": "", "l3_share": ""},
    _bends,
)
