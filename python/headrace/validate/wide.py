"""Predictions whose intervals are so wide that they tell little: which, and why."""

import math
import statistics
import tomllib
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import NamedTuple, cast

from headrace import simulate
from headrace.calibrate.case import Bound, Case
from headrace.calibrate.machine_work import work_on
from headrace.calibration_fields import rounds_of
from headrace.report.units import duration
from headrace.validate.point import Point
from headrace.validate.prediction import NOTHING, check_errors

WIDE = 10.0
"""Between the ends of an interval: what may be of another order of magnitude is not predicted."""
APART = 2.0
"""Between predictions with the values that the rounds gave a parameter: less than that makes no
interval so wide, even of two rounds (Student's quantile for 90 % and one degree of freedom is
6.3)."""

CONDITION = "wide-intervals"


def wide(
    points: Sequence[Point],
    machine: Path,
    cases: Sequence[Case],
    sets: Mapping[str, str] = NOTHING,
) -> list[dict[str, str]]:
    """A warning, as documents have it, if prediction intervals are wider than a factor of `WIDE`.

    The points are predictions of the cases, in their order, from a machine's file with `sets` put
    over it, by path.
    """
    found = [number for number, it in enumerate(points) if _width(it) > WIDE]
    if not found:
        return []
    number = max(found, key=lambda it: _width(points[it]))
    widest = points[number]
    least, most = widest.predicted.interval or (0.0, 0.0)
    message = (
        f"{len(found)} of {len(points)} predictions have an interval wider than a factor of"
        f" {WIDE:g}, the widest {widest.name!r} with {duration(least)} to {duration(most)}:"
        f" {_why(widest, machine, cases[number], sets)}: calibrate with more rounds, or when the"
        " machine is less busy"
    )
    return [{"condition": CONDITION, "message": message}]


def _width(point: Point) -> float:
    least, most = point.predicted.interval or (1.0, 1.0)
    return most / least if least > 0 else float("inf")


def _why(point: Point, machine: Path, case: Case, sets: Mapping[str, str]) -> str:
    """The parameter whose rounds change this prediction most, or the check that misses most.

    A parameter's own spread says little: one that is 0 in a round may decide everything, and one
    that varies tenfold nothing of this case.
    """
    text = work_on(machine, case.work)
    system = tomllib.loads(simulate.load(text, sets=sets).toml)
    rounds = rounds_of(system)
    effects = {}
    for field in rounds[0] if rounds else ():
        values = dict.fromkeys(of[field] for of in rounds)
        if field not in sets and len(values) > 1:
            effects[field] = _range(
                [
                    case.seconds(simulate.run(simulate.load(text, sets={**sets, field: it})).json())
                    for it in values
                ]
            )
    checks = check_errors(system, cast(Bound, point.group)) or check_errors(system)
    most = max(effects, key=lambda it: effects[it].factor, default=None)
    name = max(checks, key=lambda it: checks[it].square, default=None)
    if most is not None and effects[most].factor >= APART:
        found = effects[most]
        return (
            f"{len(rounds)} rounds gave {most} = {', '.join(of[most] for of in rounds)}, which"
            f" alone predict {duration(found.least)} to {duration(found.most)}"
        )
    if name is None:
        return f"so few rounds, {len(rounds)}, tell little of the spread"
    times = math.exp(statistics.median(checks[name].of_rounds))
    return f"the simulation of the check {name!r} took {times:.2g} times as long as it"


class _Range(NamedTuple):
    """Predictions with one parameter at the value of each round."""

    least: float
    most: float

    @property
    def factor(self) -> float:
        return self.most / self.least if self.least > 0 else math.inf


def _range(seconds: Sequence[float]) -> _Range:
    return _Range(min(seconds), max(seconds))
