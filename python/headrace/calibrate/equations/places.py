"""What a call costs more whose place does not follow the last one's, and less where the processor's
caches have what it copies."""

import math
from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from headrace.calibrate.case import RANDOM, WARM
from headrace.calibrate.equations.copies import KIB, MIB, READS
from headrace.calibrate.equations.equation import Equation, Known
from headrace.calibrate.equations.least_squares import costs
from headrace.calibrate.probe import Probe, Times, calls

LARGE = 32 * MIB
"""A file of which the last level of most processors' caches has a part, since others use it too."""
SMALL = 4 * MIB
"""A file of which it has all."""
ONCE, OFTEN = 1, 16
"""Calls for each block of a file: most of one find it for the first time, few of 16."""


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
"""What part of a copy must be saved for more than the scatter of such times."""


@dataclass(frozen=True)
class Calls:
    """Random calls against those in order, in seconds."""

    in_order: Mapping[int, float]
    """What each takes in order, by its size."""
    copies: Mapping[int, float]
    """What it copies of that."""
    again: float
    """What a call takes less if all of it was copied before, as a part of its copy; nothing if that
    cannot be told."""

    @classmethod
    def of(cls, times: Times, known: Known) -> "Calls":
        """As it was measured."""
        call = known["machine.cpu.system_call"] + known["machine.copying.read_call"]
        in_order = {block: times[READS[block].name] for block in BLOCKS}
        copies = {block: max(time - call, 0.0) for block, time in in_order.items()}
        # Each block of the small file is there from its second time on.
        saved = (in_order[BLOCK] - times[AGAIN.name]) / (1 - 1 / OFTEN)
        again = min(saved / copies[BLOCK], 1.0) if copies[BLOCK] else 0.0
        return cls(in_order, copies, again if again > DIFFERS else 0.0)

    def more(self, times: Times, probes: Mapping[int, Probe], there: float) -> dict[int, float]:
        """What calls that are not found take more than in order, by their size, if such a part of
        all is found."""
        return {
            block: (times[probe.name] - self.in_order[block] + there * self.again * copy)
            / (1 - there)
            for block, probe in probes.items()
            for copy in (self.copies[block],)
        }


def _common(times: Times, known: Known) -> dict[str, float]:
    """What the last level has: as much as lets calls that are not found take the same, whether few
    or many of them are; the squares of the errors are least, relative to whole calls."""
    random = Calls.of(times, known)
    if random.again == 0:
        return {"machine.copying.l3_reach": 0.0}

    def error(part: float) -> float:
        first = random.more(times, FIRST, found(part, ONCE))
        there = found(part, OFTEN)
        kept = random.more(times, KEPT, there)
        return sum(
            ((kept[block] - first[block]) * (1 - there) / times[probe.name]) ** 2
            for block, probe in KEPT.items()
        )

    return {"machine.copying.l3_reach": min(PARTS, key=error) * LARGE}


def _solve(times: Times, known: Known) -> dict[str, float]:
    random = Calls.of(times, known)
    reach = known["machine.copying.l3_reach"]
    more = random.more(times, FIRST, found(reach / LARGE, ONCE))
    whole = [times[probe.name] for probe in FIRST.values()]
    (besides,) = costs((np.ones(len(more)),), list(more.values()), whole)
    return {
        "machine.cpu.discontiguous_call": float(besides),
        "machine.copying.reuse_share": 1 - random.again if reach > 0 else 1.0,
    }


def found(part: float, often: float) -> float:
    """Which part of the calls finds what it copies, of so many for each block of a file at random
    places, if the caches keep a part of the file that was used last.

    After x calls for each block a call finds its own with a probability of 1 - exp(-x), until that
    is the part."""
    full = -math.log1p(-part) if part < 1 else often
    until = min(full, often)
    return (until + math.expm1(-until) + part * (often - until)) / often


PARTS = [number / 500 for number in range(500)]

EQUATION = Equation(
    (*FIRST.values(), *KEPT.values(), AGAIN),
    _solve,
    "cached reads of 4 to 256 KiB at random places in 32 MiB and of 64 KiB in 4 MiB, against"
    " those in order in 64 MiB",
    {"l3_reach": "B", "reuse_share": ""},
    _common,
)
