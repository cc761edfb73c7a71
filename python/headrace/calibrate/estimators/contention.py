"""Slow-down of memory copies while all cores copy."""

import os
import statistics

from headrace.calibrate.case import WARM
from headrace.calibrate.estimators.copy_cost import FILE, KIB, READS
from headrace.calibrate.estimators.estimator import Estimator, Known
from headrace.calibrate.probe import Probe, Times, calls

MOST = 16
"""Upper limit of processes, which bounds the memory for their files. Each further core is assumed
to add as much contention as one of these."""
PROCESSES = min(len(os.sched_getaffinity(0)), MOST)
BLOCKS = (16 * KIB, 256 * KIB)
PASSES = 4
"""Passes through each file. Processes start up to a few milliseconds apart, and a pass takes ten.
"""
TOGETHER = {
    block: Probe(
        f"cached reads of {block // KIB} KiB by {PROCESSES} processes",
        calls(FILE // block, block, ["read"] * PASSES, WARM, access='"file-per-process"'),
        processes=PROCESSES,
    )
    for block in BLOCKS
    if PROCESSES > 1
}


def _solve(times: Times, known: Known) -> dict[str, float]:
    """Estimate the contention; every further core adds the same amount."""
    if not TOGETHER:
        return {}
    call = known["machine.cpu.system_call"]
    longer = []
    for block, probe in TOGETHER.items():
        alone = times[READS[block].name]
        copy_file = max(alone - call, 1e-12)
        longer.append(max(times[probe.name] - alone, 0.0) / copy_file)
    others = known.get("machine.cpu.cores", PROCESSES) - 1
    return {"machine.copying.contention": 1 + statistics.fmean(longer) * others / (PROCESSES - 1)}


ESTIMATOR = Estimator(
    tuple(TOGETHER.values()),
    _solve,
    f"cached reads of 16 and 256 KiB by {PROCESSES} processes, each from its own"
    " file, compared with one process",
    {"contention": ""},
)
