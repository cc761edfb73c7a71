"""Cost of a page fault on a mapped file."""

from headrace.calibrate.case import WARM
from headrace.calibrate.estimators.copy_cost import FILE, PAGE, copied
from headrace.calibrate.estimators.estimator import Estimator, Known
from headrace.calibrate.probe import Probe, Times, calls

MAPPED = Probe(
    "mapped random reads of 4 KiB",
    calls(
        FILE // PAGE,
        PAGE,
        ["read"],
        f'{WARM}, interface = "mapped"',
        order='"uniform"',
        # A fault maps 64 KiB (Linux, mm/memory.c: fault_around_bytes). With 400 of 16,384 pages the
        # median access faults.
        requests="400",
    ),
    statistic="p50",
)


def _solve(times: Times, known: Known) -> dict[str, float]:
    return {"machine.cpu.page_fault": max(times[MAPPED.name] - copied(1, known), 0.0)}


ESTIMATOR = Estimator(
    (MAPPED,),
    _solve,
    "first random reads of 4 KiB in a mapping of a cached file, minus the copy",
    {},
)
