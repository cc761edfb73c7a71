"""Parameters that are fitted: the value at which a simulated probe takes as long as measured."""

from collections.abc import Container, Mapping
from dataclasses import dataclass, replace
from pathlib import Path

from headrace import simulate
from headrace.calibrate.case import COLD, WARM, scenario_for_machine
from headrace.calibrate.estimators import device, flushing
from headrace.calibrate.probe import Probe, calls

MAX_BISECTIONS = 40
"""Upper limit of bisection steps; the range is then narrower than double precision."""
TOLERANCE = 1e-3
"""Relative difference of simulated and measured time at which the bisection stops."""


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
    "machine.device.new_block",
    flushing.SYNC,
    1e-3,
    "an fsync of 64 MiB of a new file, as a simulation takes as long; 0 if the device is busy for"
    " most of it",
    # What the processor does and what the device does overlap: close to what both are known to
    # take, no more can be told.
    negligible_above=0.8,
)

FLUSH = FittedParameter(
    "machine.device.flush",
    # Not of a new file: what a device takes longer for blocks that it has nothing of yet, and the
    # processor for their inode, would be taken for the flush's. On a virtual disk that was 20 us of
    # 60.
    Probe(
        "rewrites of 4 KiB, a sync behind each",
        calls(200, 4096, ["write"], WARM, sync_per_write="true"),
        "sync",
        resource="device",
    ),
    1.0,
    "rewrites of 4 KiB with an fsync behind each, as a simulation takes as long",
    median_if_limited=True,
)

_COLD_READS = calls(64, 1 << 20, ["read"], COLD)

READ_PAGE = FittedParameter(
    "machine.file_system.read_page",
    # Not how long they take: whatever else keeps reads waiting would be taken for the processor's.
    Probe(
        "processor time of cold reads of 1 MiB",
        _COLD_READS,
        statistic="processor",
        resource="device",
    ),
    1e-3,
    "processor time (getrusage) of cold reads of 1 MiB in order, as a simulation takes as much",
)

FRESH_PAGE = FittedParameter(
    "machine.device.fresh_page",
    Probe("cold reads of 1 MiB", _COLD_READS, resource="device"),
    1e-3,
    "cold reads of 1 MiB in order, as a simulation takes as long; 0 if it takes nearly as long"
    " without, or no host takes free memory back",
    # Beside copying; what is left then is no more than what devices differ from round to round.
    negligible_above=0.9,
    # Whatever else keeps such reads waiting is none of memory's.
    free_page_reporting_only=True,
)

FITTED_PARAMETERS: tuple[FittedParameter, ...] = (READ_PAGE, FRESH_PAGE, NEW_BLOCK, FLUSH)
"""All fitted parameters, each after those it depends on."""


def fit(fitted: FittedParameter, machine: Path, measured: float, then: Mapping[str, str]) -> float:
    """Fit one parameter by bisection.

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

    def simulated(value: float) -> float:
        sets = {**then, fitted.field: f"{value!r} s"}
        return fitted.probe.seconds(simulate.run(simulate.load(text, sets=sets)).json())

    least, most = 0.0, fitted.upper_bound
    if simulated(least) >= fitted.negligible_above * measured:
        return least
    for _ in range(MAX_BISECTIONS):
        middle = (least + most) / 2
        time = simulated(middle)
        if abs(time - measured) <= TOLERANCE * measured:
            return middle
        least, most = (middle, most) if time < measured else (least, middle)
    return (least + most) / 2
