"""What a call costs more whose place does not follow the last one's."""

import statistics

from headrace.calibrate.case import WARM
from headrace.calibrate.equations.copies import FILE, KIB, READS
from headrace.calibrate.equations.equation import Equation, Known
from headrace.calibrate.probe import Probe, Times, calls

REQUESTS = 4000
RANDOM = {
    block: Probe(
        f"cached random reads of {block // KIB} KiB",
        calls(
            FILE // block,
            block,
            ["read"],
            WARM,
            order='"uniform"',
            requests=str(min(REQUESTS, FILE // block)),
        ),
    )
    for block in (4 * KIB, 16 * KIB, 64 * KIB)
}


def _solve(times: Times, _known: Known) -> dict[str, float]:
    more = [times[probe.name] - times[READS[block].name] for block, probe in RANDOM.items()]
    return {"machine.cpu.discontiguous_call": max(statistics.median(more), 0.0)}


EQUATION = Equation(
    tuple(RANDOM.values()),
    _solve,
    "cached reads of 4, 16 and 64 KiB at random places, against those in order",
    {},
)
