"""Extra cost of a non-contiguous call, and savings where the L3 cache has the copied data."""

import math
from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from headrace.calibrate.case import RANDOM, WARM
from headrace.calibrate.estimators.copy_cost import KIB, MIB, READS
from headrace.calibrate.estimators.estimator import Estimator, Known
from headrace.calibrate.estimators.least_squares import costs
from headrace.calibrate.probe import Probe, Times, calls

LARGE = 32 * MIB
"""Size of a file that only partly fits in most L3 caches, which other users share."""
SMALL = 4 * MIB
"""Size of a file that fits in the L3 cache."""
ONCE, OFTEN = 1, 16
"""Calls for each block of a file. With 1 most calls miss the cache, with 16 few do."""


def _probe(file: int, block: int, often: int) -> Probe:
    requests = str(often * file // block)
    return Probe(
        f"cached random reads of {block // KIB} KiB in {file // MIB} MiB, {often} a block",
        calls(file // block, block, ["read"], WARM, **RANDOM, requests=requests),
    )


BLOCKS = tuple(size * KIB for size in (4, 8, 16, 64, 128, 256))
FIRST = {block: _probe(LARGE, block, ONCE) for block in BLOCKS}
KEPT = {block: _probe(LARGE, block, OFTEN) for block in (16 * KIB, 64 * KIB)}
BLOCK = 64 * KIB
AGAIN = _probe(SMALL, BLOCK, OFTEN)
DIFFERS = 0.1
"""Smallest saved share of a copy that is not treated as noise."""


@dataclass(frozen=True)
class Calls:
    """Random calls compared with sequential ones, in seconds."""

    in_order: Mapping[int, float]
    """Time of a sequential call, by size."""
    copies: Mapping[int, float]
    """Copy time within it, by size."""
    again: float
    """Saved share of the copy if all data is in the cache; 0 if the times do not yield it."""

    @classmethod
    def of(cls, times: Times, known: Known, reach: float) -> "Calls":
        """Compare the measured calls, for a given effective size of the L3 in bytes."""
        in_order, copies = cls._in_order(times, known)
        saved = cls.saved(times, known)
        if saved <= DIFFERS or reach <= 0:
            return cls(in_order, copies, 0.0)
        return cls(in_order, copies, min(saved / found(reach / SMALL, OFTEN), 1.0))

    @classmethod
    def saved(cls, times: Times, known: Known) -> float:
        """Return the time that calls on the small file save, as a share of their copies."""
        in_order, copies = cls._in_order(times, known)
        return max(in_order[BLOCK] - times[AGAIN.name], 0.0) / (copies[BLOCK] or math.inf)

    @staticmethod
    def _in_order(times: Times, known: Known) -> tuple[dict[int, float], dict[int, float]]:
        call = known["machine.cpu.system_call"]
        in_order = {block: times[READS[block].name] for block in BLOCKS}
        return in_order, {block: max(time - call, 0.0) for block, time in in_order.items()}

    def more(self, times: Times, probes: Mapping[int, Probe], there: float) -> dict[int, float]:
        """Return the extra time of a call that misses, by size, if a share `there` of the data is
        found."""
        return {
            block: (times[probe.name] - self.in_order[block] + there * self.again * copy)
            / (1 - there)
            for block, probe in probes.items()
            for copy in (self.copies[block],)
        }


def _common(times: Times, known: Known) -> dict[str, float]:
    """Estimate the effective size of the L3.

    It is the size at which calls that miss take the same time, whether few or many of them do. The
    squared errors relative to whole calls are minimal.
    """
    saved = Calls.saved(times, known)
    if saved <= DIFFERS:
        return {"machine.copying.l3_reach": 0.0}
    # The cache must find at least the saved share.
    parts = [part for part in PARTS if saved <= found(part * LARGE / SMALL, OFTEN)] or PARTS[-1:]

    def error(part: float) -> float:
        random = Calls.of(times, known, part * LARGE)
        first = random.more(times, FIRST, found(part, ONCE))
        there = found(part, OFTEN)
        kept = random.more(times, KEPT, there)
        return sum(
            ((kept[block] - first[block]) * (1 - there) / times[probe.name]) ** 2
            for block, probe in KEPT.items()
        )

    return {"machine.copying.l3_reach": min(parts, key=error) * LARGE}


def _solve(times: Times, known: Known) -> dict[str, float]:
    reach = known["machine.copying.l3_reach"]
    random = Calls.of(times, known, reach)
    more = random.more(times, FIRST, found(reach / LARGE, ONCE))
    whole = [times[probe.name] for probe in FIRST.values()]
    (besides,) = costs((np.ones(len(more)),), list(more.values()), whole)
    return {
        "machine.cpu.discontiguous_call": float(besides),
        "machine.copying.reuse_share": 1 - random.again,
    }


def found(part: float, often: float) -> float:
    """Return the mean share of copied data that is found in the cache, for random calls.

    An insertion evicts a random line (crates/storage/src/localfs/last_level_cache.rs). Let r be the
    cached share of the file. After x calls per block, r' = (1 - r) (1 - r / part). The result is
    the mean of r.

    Parameters
    ----------
    part
        Effective size of the cache, as a share of the file.
    often
        Calls per block.
    """
    if part <= 0:
        return 0.0
    if abs(part - 1) < 1e-6:
        return 1 - math.log1p(often) / often
    left = -math.expm1(math.log(part) - often * (1 - part) / part)
    return part + part / often * math.log((1 - part) / left)


LARGEST_EXPONENT = 20.0
"""Bytes inserted between two uses, in effective cache sizes, beyond which nothing is found."""


def found_in_repeated_passes(file: float, known: Known) -> float:
    """Return the share of copied data found in the cache halfway through four sequential passes.

    Parameters
    ----------
    file
        Size of the file, in bytes.
    known
        Known parameters, by field.
    """
    # The middle lies between the second and third pass. In the second pass a share exp(-a) is
    # found, and a falls from the whole file by a' = -exp(-a), in effective cache sizes. Hence
    # exp(a) = exp(file) - file.
    reach = known.get("machine.copying.l3_reach", 0.0)
    if reach <= 0 or file / reach >= LARGEST_EXPONENT:
        return 0.0
    return 1 / (math.exp(file / reach) - file / reach)


PARTS = [number / 500 for number in range(1, 500)]

ESTIMATOR = Estimator(
    (*FIRST.values(), *KEPT.values(), AGAIN),
    _solve,
    "cached random reads of 4 to 256 KiB in 32 MiB and of 64 KiB in 4 MiB, compared with"
    " sequential reads in 64 MiB",
    {"l3_reach": "B", "reuse_share": ""},
    _common,
)
