"""A prediction with its interval, from how well the parameters and the model are known."""

import math
import statistics
import tomllib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, TypeAlias

from headrace import simulate
from headrace._core import parse_seconds
from headrace.calibrate.case import Bound
from headrace.calibrate.middle import middle
from headrace.calibration_fields import rounds_of

COVERAGE = 0.9
"""Which part of new measurements the interval is to hold."""

DISTURBED = 3.0
"""Standard deviations beyond which an error tells of a disturbance: a transfer of 64 KiB that took
a second, once in three rounds, made the intervals of all cases ten times as wide as their errors
were. Further ones count as this (Huber 1964, Annals of Mathematical Statistics 35)."""
NORMAL = 0.6745
"""The median of the absolute errors of a normal distribution, in standard deviations."""

FEW, MANY = 1e-6, 1e6
"""Halves of degrees of freedom, between which they are looked for."""

NOTHING: Mapping[str, str] = {}

BoundBy: TypeAlias = Callable[[dict[str, Any]], Bound]
"""What bounds a simulation, by its document."""


@dataclass(frozen=True)
class CheckErrors:
    """How far a check was from its simulation, in logarithms."""

    of_rounds: tuple[float, ...]
    """The middle of the simulations less each round's measurement."""
    of_values: float
    """The variance of simulations with each round's values."""

    @property
    def square(self) -> float:
        """The mean square of the errors."""
        return statistics.fmean(it * it for it in self.of_rounds)


@dataclass(frozen=True)
class Predicted:
    """What a simulation predicts."""

    seconds: float
    """With every parameter's value."""
    interval: tuple[float, float] | None
    """Where a new measurement lies with a probability of 90 %; None if no parameter has a
    spread and no check tells of the model."""
    document: dict[str, Any] = field(default_factory=dict, repr=False, compare=False)
    """The simulation with every parameter's value, as `headrace run --json` prints it."""


def predict(
    text: str,
    figure: Callable[[dict[str, Any]], float],
    bound: Bound | BoundBy | None = None,
    sets: Mapping[str, str] = NOTHING,
) -> Predicted:
    """Simulates a scenario with the values of its calibrated parameters, and once with what
    each round of the calibration gave.

    How far single rounds of checks were from predictions tells how far a new measurement may be, of
    the checks that have the same bound, which may follow from the simulation's document, if there
    are any, or of all; so does the spread of the rounds' predictions where it is more than that of
    theirs. `sets` puts values over all of that, by path.

    Raises ScenarioError as `headrace.simulate.load` does.
    """
    scenario = simulate.load(text, sets=sets)
    document = simulate.run(scenario).json()
    seconds = figure(document)
    system = tomllib.loads(scenario.toml)
    each = [
        figure(simulate.run(simulate.load(text, sets={**values, **sets})).json())
        for values in rounds_of(system)
    ]
    own = bound(document) if callable(bound) else bound
    checks = check_errors(system, own) or check_errors(system)
    return Predicted(seconds, interval(seconds, each, list(checks.values())), document)


def check_errors(system: Mapping[str, Any], bound: Bound | None = None) -> dict[str, CheckErrors]:
    """How far checks were from their simulations, by name, by a system's file: those that have a
    bound, or all."""
    rounds: dict[str, list[tuple[float, float]]] = {}
    for it in system.get("check", []):
        if bound in (None, it["bound"]):
            times = (
                math.log(parse_seconds(it["measured"])),
                math.log(parse_seconds(it["predicted"])),
            )
            rounds.setdefault(it["name"], []).append(times)
    return {name: _errors(times) for name, times in rounds.items()}


def _errors(rounds: Sequence[tuple[float, float]]) -> CheckErrors:
    predicted = [it for _, it in rounds]
    simulated = middle(predicted)
    return CheckErrors(
        tuple(simulated - measured for measured, _ in rounds),
        statistics.variance(predicted) if len(predicted) > 1 else 0.0,
    )


def _undisturbed(checks: Sequence[CheckErrors]) -> list[CheckErrors]:
    """None of the errors further from nothing than some standard deviations of all of them, by
    their median."""
    every = [abs(error) for it in checks for error in it.of_rounds]
    most = DISTURBED * statistics.median(every) / NORMAL or math.inf
    return [
        replace(it, of_rounds=tuple(min(max(error, -most), most) for error in it.of_rounds))
        for it in checks
    ]


def interval(
    seconds: float, each: Sequence[float], checks: Sequence[CheckErrors]
) -> tuple[float, float] | None:
    """Where a new measurement lies with a probability of 90 %, around a prediction of so many
    seconds.

    Each round of a check was a new measurement: the mean square of their errors, of logarithms, has
    the model's, one measurement's, what the machine is from round to round, and how well its values
    are known, disturbances aside. What is common to all checks of a round is known from as many
    rounds, the rest from as many checks. What the rounds' predictions have more variance than those
    of the checks adds up: of one more round, and of the middle of so many; all, if there are no
    checks. The quantile is Student's, with the degrees of freedom of Welch and Satterthwaite (Welch
    1947, Biometrika 34).
    """
    parts: list[tuple[float, float]] = []
    if checks:
        checks = _undisturbed(checks)
        square = statistics.fmean(it.square for it in checks)
        rounds = [
            statistics.fmean(it) for it in zip(*(it.of_rounds for it in checks), strict=False)
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
    """The variance that rounds' predictions, of logarithms, have more than those of the checks,
    and its degrees of freedom.

    Few rounds tell little of a variance: of two, each second one is above its expectation by
    chance or nearly nothing, and what only the upper half of them adds makes intervals too wide
    (they held 96 % of the measurements of ten twins). So it is moderated by those of the checks, as
    much as they agree with one another.
    """
    own = statistics.variance([math.log(it) for it in each])
    degrees = len(each) - 1
    if not checks:
        return own, degrees
    known = statistics.fmean(it.of_values for it in checks)
    prior = _prior_degrees([it.of_values for it in checks], len(checks[0].of_rounds) - 1)
    if math.isinf(prior):
        return 0.0, degrees
    moderated = (prior * known + degrees * own) / (prior + degrees)
    return max(moderated - known, 0.0), prior + degrees


def _prior_degrees(variances: Sequence[float], degrees: int) -> float:
    """How many degrees of freedom the mean of some variances is worth for another of their kind,
    each of which is known with some: none if they have nothing in common, infinitely many if they
    differ no more than chance makes them (Smyth 2004, Statistical Applications in Genetics and
    Molecular Biology 3, article 3, section 6.2)."""
    logarithms = [math.log(it) for it in variances if it > 0]
    if degrees < 1 or len(logarithms) < 2:
        return 0.0
    from scipy import optimize, special

    def trigamma(of: float) -> float:
        return float(special.polygamma(1, of))

    beyond_chance = statistics.variance(logarithms) - trigamma(degrees / 2)
    if beyond_chance <= trigamma(MANY):
        return math.inf
    return 2 * float(optimize.brentq(lambda it: trigamma(it) - beyond_chance, FEW, MANY))
