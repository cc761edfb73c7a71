"""Finding the mix of file operations whose protocol mix is nearest to a wanted one.

Operation i alone causes n_i protocol operations, of which the share P[i, j] is of kind j. In
a mix with shares x, protocol operation j then has the share sum_i y_i P[i, j]. Here y_i is
proportional to x_i n_i: the part of the protocol's load that operation i makes. Wang 2002,
equation 3.2, takes y for x, which holds where all n_i are alike; here x is computed back.
"""

from dataclasses import dataclass
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

Vector: TypeAlias = NDArray[np.float64]
Matrix: TypeAlias = NDArray[np.float64]

WEIGHT_OF_SUM = 1e4
"""Weight of the sum of shares against a single share in the least-squares fit; the sum is then 1 to
about 1e-8."""
STEP, FINEST = 0.01, 0.0005
"""First and smallest step of the pairwise search, as shares."""
THRESHOLD = 0.001
"""Distance of a mix that is near enough for it."""


@dataclass(frozen=True)
class Tuned:
    """A mix that was found."""

    shares: Vector
    """Shares of file operations, by the rows of the profile; their sum is 1."""
    protocol: Vector
    """The protocol mix that it causes, if the system is linear."""
    distance: float
    """Euclidean, between that and the wanted one: Wang 2002, equation 3.6."""
    steps: int
    """Number of mixes tried; 0 if the mix was computed."""


def mix_of(shares: Vector, counts: Matrix) -> Vector:
    """The protocol mix of a mix of file operations: counts[i, j] protocol operations j for each
    file operation i."""
    caused = shares @ counts
    total = float(caused.sum())
    return caused / total if total > 0 else caused


def nearest(counts: Matrix, vector: Vector) -> Tuned:
    """The nearest mix, by non-negative least squares on the simplex (Lawson and Hanson 1974).

    Raises ValueError if no operation causes any protocol operation.
    """
    # Takes long to import, and the mixes of this module are shown without it.
    from scipy.optimize import nnls

    used, shares_of, per_operation = _shares(counts)
    system = np.vstack([shares_of.T, np.full(used.sum(), WEIGHT_OF_SUM)])
    load, _ = nnls(system, np.append(vector, WEIGHT_OF_SUM))
    return _tuned(load / load.sum(), used, per_operation, counts, vector, 0)


def pairwise(
    counts: Matrix,
    target: Vector,
    *,
    step: float = STEP,
    finest: float = FINEST,
    threshold: float = THRESHOLD,
) -> Tuned:
    """Search for a mix pair by pair, as in the thesis.

    A step of the shares moves from one operation to another as long as that brings the mix nearer.
    The search ends when the mix is near enough, or every pair has been tried without gain.

    The thesis does not specify the rest. Each pair is tried again as long as any other has gained.
    Then the step is halved, until it is finer than `finest`. The result depends on the order of
    the operations.

    Raises ValueError if no operation causes any protocol operation, or a step is none.
    """
    if not 0 < step < 1:
        raise ValueError(f"step = {step}: expected a share between 0 and 1")
    used, shares_of, per_operation = _shares(counts)
    number = int(used.sum())
    load = np.full(number, 1.0 / number)

    def distance() -> float:
        return float(np.linalg.norm(load @ shares_of - target))

    tried, now = 0, distance()
    while step >= finest and now > threshold:
        gained = False
        for more in range(number):
            for less in range(number):
                while more != less and load[less] > 0 and now > threshold:
                    moved = min(step, load[less])
                    load[more] += moved
                    load[less] -= moved
                    tried += 1
                    then = distance()
                    if then >= now - 1e-12:
                        load[more] -= moved
                        load[less] += moved
                        break
                    now, gained = then, True
        if not gained:
            step /= 2
    return _tuned(load, used, per_operation, counts, target, tried)


def _shares(counts: Matrix) -> tuple[NDArray[np.bool_], Matrix, Vector]:
    """Return which operations cause anything, the shares of what they cause, and its amount."""
    per_operation = counts.sum(axis=1)
    used = per_operation > 0
    if not used.any():
        raise ValueError("no file operation caused any operation of the protocol")
    return used, counts[used] / per_operation[used, None], per_operation[used]


def _tuned(
    load: Vector,
    used: NDArray[np.bool_],
    per_operation: Vector,
    counts: Matrix,
    target: Vector,
    steps: int,
) -> Tuned:
    shares = np.zeros(len(used))
    shares[used] = load / per_operation
    shares /= shares.sum()
    protocol = mix_of(shares, counts)
    return Tuned(shares, protocol, float(np.linalg.norm(protocol - target)), steps)
