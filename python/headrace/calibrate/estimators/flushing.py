"""Processor time of write-back."""

from headrace.calibrate.case import NEW
from headrace.calibrate.estimators.copy_cost import MIB
from headrace.calibrate.estimators.estimator import Estimator, Known
from headrace.calibrate.probe import Probe, Times, calls

CALLS, PAGE = 64, 4096
_WORKLOAD = calls(CALLS, MIB, ["write", "sync"], NEW)
WRITTEN = Probe(
    "new writes of 1024 KiB before a sync", _WORKLOAD, "write", "p50", resource="device"
)
AT_WORK = Probe(
    "processor time of 64 MiB written and synced", _WORKLOAD, "sync", "processor", resource="device"
)
"""Processor time of the process, which submits the transfers of its own fsync (Linux 6.18,
mm/filemap.c: filemap_fdatawrite_range)."""
SYNC = Probe("a sync of 64 MiB", _WORKLOAD, "sync", resource="device")


def _solve(times: Times, _known: Known) -> dict[str, float]:
    # The median, because an interrupted write uses no more processor time.
    beyond = times[AT_WORK.name] - CALLS * times[WRITTEN.name]
    return {"machine.file_system.flush_page": max(beyond, 0.0) / (CALLS * MIB / PAGE)}


ESTIMATOR = Estimator(
    (WRITTEN, AT_WORK),
    _solve,
    "processor time (getrusage) of writing and syncing 64 MiB, minus that of the writes",
    {},
)
