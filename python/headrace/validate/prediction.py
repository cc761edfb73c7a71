"""A prediction with its interval, from how well the parameters are known."""

import math
import statistics
import tomllib
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from headrace import simulate

COVERAGE = 0.9
"""Which part of new measurements the interval is to hold."""


@dataclass(frozen=True)
class Predicted:
    """What a simulation predicts."""

    seconds: float
    """With every parameter's median."""
    interval: tuple[float, float] | None
    """Where a new measurement lies with a probability of 90 %; None if no parameter has a
    spread."""
    document: dict[str, Any] = field(default_factory=dict, repr=False, compare=False)
    """The simulation with every parameter's median, as `headrace run --json` prints it."""


def predict(text: str, figure: Callable[[dict[str, Any]], float]) -> Predicted:
    """Simulates a scenario with the medians of its calibrated parameters, and once with what
    each round of the calibration gave.

    One round is what the machine was at a time: its values go together. Of the logarithms of
    the rounds' predictions, mean and deviation give the interval in which one more round lies
    (the prediction interval of Student's distribution).

    Raises ScenarioError as `headrace.simulate.load` does.
    """
    scenario = simulate.load(text)
    document = simulate.run(scenario).json()
    calibrated = tomllib.loads(scenario.toml).get("calibration", [])
    rounds = min((len(it["values"]) for it in calibrated), default=0)
    each = []
    for number in range(rounds):
        sets = {it["field"]: it["values"][number] for it in calibrated}
        each.append(figure(simulate.run(simulate.load(text, sets=sets)).json()))
    return Predicted(figure(document), _interval(each), document)


def _interval(each: list[float]) -> tuple[float, float] | None:
    if len(each) < 2 or min(each) <= 0:
        return None
    from scipy import stats

    logarithms = [math.log(it) for it in each]
    mean, deviation = statistics.fmean(logarithms), statistics.stdev(logarithms)
    reach = float(stats.t.ppf((1 + COVERAGE) / 2, len(each) - 1))
    reach *= deviation * math.sqrt(1 + 1 / len(each))
    return math.exp(mean - reach), math.exp(mean + reach)
