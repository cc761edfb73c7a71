"""Number of hot spares for a wanted probability (Hindman 2011, section 6.2.3, left open there).

Each failed disk takes a spare, and a new disk takes the spare's place after the restocking time.
The spares that are missing at any moment are those of the failures within one restocking time. At
a constant failure rate this is a Poisson number, whatever the law of that time (Palm's theorem). A
failure finds a spare if fewer than all are missing.
"""

import math
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, Literal

import msgspec

from headrace.design.reliability.laws import found_probability
from headrace.design.reliability.question import Exponential, Weibull
from headrace.quantities import YEAR

if TYPE_CHECKING:
    import numpy as np

Pooling = Literal["global", "per-shelf"]
MOST_SPARES = 100_000
"""Spares of a pool above which no number is searched."""
ROWS_BELOW = 12
"""Numbers of spares below the chosen one that the table has, besides 0."""
MOST_RUNS = 20_000
"""Pools that are simulated at most."""


class SpareRow(msgspec.Struct, frozen=True):
    """Effect of a number of spares."""

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


def fewest_spares(missing: float, target: float) -> int:
    """Return the fewest spares of a pool by which a failed disk finds one with a probability.

    Raises:
        ValueError: More than 100,000 would be needed.
    """
    low, high = 0, 1
    while found_probability(high, missing) < target:
        low, high = high, 2 * high
        if high > MOST_SPARES:
            raise ValueError(
                f"{missing:,.4g} disks of a pool fail within a restocking time: expected fewer"
                " disks, a shorter --restock or a longer --mttf"
            )
    while high - low > 1:
        middle = (low + high) // 2
        if found_probability(middle, missing) < target:
            low = middle
        else:
            high = middle
    return high


def advise(
    *,
    disks: int,
    mttf: float,
    restocking: float,
    target: float,
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
    per_pool = fewest_spares(missing, target)
    failures = disks * YEAR / mttf
    rows = tuple(
        SpareRow(
            spares=spares,
            total=spares * pools,
            probability=(chance := found_probability(spares, missing)),
            waits_a_year=failures * (1 - chance),
        )
        for spares in sorted({0, *range(max(0, per_pool - ROWS_BELOW), per_pool + 3)})
    )
    return SpareAdvice(
        spares=per_pool * pools,
        per_pool=per_pool,
        pools=pools,
        pooling=pooling,
        probability=found_probability(per_pool, missing),
        wanted=target,
        failures_a_year=failures,
        missing=missing,
        rows=rows,
        assumptions=(
            "Disks fail independently at a constant rate 1 / MTTF; spares do not fail (declared).",
            "Each failure orders one disk, which is a spare after the restocking time.",
            "Then a failed disk finds a spare with P(N < spares), N Poisson of mean disks x"
            " restocking / MTTF (Palm's theorem; Feeney and Sherbrooke 1966).",
            "A failed disk without a spare waits for the next one; arrays go on degraded.",
            "With a lifetime law the formula takes the mean rate over a life. The simulation"
            " follows the law: disks that age together fail together, and need more spares.",
        ),
    )


def simulate(
    advice: SpareAdvice,
    *,
    disks: int,
    lifetime: Exponential | Weibull,
    restocking: float,
    years: float,
    missions: int,
    seed: int,
    on_progress: Callable[[float], None] | None = None,
) -> SpareAdvice:
    """Return the advice with the probabilities of a simulation beside the formula's.

    Each disk is replaced when it fails and lives on by its law. With `s` spares and a constant
    restocking time a failure finds a spare if the `s`-th failure before it was longer ago.

    Args:
        advice: What `advise` gave.
        disks: Disks of the system.
        lifetime: Law of a disk's lifetime.
        restocking: Seconds.
        years: Length of a mission after a first restocking time; its disks are new at first.
        missions: Missions; each pool has one of its own.
        seed: Seed of the random numbers.
        on_progress: Called with the part that is done.
    """
    # It takes long to import, for commands that only show their help.
    import numpy as np

    random = np.random.default_rng(seed)
    of_pool, end = math.ceil(disks / advice.pools), restocking + years * YEAR
    runs = min(missions * advice.pools, MOST_RUNS)
    waits = np.zeros((runs, len(advice.rows)))
    failures = np.zeros(runs)
    for run in range(runs):
        if on_progress is not None:
            on_progress(run / runs)
        times = _failure_times(random, of_pool, lifetime, end)
        # By then the spares on order are those of a whole restocking time.
        first = int(np.searchsorted(times, restocking))
        failures[run] = len(times) - first
        for number, row in enumerate(advice.rows):
            begin = max(first, row.spares)
            if begin >= len(times):
                # Fewer failures than spares: all find one.
                continue
            since = times[begin:] - times[begin - row.spares : len(times) - row.spares]
            waits[run, number] = np.count_nonzero(since <= restocking)
    total = float(failures.sum())
    if total == 0:
        return advice
    shares = waits.sum(axis=0) / total
    # Of a ratio of sums over independent missions; if none waited, about what one would give.
    residuals = waits - shares * failures[:, None]
    errors = np.maximum(np.sqrt((residuals**2).sum(axis=0)), shares == 0) / total
    rows = tuple(
        msgspec.structs.replace(row, simulated=1 - float(share), standard_error=float(error))
        for row, share, error in zip(advice.rows, shares, errors, strict=True)
    )
    return msgspec.structs.replace(advice, rows=rows)


def _failure_times(
    random: "np.random.Generator", disks: int, lifetime: Exponential | Weibull, end: float
) -> "np.ndarray[Any, np.dtype[np.float64]]":
    """Return the times of all failures of a pool's disks before the end, ascending."""
    import numpy as np

    rows = []
    now = np.zeros(disks)
    while len(now):
        if isinstance(lifetime, Exponential):
            lives = random.exponential(lifetime.mean, len(now))
        else:
            lives = lifetime.location + lifetime.scale * random.weibull(lifetime.shape, len(now))
        now = now + lives
        now = now[now < end]
        rows.append(now)
    return np.sort(np.concatenate(rows))
