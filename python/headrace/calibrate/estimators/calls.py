"""Cost of a system call and of a C library call, without the data."""

from headrace.calibrate.case import WARM
from headrace.calibrate.estimators.estimator import Estimator, Known
from headrace.calibrate.probe import Probe, Times, calls

CALL = Probe("calls of one byte", calls(100_000, 1, ["read"], WARM), statistic="p50")
LIBRARY = Probe(
    "library calls of one byte", calls(200_000, 1, ["read"], f'{WARM}, interface = "library"')
)
NOTHING = Probe(
    "the engine itself", calls(200_000, 1, ["read"], WARM), statistic="mean", made_by="null"
)
BUFFER = 4096
"""Size of the C library's buffer in bytes; each buffer takes one system call."""


def _solve(times: Times, _known: Known) -> dict[str, float]:
    call = times[CALL.name]
    # A library call takes about as long as reading the clock.
    library = max(times[LIBRARY.name] - times[NOTHING.name] - call / BUFFER, 0.0)
    return {"machine.cpu.system_call": call, "machine.cpu.library_call": library}


ESTIMATOR = Estimator(
    (CALL, LIBRARY, NOTHING),
    _solve,
    "reads of one byte from a cached file, by system call and by C library call",
    {},
)
