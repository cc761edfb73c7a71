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
    """What a call takes less if all of it is found, as a part of its copy; nothing if that cannot
    be told."""

    @classmethod
    def of(cls, times: Times, known: Known, reach: float) -> "Calls":
        """As it was measured, if the caches have such a reach."""
        in_order, copies = cls._in_order(times, known)
        saved = cls.saved(times, known)
        if saved <= DIFFERS or reach <= 0:
            return cls(in_order, copies, 0.0)
        return cls(in_order, copies, min(saved / found(reach / SMALL, OFTEN), 1.0))

    @classmethod
    def saved(cls, times: Times, known: Known) -> float:
        """What calls of the small file take less than in order, as a part of their copies."""
        in_order, copies = cls._in_order(times, known)
        return max(in_order[BLOCK] - times[AGAIN.name], 0.0) / (copies[BLOCK] or math.inf)

    @staticmethod
    def _in_order(times: Times, known: Known) -> tuple[dict[int, float], dict[int, float]]:
        call = known["machine.cpu.system_call"] + known["machine.copying.read_call"]
        in_order = {block: times[READS[block].name] for block in BLOCKS}
        return in_order, {block: max(time - call, 0.0) for block, time in in_order.items()}

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
    saved = Calls.saved(times, known)
    if saved <= DIFFERS:
        return {"machine.copying.l3_reach": 0.0}
    # As much is found as it takes to save what was saved: of less, no share could.
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
    """Which part of what calls copy is found, of so many calls for each block of a file at random
    places, if the reach of the caches is a part of the file.

    What comes in takes the place of anything (crates/storage/src/localfs/last_level_cache.rs): of a file
    r is there, and of each block that comes in r / part leaves again, so that after x calls for
    each block r' = (1 - r) (1 - r / part); this is the mean of r."""
    if part <= 0:
        return 0.0
    if abs(part - 1) < 1e-6:
        return 1 - math.log1p(often) / often
    left = -math.expm1(math.log(part) - often * (1 - part) / part)
    return part + part / often * math.log((1 - part) / left)


LARGEST_EXPONENT = 20.0
"""Of reaches that come in until something is used again: nothing is found."""


def again_and_again(file: float, known: Known) -> float:
    """Which part of what calls copy is found in the middle of four passes in order through a file
    of so many bytes."""
    # The middle is where the second ends and the third begins. In the second, of what is found
    # exp(-a), what came in since falls from the whole file by a' = -exp(-a), all in reaches; so
    # exp(a) = exp(file) - file there.
    reach = known.get("machine.copying.l3_reach", 0.0)
    if reach <= 0 or file / reach >= LARGEST_EXPONENT:
        return 0.0
    return 1 / (math.exp(file / reach) - file / reach)


PARTS = [number / 500 for number in range(1, 500)]

EQUATION = Equation(
    (*FIRST.values(), *KEPT.values(), AGAIN),
    _solve,
    "cached reads of 4 to 256 KiB at random places in 32 MiB and of 64 KiB in 4 MiB, against"
    " those in order in 64 MiB",
    {"l3_reach": "B", "reuse_share": ""},
    _common,
)
