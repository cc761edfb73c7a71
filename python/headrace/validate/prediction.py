"""Predictions, and their intervals from the uncertainty of parameters and model."""

import math
import statistics
import tomllib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, TypeAlias

from headrace import simulate
from headrace._core import parse_seconds
from headrace.calibrate.case import Resource
from headrace.calibrate.hodges_lehmann import hodges_lehmann
from headrace.calibrate.run_report import RunReport, simulated
from headrace.calibration_fields import rounds_of

COVERAGE = 0.9
"""Nominal coverage of the prediction interval."""

DISTURBED = 3.0
"""Standard deviations beyond which an error is an outlier and is clipped (Huber 1964, Annals of
Mathematical Statistics 35). Once in three rounds a transfer of 64 KiB took a second, and made all
intervals ten times as wide as the errors."""
NORMAL = 0.6745
"""Median absolute error of a normal distribution, in standard deviations."""

FEW, MANY = 1e-6, 1e6
"""Search range of half the degrees of freedom."""

NOTHING: Mapping[str, str] = {}

ResourceFinder: TypeAlias = Callable[[RunReport], Resource]
"""Returns the limiting resource from the figures of a simulation."""


@dataclass(frozen=True)
class CheckErrors:
    """Errors of a check, in logarithms."""

    of_rounds: tuple[float, ...]
    """Hodges-Lehmann estimate of the simulations minus each round's measurement."""
    of_values: float
    """Variance of the simulations with each round's parameters."""

    @property
    def square(self) -> float:
        """Mean square of the errors."""
        return statistics.fmean(error * error for error in self.of_rounds)


@dataclass(frozen=True)
class Predicted:
    """Prediction of a simulation."""

    seconds: float
    """Prediction with the estimate of every parameter."""
    interval: tuple[float, float] | None
    """90 % prediction interval in seconds; None without rounds and checks."""
    report: RunReport = field(default_factory=RunReport, repr=False, compare=False)
    """Figures of the simulation."""


def predict(
    text: str,
    figure: Callable[[RunReport], float],
    resource: Resource | ResourceFinder | None = None,
    sets: Mapping[str, str] = NOTHING,
) -> Predicted:
    """Predict a time and its interval from a calibrated machine.

    The scenario is simulated with the estimates, and once with each round's parameters. The
    interval follows from the errors of the checks with the same limiting resource, or of all checks
    if there are none. The spread over the rounds widens it where it exceeds that of the checks.

    Parameters
    ----------
    text
        The scenario.
    figure
        Returns the predicted time in seconds from the figures of a simulation.
    resource
        The limiting resource, or a function that finds it in the figures.
    sets
        Values that override the scenario, by path.

    Raises
    ------
    ScenarioError
        As `headrace.simulate.load` does.
    """
    scenario = simulate.load(text, sets=sets)
    report = RunReport.of_document(simulate.run(scenario, server_series=False).json())
    seconds = figure(report)
    system = tomllib.loads(scenario.toml)
    each = [figure(simulated(text, {**values, **sets})) for values in rounds_of(system)]
    own = resource(report) if callable(resource) else resource
    checks = check_errors(system, own) or check_errors(system)
    return Predicted(seconds, interval(seconds, each, list(checks.values())), report)


def check_errors(
    system: Mapping[str, Any], resource: Resource | None = None
) -> dict[str, CheckErrors]:
    """Return the errors of the checks in a system's file by name, for one limiting resource or for
    all."""
    rounds: dict[str, list[tuple[float, float]]] = {}
    for entry in system.get("check", []):
        if resource in (None, entry["bound"]):
            times = (
                math.log(parse_seconds(entry["measured"])),
                math.log(parse_seconds(entry["predicted"])),
            )
            rounds.setdefault(entry["name"], []).append(times)
    return {name: _errors(times) for name, times in rounds.items()}


def _errors(rounds: Sequence[tuple[float, float]]) -> CheckErrors:
    predicted = [values for _, values in rounds]
    simulated = hodges_lehmann(predicted)
    return CheckErrors(
        tuple(simulated - measured for measured, _ in rounds),
        statistics.variance(predicted) if len(predicted) > 1 else 0.0,
    )


