"""Parameters that are fitted: the value at which a simulated probe takes as long as measured."""

from collections.abc import Container, Mapping
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path

from headrace.calibrate.case import COLD, WARM, scenario_for_machine
from headrace.calibrate.estimators import device, flushing
from headrace.calibrate.probe import Probe, calls
from headrace.calibrate.run_report import simulated

MAX_SIMULATIONS = 40
"""Upper limit of simulations in the search of one value."""
TOLERANCE = 1e-3
"""Relative difference of simulated and measured time at which the search stops."""


@dataclass(frozen=True)
class FittedParameter:
    """A parameter without an estimator, and the probe whose duration depends on it."""

    field: str
    probe: Probe
    upper_bound: float
    """Largest value that is tried, in seconds."""
    method: str
    negligible_above: float = 1.0
    """If the simulation with value 0 takes more than this share of the measured time, the probe
    shows another effect, and the value is 0."""
    free_page_reporting_only: bool = False
    """True if the parameter is 0 except on virtual machines that report free pages to the host."""
    median_if_limited: bool = False
    """True if the median replaces the mean where a control group limits writes. Some operations
    then wait for the next throttling slice."""

    def for_machine(self, known: Container[str]) -> "FittedParameter":
        """Return the parameter with the statistic that suits a machine.

        Parameters
        ----------
        known
            Fields that the machine's settings contain.
        """
        if not self.median_if_limited or "write" in device.unlimited(known):
            return self
        return replace(self, probe=replace(self.probe, statistic="p50"))


NEW_BLOCK = FittedParameter(
    "machine.device.hypervisor.new_block",
    flushing.SYNC,
    1e-3,
    "fitted so that a simulated fsync of 64 MiB of a new file takes as long as measured; 0 if the"
    " device is busy for most of it",
    # Processor and device work overlap, so a small remainder is not significant.
    negligible_above=0.8,
)

FLUSH = FittedParameter(
    "machine.device.flush",
    # Rewrites, because a new file adds block allocation and inode updates to the flush: 20 us of 60
    # on a virtual disk.
    Probe(
        "rewrites of 4 KiB, a sync behind each",
        calls(200, 4096, ["write"], WARM, sync_per_write="true"),
        "sync",
        resource="device",
    ),
    1.0,
    "fitted so that simulated rewrites of 4 KiB, each followed by fsync, take as long as measured",
    median_if_limited=True,
)

_COLD_READS = calls(64, 1 << 20, ["read"], COLD)

READ_PAGE = FittedParameter(
    "machine.file_system.read_page",
    # Processor time, because elapsed time includes other waits.
    Probe(
        "processor time of cold reads of 1 MiB",
        _COLD_READS,
        statistic="processor",
        resource="device",
    ),
    1e-3,
    "fitted so that simulated sequential cold reads of 1 MiB use as much CPU time (getrusage)",
)

FRESH_PAGE = FittedParameter(
    "machine.device.hypervisor.fresh_page",
    Probe("cold reads of 1 MiB", _COLD_READS, resource="device"),
    1e-3,
    "fitted so that simulated sequential cold reads of 1 MiB take as long as measured; 0 if the"
    " effect is small, or the machine reports no free pages to a host",
    # Beside copying, a smaller remainder is within the variation of devices between rounds.
    negligible_above=0.9,
    # Other delays of such reads do not come from memory.
    free_page_reporting_only=True,
)

FITTED_PARAMETERS: tuple[FittedParameter, ...] = (READ_PAGE, FRESH_PAGE, NEW_BLOCK, FLUSH)
"""All fitted parameters, each after those it depends on."""


def fit(fitted: FittedParameter, machine: Path, measured: float, then: Mapping[str, str]) -> float:
    """Fit one parameter by Brent's method.

    Parameters
    ----------
    fitted
        The parameter and its probe.
    machine
        Path of the machine file that is simulated.
    measured
        Duration of the probe, in seconds.
    then
        Values of other parameters in the same round, by field.

    Returns
    -------
    float
        The value in seconds. 0 if the simulation with 0 already takes as long, or nearly as
        long.
    """
    text = scenario_for_machine(machine, fitted.probe.text)

    # It takes a fifth of a second to import.
    from scipy.optimize import brentq

    @cache
    def excess(value: float) -> float:
        sets = {**then, fitted.field: f"{value!r} s"}
        time = fitted.probe.seconds(simulated(text, sets))
        # The search ends at an exact zero.
        return 0.0 if abs(time - measured) <= TOLERANCE * measured else time - measured

    if excess(0.0) >= (fitted.negligible_above - 1) * measured:
        return 0.0
    if excess(fitted.upper_bound) <= 0:
        return fitted.upper_bound
    value = brentq(excess, 0.0, fitted.upper_bound, maxiter=MAX_SIMULATIONS, disp=False)
    return float(value)
