"""Parameters that are fitted: the value at which a simulated probe takes as long as measured."""

from collections.abc import Container, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path

from headrace.calibrate.case import COLD, NEW, SYNCHRONOUS, WARM, scenario_for_machine
from headrace.calibrate.estimators import device, flushing
from headrace.calibrate.hodges_lehmann import hodges_lehmann, hodges_lehmann_interval
from headrace.calibrate.parameter import Parameter
from headrace.calibrate.probe import Probe, calls
from headrace.calibrate.run_report import simulated
from headrace.measure.report import ResultWarning
from headrace.quantities import measured_time

MAX_SIMULATIONS = 40
"""Upper limit of simulations in the search of one value."""
TOLERANCE = 1e-3
"""Relative difference of simulated and measured time at which the search stops."""
CONDITION = "parameters-not-found"
"""Condition of the warning about fitted parameters whose interval includes 0."""


@dataclass(frozen=True)
class FittedParameter:
    """A parameter without an estimator, and the probes whose duration depends on it."""

    field: str
    probe: Probe
    upper_bound: float
    """Largest value that is tried, in seconds."""
    method: str
    affects: str
    """Predictions that depend on the parameter, for a warning."""
    more_probes: tuple[Probe, ...] = ()
    """Further probes. Calibrations of earlier versions lack them."""
    negligible_above: float = 1.0
    """If the simulation with value 0 takes more than this share of the measured time in the
    Hodges-Lehmann estimate over rounds, the probe shows another effect, and the value is 0."""
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
        return replace(
            self,
            probe=replace(self.probe, statistic="p50"),
            more_probes=tuple(replace(probe, statistic="p50") for probe in self.more_probes),
        )

    @property
    def probes(self) -> tuple[Probe, ...]:
        """All probes."""
        return (self.probe, *self.more_probes)


NEW_BLOCK = FittedParameter(
    "machine.device.hypervisor.new_block",
    flushing.SYNC,
    1e-3,
    "fitted so that a simulated fsync of 64 MiB of a new file takes as long as measured; 0 if the"
    " device is busy for most of it",
    "writes to new blocks of a virtual disk",
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
    "fitted so that simulated writes of 4 KiB take as long as measured: rewrites with fsync,"
    " rewrites with O_SYNC and appends with fsync",
    "synchronous writes (fsync after a write or an append, O_SYNC, O_DSYNC)",
    more_probes=(
        Probe(
            "synchronous rewrites of 4 KiB",
            calls(200, 4096, ["write"], SYNCHRONOUS),
            "write",
            resource="device",
        ),
        Probe(
            "appends of 4 KiB, a sync behind each",
            calls(200, 4096, ["write"], NEW, sync_per_write="true"),
            "sync",
            resource="device",
        ),
    ),
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
    "processor time of cold reads",
)

FRESH_PAGE = FittedParameter(
    "machine.device.hypervisor.fresh_page",
    Probe("cold reads of 1 MiB", _COLD_READS, resource="device"),
    1e-3,
    "fitted so that simulated sequential cold reads of 1 MiB take as long as measured; 0 if the"
    " effect is small, or the machine reports no free pages to a host",
    "cold reads into memory that the host took back",
    # Beside copying, a smaller remainder is within the variation of devices between rounds.
    negligible_above=0.9,
    # Other delays of such reads do not come from memory.
    free_page_reporting_only=True,
)

FITTED_PARAMETERS: tuple[FittedParameter, ...] = (READ_PAGE, FRESH_PAGE, NEW_BLOCK, FLUSH)
"""All fitted parameters, each after those it depends on."""


@dataclass(frozen=True)
class Fit:
    """The value that one probe of one round gives."""

    value: float
    """In seconds; negative if the simulation with value 0 takes longer than measured."""
    share: float
    """Simulated time with value 0, divided by the measured time."""


