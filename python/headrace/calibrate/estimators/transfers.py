"""Processor time of submitting a transfer."""

from headrace.calibrate.case import DIRECT
from headrace.calibrate.estimators.calls import CALL
from headrace.calibrate.estimators.copy_cost import KIB, MIB
from headrace.calibrate.estimators.estimator import Estimator, Known
from headrace.calibrate.probe import Probe, Times, calls

BLOCK = 4 * KIB
MADE = Probe(
    "processor time of direct reads of 4 KiB",
    calls(64 * MIB // BLOCK, BLOCK, ["read"], DIRECT, order='"uniform"', requests="2000"),
    statistic="processor",
    resource="device",
)
ENTERED = Probe("processor time of calls of one byte", CALL.workload, statistic="processor")
"""The same without a transfer; both include the load engine."""


def _solve(times: Times, _known: Known) -> dict[str, float]:
    return {"machine.cpu.transfer": max(times[MADE.name] - times[ENTERED.name], 0.0)}


ESTIMATOR = Estimator(
    (MADE, ENTERED),
    _solve,
    "processor time (getrusage) of direct reads of 4 KiB, minus that of calls of one byte",
    {},
)
