"""Cost of metadata calls: create, unlink and stat."""

from headrace.calibrate.case import NAMES
from headrace.calibrate.estimators.estimator import Estimator, Known
from headrace.calibrate.probe import Probe, Times

FILES = 2000
WORKLOAD = f'{NAMES}\nfiles = {FILES}\nbytes = "0 B"\nphases = ["create", "stat", "unlink"]'
CREATE, STAT, UNLINK = (
    Probe(f"{operation} of empty files", WORKLOAD, operation)
    for operation in ("create", "stat", "unlink")
)


def _solve(times: Times, known: Known) -> dict[str, float]:
    call = known["machine.cpu.system_call"]
    return {
        f"machine.file_system.{field}": max(times[probe.name] - call, 0.0)
        for field, probe in (("create", CREATE), ("unlink", UNLINK), ("lookup", STAT))
    }


ESTIMATOR = Estimator((CREATE, STAT, UNLINK), _solve, "mdtest with empty files", {})
