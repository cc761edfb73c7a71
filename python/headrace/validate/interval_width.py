"""Warn about predictions with wide intervals, and name the cause."""

import math
import statistics
import tomllib
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import NamedTuple, cast

from headrace import simulate
from headrace.calibrate.case import Case, Resource, scenario_for_machine
from headrace.calibrate.run_report import simulated
from headrace.calibration_fields import rounds_of
from headrace.measure.report import ResultWarning
from headrace.quantities import duration
from headrace.validate.point import Point
from headrace.validate.prediction import NOTHING, check_errors

WIDE = 10.0
"""Ratio of an interval's ends beyond which the interval is too wide: the prediction is then
uncertain by an order of magnitude."""
APART = 2.0
"""Ratio of predictions with a parameter's extreme rounds. A smaller one widens no interval that
much, even with two rounds (Student's quantile for 90 % and one degree of freedom is 6.3)."""

CONDITION = "wide-intervals"


def interval_width_warnings(
    points: Sequence[Point], machine: Path, cases: Sequence[Case], sets: Mapping[str, str] = NOTHING
) -> list[ResultWarning]:
    """Return a warning if prediction intervals are wider than a factor of `WIDE`.

    Parameters
    ----------
    points
        Predictions of the cases, in their order.
    machine
        Path of the machine file.
    cases
        The cases.
    sets
        Values that override the machine file, by path.
    """
    wide = [number for number, point in enumerate(points) if _width(point) > WIDE]
    if not wide:
        return []
    number = max(wide, key=lambda index: _width(points[index]))
    widest = points[number]
    least, most = widest.predicted.interval or (0.0, 0.0)
    message = (
        f"{len(wide)} of {len(points)} predictions have an interval wider than a factor of"
        f" {WIDE:g}, the widest {widest.name!r} with {duration(least)} to {duration(most)}:"
        f" {_why(widest, machine, cases[number], sets)}: calibrate with more rounds, or when the"
        " machine is less busy"
    )
    return [ResultWarning(CONDITION, message)]


def _width(point: Point) -> float:
    least, most = point.predicted.interval or (1.0, 1.0)
    return most / least if least > 0 else float("inf")


def _why(point: Point, machine: Path, case: Case, sets: Mapping[str, str]) -> str:
    """Return the parameter whose rounds change the prediction most, or the check with the largest
    error.

    The spread of a parameter alone says little: it may have no effect on this case.
    """
    text = scenario_for_machine(machine, case.work)
    system = tomllib.loads(simulate.load(text, sets=sets).toml)
    rounds = rounds_of(system)
    effects = {}
    for field in rounds[0] if rounds else ():
        values = dict.fromkeys(errors[field] for errors in rounds)
        if field not in sets and len(values) > 1:
            effects[field] = _range(
                [case.seconds(simulated(text, {**sets, field: value})) for value in values]
            )
    checks = check_errors(system, cast(Resource, point.group)) or check_errors(system)
    most = max(effects, key=lambda path: effects[path].factor, default=None)
    name = max(checks, key=lambda index: checks[index].square, default=None)
    if most is not None and effects[most].factor >= APART:
        effect = effects[most]
        return (
            f"{len(rounds)} rounds gave {most} = {', '.join(row[most] for row in rounds)}, which"
            f" alone predict {duration(effect.least)} to {duration(effect.most)}"
        )
    if name is None:
        return f"{len(rounds)} rounds are too few to estimate the spread"
    times = math.exp(statistics.median(checks[name].of_rounds))
    return f"the check {name!r} was simulated {times:.2g} times as long as measured"


class _Range(NamedTuple):
    """Predictions with one parameter at each round's value."""

    least: float
    most: float

    @property
    def factor(self) -> float:
        return self.most / self.least if self.least > 0 else math.inf


def _range(seconds: Sequence[float]) -> _Range:
    return _Range(min(seconds), max(seconds))
