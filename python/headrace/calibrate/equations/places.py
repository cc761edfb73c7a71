"""What a call costs more whose place does not follow the last one's, and less where the processor's
caches have what it copies."""

import math

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


def _solve(times: Times, known: Known) -> dict[str, float]:
    """A random call costs more unless the caches have its first bytes, a part of the calls, and
    copies take less in that part: of small calls the one shows, of large ones the other."""
    call = known["machine.cpu.system_call"] + known["machine.copying.read_call"]
    in_order = np.array([times[READS[block].name] for block in BLOCKS])
    whole = [times[probe.name] for probe in AT_RANDOM.values()]
    copies = np.maximum(in_order - call, 0.0)
    more = np.subtract(whole, in_order)
    besides, less = map(float, costs((np.ones(len(more)), -copies), more, whole))
    # Each block of the small file is there from its second time on.
    found = 1 - 1 / OFTEN
    saved = times[READS[BLOCK].name] - times[AGAIN.name] + besides / OFTEN
    part = min(saved / (found * copies[BLOCKS.index(BLOCK)]), 1.0) if copies.all() else 0.0
    if part < DIFFERS:
        return {
            "machine.cpu.discontiguous_call": max(float(np.median(more)), 0.0),
            "machine.copying.reuse_share": 1.0,
            "machine.copying.l3_reach": 0.0,
        }
    there = min(less / part, float(FOUND[-1]))
    return {
        "machine.cpu.discontiguous_call": besides / (1 - there),
        "machine.copying.reuse_share": 1 - part,
        "machine.copying.l3_reach": float(np.interp(there, FOUND, PARTS)) * LARGE,
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
)
