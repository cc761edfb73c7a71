"""What a call costs more whose place does not follow the last one's, and less where the processor's
caches have what it copies."""

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from headrace.calibrate.case import RANDOM, WARM
from headrace.calibrate.equations.copies import KIB, MIB, READS
from headrace.calibrate.equations.equation import Equation, Known
from headrace.calibrate.equations.least_squares import costs
from headrace.calibrate.probe import Probe, Times, calls

LARGE = 32 * MIB
"""A file of which the last level of most processors' caches has a part, since others use it too."""
SMALL = 4 * MIB
"""A file of which it has all."""
OFTEN, SELDOM = 16, 4
"""Calls for each block of the small file, and of the large one."""


def _probe(file: int, block: int, often: int) -> Probe:
    requests = str(often * file // block)
    return Probe(
        f"cached random reads of {block // KIB} KiB in {file // MIB} MiB",
        calls(file // block, block, ["read"], WARM, **RANDOM, requests=requests),
    )


# Calls of a page or some show what a call costs more, those of many what copies cost less.
BLOCKS = tuple(size * KIB for size in (4, 8, 16, 64, 128, 256))
AT_RANDOM = {block: _probe(LARGE, block, SELDOM) for block in BLOCKS}
BLOCK = 64 * KIB
AGAIN = _probe(SMALL, BLOCK, OFTEN)
DIFFERS = 0.1
"""What part of a copy must be saved for more than the scatter of such times."""


@dataclass(frozen=True)
class Calls:
    """Random calls against those in order, in seconds."""

    more: NDArray[np.float64]
    """What each takes more, by its size."""
    copies: NDArray[np.float64]
    """What it copies in order."""
    whole: list[float]
    again: float
    """What a call takes less if all of it was copied before, as a part of its copy; nothing if that
    cannot be told."""

    @classmethod
    def of(cls, times: Times, known: Known) -> "Calls":
        """As it was measured."""
        call = known["machine.cpu.system_call"] + known["machine.copying.read_call"]
        in_order = np.array([times[READS[block].name] for block in BLOCKS])
        copies = np.maximum(in_order - call, 0.0)
        whole = [times[probe.name] for probe in AT_RANDOM.values()]
        # Each block of the small file is there from its second time on.
        saved = (times[READS[BLOCK].name] - times[AGAIN.name]) / (1 - 1 / OFTEN)
        again = min(saved / copies[BLOCKS.index(BLOCK)], 1.0) if copies.all() else 0.0
        return cls(np.subtract(whole, in_order), copies, whole, again if again > DIFFERS else 0.0)


def _common(times: Times, known: Known) -> dict[str, float]:
    """What the last level has: a random call costs more unless its first bytes are there, a part of
    the calls, and copies take less in that part. Of small calls the one shows, of large ones the
    other."""
    random = Calls.of(times, known)
    there = 0.0
    if random.again > 0:
        _, less = costs((np.ones(len(random.more)), -random.copies), random.more, random.whole)
        there = float(less) / random.again
    return {"machine.copying.l3_reach": float(np.interp(there, FOUND, PARTS)) * LARGE}


def _solve(times: Times, known: Known) -> dict[str, float]:
    random = Calls.of(times, known)
    reach = known["machine.copying.l3_reach"]
    there = float(np.interp(reach / LARGE, PARTS, FOUND))
    less = there * random.again * random.copies
    (besides,) = costs((np.ones(len(random.more)),), random.more + less, random.whole)
    return {
        "machine.cpu.discontiguous_call": float(besides) / (1 - there),
        "machine.copying.reuse_share": 1 - random.again if reach > 0 else 1.0,
    }


def _found(part: NDArray[np.float64]) -> NDArray[np.float64]:
    """How many of the calls find what they copy, if the caches keep a part of the large file that
    was used last.

    After x calls for each block a call finds its own with a probability of 1 - exp(-x), until that
    is the part."""
    full = -np.log1p(-part)
    return np.asarray((full - part + part * (SELDOM - full)) / SELDOM, float)


PARTS = np.linspace(0.0, 1 - math.exp(-SELDOM), 500)
FOUND = _found(PARTS)

EQUATION = Equation(
    (*AT_RANDOM.values(), AGAIN),
    _solve,
    "cached reads of 4 to 256 KiB at random places in 32 MiB and of 64 KiB in 4 MiB, against"
    " those in order in 64 MiB",
    {"l3_reach": "B", "reuse_share": ""},
    _common,
)
