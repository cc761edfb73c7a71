"""Number of hot spares for a wanted probability (Hindman 2011, section 6.2.3, left open there).

Each failed disk takes a spare, and a new disk takes the spare's place after the restocking time.
Failures come at a constant rate, so the spares that are missing at any moment are those of the
failures within one restocking time: a Poisson number, whatever the law of that time (Palm's
theorem). A failure finds a spare if fewer than all are missing.
"""

import math
from typing import Literal

import msgspec
from scipy.special import gammaincc

from headrace.design.quantities import YEAR

Pooling = Literal["global", "per-shelf"]
MOST_SPARES = 100_000
"""Spares of a pool above which no number is searched."""


class SpareRow(msgspec.Struct, frozen=True):
    """What a number of spares gives."""

    spares: int
    """Spares of a pool."""
    total: int
    """Spares of all pools."""
    probability: float
    """Probability that a failed disk finds a spare."""
    waits_a_year: float
    """Failed disks a year, of all pools, that wait for a new disk."""
    simulated: float | None = None
    """The same probability in a simulation."""
    standard_error: float | None = None


class SpareAdvice(msgspec.Struct, frozen=True, kw_only=True):
    """The fewest hot spares that meet a probability."""

    spares: int
    """Of all pools together."""
    per_pool: int
    pools: int
    pooling: Pooling
    probability: float
    """Probability that a failed disk finds a spare, with that many."""
    wanted: float
    failures_a_year: float
    missing: float
    """Mean number of spares of a pool that are on order."""
    rows: tuple[SpareRow, ...]
    assumptions: tuple[str, ...]


def found_probability(spares: int, missing: float) -> float:
    """Return the probability that a failed disk finds a spare.

    P(N < spares) with N Poisson of mean `missing`.

    Args:
        spares: Spares of the pool when none is missing.
        missing: Failures of the pool's disks in a restocking time, on average.
    """
    if spares == 0:
        return 0.0
    return float(gammaincc(spares, missing))


def fewest_spares(missing: float, wanted: float) -> int:
    """Return the fewest spares of a pool by which a failed disk finds one with a probability.

    Raises:
        ValueError: More than 100,000 would be needed.
    """
    low, high = 0, 1
    while found_probability(high, missing) < wanted:
        low, high = high, 2 * high
        if high > MOST_SPARES:
            raise ValueError(
                f"{missing:,.4g} disks of a pool fail within a restocking time: expected fewer"
                " disks, a shorter --restock or a longer --mttf"
            )
    while high - low > 1:
        middle = (low + high) // 2
        if found_probability(middle, missing) < wanted:
            low = middle
        else:
            high = middle
    return high


def advise(
    *,
    disks: int,
    mttf: float,
    restocking: float,
    wanted: float,
    pools: int = 1,
    pooling: Pooling = "global",
) -> SpareAdvice:
    """Return the fewest hot spares for a wanted probability.

    Args:
        disks: Disks of the system, spares not counted.
        mttf: Mean time to failure of a disk in seconds.
        restocking: Seconds from a failure until a new disk is a spare.
        wanted: Probability that a failed disk finds a spare.
        pools: Pools of spares, such as shelves; the disks are spread evenly, rounded up.
        pooling: Whether spares serve all disks or those of their shelf only.

    Raises:
        ValueError: More than 100,000 spares would be needed.
    """
    of_pool = math.ceil(disks / pools)
    missing = of_pool * restocking / mttf
    per_pool = fewest_spares(missing, wanted)
    failures = disks * YEAR / mttf
    rows = tuple(
        SpareRow(
            spares=spares,
            total=spares * pools,
            probability=(found := found_probability(spares, missing)),
            waits_a_year=failures * (1 - found),
        )
        for spares in range(per_pool + 3)
    )
    return SpareAdvice(
        spares=per_pool * pools,
        per_pool=per_pool,
        pools=pools,
        pooling=pooling,
        probability=rows[per_pool].probability,
        wanted=wanted,
        failures_a_year=failures,
        missing=missing,
        rows=rows,
        assumptions=(
            "Disks fail independently at a constant rate 1 / MTTF; spares do not fail (declared).",
            "Each failure orders one disk, which is a spare after the restocking time.",
            "Then a failed disk finds a spare with P(N < spares), N Poisson of mean disks x"
            " restocking / MTTF (Palm's theorem; Feeney and Sherbrooke 1966).",
            "A failed disk without a spare waits for the next one; arrays go on degraded.",
        ),
    )