def fit(
    fitted: FittedParameter, probe: Probe, machine: Path, measured: float, then: Mapping[str, str]
) -> Fit | None:
    """Fit one parameter to one probe by Brent's method.

    Parameters
    ----------
    fitted
        The parameter.
    probe
        One of its probes.
    machine
        Path of the machine file that is simulated.
    measured
        Duration of the probe, in seconds.
    then
        Values of other parameters in the same round, by field.

    Returns
    -------
    Fit
        The value, extrapolated below 0 with the mean slope of the simulated time. None if the
        simulated time does not depend on the parameter.
    """
    text = scenario_for_machine(machine, probe.text)

    # It takes a fifth of a second to import.
    from scipy.optimize import brentq

    @cache
    def excess(value: float) -> float:
        sets = {**then, fitted.field: f"{value!r} s"}
        time = probe.seconds(simulated(text, sets))
        # The search ends at an exact zero.
        return 0.0 if abs(time - measured) <= TOLERANCE * measured else time - measured

    share = excess(0.0) / measured + 1.0
    if excess(0.0) == 0.0:
        return Fit(0.0, share)
    most = excess(fitted.upper_bound)
    if most - excess(0.0) <= TOLERANCE * measured:
        return None
    if excess(0.0) > 0:
        # The slope near 0 can be 0 where the device works beside the processor.
        step = min(fitted.upper_bound, measured)
        rise = excess(step) - excess(0.0)
        if rise <= TOLERANCE * measured:
            step, rise = fitted.upper_bound, most - excess(0.0)
        return Fit(max(-excess(0.0) * step / rise, -fitted.upper_bound), share)
    if most <= 0:
        return Fit(fitted.upper_bound, share)
    value = brentq(excess, 0.0, fitted.upper_bound, maxiter=MAX_SIMULATIONS, disp=False)
    return Fit(float(value), share)


@dataclass(frozen=True)
class FitResult:
    """A fitted parameter, and its interval if that includes 0."""

    parameter: Parameter
    at_most: float | None = None
    """Upper end of the interval in seconds, if the interval includes 0."""


def combine(fitted: FittedParameter, rounds: Sequence[Sequence[Fit]]) -> FitResult:
    """Return a fitted parameter from the values of all rounds and probes.

    The value is the Hodges-Lehmann estimate over all rounds and probes, in which negative values
    count; a negative estimate becomes 0. The value of a round is the estimate over its probes.

    Parameters
    ----------
    fitted
        The parameter.
    rounds
        The fits of each round. A round may have none.
    """
    fits = [each for some in rounds for each in some]
    if not fits:
        return FitResult(Parameter(fitted.field, (0.0,) * len(rounds), "s", fitted.method))
    share = hodges_lehmann([each.share for each in fits])
    threshold = fitted.negligible_above
    shown = sum(each.value > 0 and each.share < threshold for each in fits)
    if threshold < 1 and share >= threshold:
        method = fitted.method
        if shown:
            method += f"; set to 0, because only {shown} of {len(fits)} rounds showed an effect"
        nothing = Parameter(fitted.field, (0.0,) * len(rounds), "s", method)
        most = max(each.value for each in fits)
        return FitResult(nothing, most if shown else None)
    values = [each.value for each in fits]
    least, most = hodges_lehmann_interval(values)
    interval = (max(least, 0.0), max(most, 0.0))
    whole = max(hodges_lehmann(values), 0.0)
    of_rounds = (
        max(hodges_lehmann([each.value for each in some]), 0.0) if some else whole
        for some in rounds
    )
    method = (
        f"{fitted.method}; interval {measured_time(interval[0])} to {measured_time(interval[1])}"
    )
    parameter = Parameter(
        fitted.field, tuple(of_rounds), "s", method, pooled=whole, interval=interval
    )
    return FitResult(parameter, most if least <= 0 < most else None)


def not_found_warning(results: Sequence[tuple[FittedParameter, FitResult]]) -> list[ResultWarning]:
    """Return one warning that names all fitted parameters whose interval includes 0."""
    texts = [
        f"{fitted.field} = {result.parameter.text()}, at most {measured_time(result.at_most)}:"
        f" predictions of {fitted.affects} are uncertain"
        for fitted, result in results
        if result.at_most is not None
    ]
    if not texts:
        return []
    message = (
        "the rounds of the calibration do not show that these parameters exceed 0: "
        f"{'; '.join(texts)}: calibrate with more rounds, or when the machine is less busy"
    )
    return [ResultWarning(CONDITION, message)]