def _undisturbed(checks: Sequence[CheckErrors]) -> list[CheckErrors]:
    """Clip outliers among the errors at `DISTURBED` standard deviations, which follow from the
    median."""
    every = [abs(error) for check in checks for error in check.of_rounds]
    most = DISTURBED * statistics.median(every) / NORMAL or math.inf
    return [
        replace(check, of_rounds=tuple(min(max(error, -most), most) for error in check.of_rounds))
        for check in checks
    ]


def interval(
    seconds: float, each: Sequence[float], checks: Sequence[CheckErrors]
) -> tuple[float, float] | None:
    """Return the 90 % prediction interval around a prediction; None without rounds and checks.

    Each round of a check is a new measurement. The mean square of their errors contains the errors
    of the model, of a measurement and of the parameters, and the variation between rounds. The part
    common to all checks of a round has one degree of freedom per round, the rest one per check.
    Variance over the rounds beyond that of the checks is added, both for a new round and for the
    estimate. Student's quantile is used, with the degrees of freedom of Welch and Satterthwaite
    (Welch 1947, Biometrika 34).

    Parameters
    ----------
    seconds
        The prediction.
    each
        Predictions with each round's parameters, in seconds.
    checks
        Errors of the checks.
    """
    parts: list[tuple[float, float]] = []
    if checks:
        checks = _undisturbed(checks)
        square = statistics.fmean(check.square for check in checks)
        rounds = [
            statistics.fmean(it) for it in zip(*(check.of_rounds for check in checks), strict=False)
        ]
        common = min(statistics.variance(rounds), square) if len(rounds) > 1 else 0.0
        if common > 0:
            parts.append((common, len(rounds) - 1))
        parts.append((square - common, len(checks)))
    if len(each) > 1 and min(each) > 0:
        more, degrees = _beyond_checks(each, checks)
        parts.append((more * (1 + 1 / len(each)), degrees))
    total = sum(variance for variance, _ in parts)
    if not parts or seconds <= 0:
        return None
    if total == 0:
        return seconds, seconds
    from scipy import stats

    freedom = total**2 / sum(variance**2 / degrees for variance, degrees in parts)
    reach = math.exp(float(stats.t.ppf((1 + COVERAGE) / 2, freedom)) * math.sqrt(total))
    return seconds / reach, seconds * reach


def _beyond_checks(each: Sequence[float], checks: Sequence[CheckErrors]) -> tuple[float, float]:
    """Return the variance of the rounds' predictions beyond that of the checks, and its degrees of
    freedom.

    A variance from two rounds is rarely near its expectation, and adding only the large ones widens
    intervals. They then contained 96 % of the measurements of ten twins. The variance is therefore
    moderated by those of the checks, the more the better these agree.
    """
    own = statistics.variance([math.log(value) for value in each])
    degrees = len(each) - 1
    if not checks:
        return own, degrees
    known = statistics.fmean(check.of_values for check in checks)
    prior = _prior_degrees([check.of_values for check in checks], len(checks[0].of_rounds) - 1)
    if math.isinf(prior):
        return 0.0, degrees
    moderated = (prior * known + degrees * own) / (prior + degrees)
    return max(moderated - known, 0.0), prior + degrees


def _prior_degrees(variances: Sequence[float], degrees: int) -> float:
    """Return the degrees of freedom of the prior variance from a set of variances.

    0 if the variances have nothing in common; infinite if they differ no more than by chance.
    Source: Smyth 2004, Statistical Applications in Genetics and Molecular Biology 3, article 3,
    section 6.2.

    Parameters
    ----------
    variances
        Sample variances.
    degrees
        Degrees of freedom of each.
    """
    logarithms = [math.log(variance) for variance in variances if variance > 0]
    if degrees < 1 or len(logarithms) < 2:
        return 0.0
    from scipy import optimize, special

    def trigamma(x: float) -> float:
        return float(special.polygamma(1, x))

    beyond_chance = statistics.variance(logarithms) - trigamma(degrees / 2)
    if beyond_chance <= trigamma(MANY):
        return math.inf
    return 2 * float(optimize.brentq(lambda x: trigamma(x) - beyond_chance, FEW, MANY))
