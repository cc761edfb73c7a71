"""A prediction with its interval, from how well the parameters and the model are known."""

import math
import statistics
import tomllib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from headrace import simulate
from headrace._core import parse_seconds
from headrace.calibrate.case import Bound

COVERAGE = 0.9
"""Which part of new measurements the interval is to hold."""

NOTHING: Mapping[str, str] = {}


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
    bound: Bound | None = None,
    sets: Mapping[str, str] = NOTHING,
) -> Predicted:
    """Simulates a scenario with the values of its calibrated parameters, and once with what
    each round of the calibration gave.

    One round is what the machine was at a time: its values go together. The spread of the
    rounds' predictions is that of the parameters; how far checks were in a round from their
    simulations is that of the model and of a single measurement: the checks that have the same
    bound, or all. `sets` puts values over all
    of that, by path.

    Raises ScenarioError as `headrace.simulate.load` does.
    """
    scenario = simulate.load(text, sets=sets)
    document = simulate.run(scenario).json()
    middle = figure(document)
    system = tomllib.loads(scenario.toml)
    calibrated = system.get("calibration", [])
    rounds = min((len(it["values"]) for it in calibrated), default=0)
    each = []
    for number in range(rounds):
        values = {it["field"]: it["values"][number] for it in calibrated}
        each.append(figure(simulate.run(simulate.load(text, sets={**values, **sets})).json()))
    checks: dict[str, list[float]] = {}
    for it in system.get("check", []):
        if bound in (None, it["bound"]):
            error = math.log(parse_seconds(it["predicted"]) / parse_seconds(it["measured"]))
            checks.setdefault(it["name"], []).append(error)
    # A check's rounds tell little more of the model than one of them.
    errors = [math.sqrt(statistics.fmean(error * error for error in of)) for of in checks.values()]
    return Predicted(middle, interval(middle, each, errors), document)


def interval(
    middle: float, each: Sequence[float], errors: Sequence[float]
) -> tuple[float, float] | None:
    """Where a new measurement lies with a probability of 90 %, around a prediction of `middle`.

    The logarithms of what the rounds predict have a deviation; so have the `errors` of the model,
    logarithms too, whose mean ought to be 0. The variances of one more round and of one more
    error add up; the quantile is Student's, with the degrees of freedom of Welch and
    Satterthwaite (Welch 1947, Biometrika 34).
    """
    parts: list[tuple[float, int]] = []
    if len(each) > 1 and min(each) > 0:
        variance = statistics.variance([math.log(it) for it in each])
        parts.append((variance * (1 + 1 / len(each)), len(each) - 1))
    if errors:
        parts.append((statistics.fmean(it * it for it in errors), len(errors)))
    total = sum(variance for variance, _ in parts)
    if not parts or middle <= 0:
        return None
    if total == 0:
        return middle, middle
    from scipy import stats

    freedom = total**2 / sum(variance**2 / degrees for variance, degrees in parts)
    reach = math.exp(float(stats.t.ppf((1 + COVERAGE) / 2, freedom)) * math.sqrt(total))
    return middle / reach, middle * reach
