"""Predictions whose intervals are so wide that they tell little: which, and why."""

import math
import statistics
import tomllib
from collections.abc import Mapping, Sequence
from pathlib import Path

from headrace import simulate
from headrace.calibrate.machine_work import work_on
from headrace.calibrated import rounds_of
from headrace.report.units import duration
from headrace.validate.point import Point
from headrace.validate.prediction import check_errors

WIDE = 10.0
"""Between the ends of an interval: what may be of another order of magnitude is not predicted."""
APART = 2.0
"""Between the rounds of a parameter: less than that makes no interval so wide, even of two rounds
(Student's quantile for 90 % and one degree of freedom is 6.3)."""

CONDITION = "wide-intervals"


def wide(points: Sequence[Point], machine: Path, work: str) -> list[dict[str, str]]:
    """A warning, as documents have it, if intervals of predictions from a machine's file are
    wider than a factor of `WIDE`; else nothing. `work` is any that the machine can do."""
    found = [it for it in points if _width(it) > WIDE]
    if not found:
        return []
    widest = max(found, key=_width)
    least, most = widest.predicted.interval or (0.0, 0.0)
    message = (
        f"{len(found)} of {len(points)} predictions have an interval wider than a factor of"
        f" {WIDE:g}, the widest {widest.name!r} with {duration(least)} to {duration(most)}:"
        f" {_why(machine, work)}: calibrate with more rounds, or when the machine is less busy"
    )
    return [{"condition": CONDITION, "message": message}]


def _width(point: Point) -> float:
    least, most = point.predicted.interval or (1.0, 1.0)
    return most / least if least > 0 else float("inf")


def _why(machine: Path, work: str) -> str:
    """What differed most, of the rounds of the calibration or of checks from their simulations."""
    text = work_on(machine, work)
    system = tomllib.loads(simulate.load(text).toml)
    rounds = rounds_of(system)
    each = [_amounts(text, values) for values in rounds]
    apart: dict[str, float] = {}
    for path in rounds[0] if rounds else ():
        amounts = [of[path] for of in each if path in of]
        # One that is nothing in a round changes little by being little in another.
        if amounts and min(amounts) > 0:
            apart[path] = max(amounts) / min(amounts)
    field = max(apart, key=lambda it: apart[it], default=None)
    if field is not None and apart[field] >= APART:
        return f"{len(rounds)} rounds gave {field} = {', '.join(of[field] for of in rounds)}"
    checks = check_errors(system)
    name = max(checks, key=lambda it: checks[it].square, default=None)
    if name is None:
        return f"so few rounds, {len(rounds)}, tell little of the spread"
    times = math.exp(statistics.median(checks[name].of_rounds))
    return f"the simulation of the check {name!r} took {times:.2g} times as long as it"


def _amounts(text: str, sets: Mapping[str, str]) -> dict[str, float]:
    return {it.path: it.amount for it in simulate.load(text, sets=sets).quantities}
