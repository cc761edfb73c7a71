"""Designs: which points of the axes a sweep runs.

A design is added by a function and one line in `DESIGNS`.
"""

import itertools
import math
import os
from collections.abc import Callable, Iterable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import NamedTuple, TypeAlias

from headrace.simulate.scenario import Scenario
from headrace.sweeps.axis import Axis, Continuum, Value, WrongAxis, continuum, numbers
from headrace.sweeps.sensitivity import METHODS, Coordinates, of_designs, power_of_two

Point: TypeAlias = dict[str, Value]
"""Values by path."""
Sampler: TypeAlias = Callable[[int, int, int], Coordinates]
"""Coordinates of samples, from dimensions, samples and a seed."""
MOST_POINTS = 1_000_000
"""Most points of a design."""


def full(axes: Sequence[Axis], scenario: Scenario) -> list[Point]:
    """Return every combination of the values; the last axis changes fastest.

    Raises:
        WrongAxis: A range has no number of values, or there are too many points.
    """
    count = math.prod(len(one.rows) if one.range is None else one.range.count or 1 for one in axes)
    if count > MOST_POINTS:
        raise WrongAxis(f"{count:,} points: expected at most {MOST_POINTS:,}; use the design sobol")
    every = [_rows(axis, scenario) for axis in axes]
    return [merged(rows) for rows in itertools.product(*every)]


def at_coordinates(
    axes: Sequence[Axis], scenario: Scenario, coordinates: Coordinates
) -> list[Point]:
    """Return the point at each row of coordinates.

    Args:
        axes: The axes, one for each column.
        scenario: The scenario that they change.
        coordinates: Rows of numbers from 0 to 1.
    """
    ranges = [None if axis.range is None else continuum(axis, scenario) for axis in axes]
    columns = list(zip(axes, ranges, strict=True))
    return [
        merged([_at(*column, float(part)) for column, part in zip(columns, row, strict=True)])
        for row in coordinates
    ]


def latin_hypercube(dimensions: int, samples: int, seed: int) -> Coordinates:
    """Latin hypercube: each of `samples` equal parts of each axis has one point (McKay, Beckman
    and Conover 1979)."""
    # Slow to import, and needed by samples alone.
    from scipy.stats import qmc

    return qmc.LatinHypercube(dimensions, rng=seed).random(samples).tolist()


def sobol(dimensions: int, samples: int, seed: int) -> Coordinates:
    """Scrambled Sobol sequence (Owen 1998); the number of samples is rounded up to a power of
    2, for which it is balanced."""
    from scipy.stats import qmc

    power = power_of_two(samples).bit_length() - 1
    return qmc.Sobol(dimensions, rng=seed).random_base2(power).tolist()


DESIGNS: Mapping[str, Sampler | None] = {
    "full": None,
    "latin-hypercube": latin_hypercube,
    "sobol": sobol,
    **{method.design: method.sample for method in METHODS.values()},
}
"""Designs by name; the full one takes no samples."""


class Designed(NamedTuple):
    """The points of a design."""

    points: list[Point]
    coordinates: Coordinates = ()
    """Rows of numbers from 0 to 1, a column for each axis; none for a full design."""


def design(
    name: str, axes: Sequence[Axis], scenario: Scenario, samples: int | None, seed: int
) -> Designed:
    """Return the points of a design.

    Args:
        name: One of `DESIGNS`.
        axes: Axes, at least one.
        scenario: The scenario that they change.
        samples: Number of points, of rows (`saltelli`) or of trajectories (`morris`); not for a
            full design.
        seed: Seed of the sampler.

    Raises:
        WrongAxis: The design cannot be made of the axes.
        ScenarioError: The end of a range is no value of its field.
    """
    if name not in DESIGNS:
        raise WrongAxis(f"design {name!r}: expected {', '.join(DESIGNS)}")
    sampler = DESIGNS[name]
    if sampler is None:
        if samples is not None:
            raise WrongAxis(
                "a full design has all combinations: leave samples out, or choose the design"
                " latin-hypercube or sobol"
            )
        return Designed(full(axes, scenario))
    if samples is None or samples < 1:
        raise WrongAxis(f"design {name}: give the number of samples, such as 64")
    runs = samples * (len(axes) + 2) if name in of_designs() else samples
    if runs > MOST_POINTS:
        raise WrongAxis(
            f"{samples:,} samples are {runs:,} points: expected at most {MOST_POINTS:,}"
        )
    coordinates = sampler(len(axes), samples, seed)
    return Designed(at_coordinates(axes, scenario, coordinates), coordinates)


def _rows(axis: Axis, scenario: Scenario) -> list[Point]:
    if axis.range is None:
        return [dict(zip(axis.paths, row, strict=True)) for row in axis.rows]
    span = axis.range
    if span.count is None:
        raise WrongAxis(
            f"{axis.name}={span.low}..{span.high}: a full design needs the number of values, such"
            f" as {span.low}..{span.high}:5"
        )
    whole = continuum(axis, scenario)
    parts = numbers(0.0, 1.0, "linear", span.count)
    with ThreadPoolExecutor(len(os.sched_getaffinity(0))) as pool:
        # Scenarios are loaded without Python's lock.
        values = list(pool.map(lambda part: whole.in_short(whole.value(part)), parts))
    rows = [{axis.paths[0]: value} for value in values]
    # Rounded counts may meet.
    return [row for at, row in enumerate(rows) if at == 0 or row != rows[at - 1]]


def _at(axis: Axis, whole: Continuum | None, part: float) -> Point:
    if whole is not None:
        return {axis.paths[0]: whole.value(part)}
    row = axis.rows[min(int(part * len(axis.rows)), len(axis.rows) - 1)]
    return dict(zip(axis.paths, row, strict=True))


def merged(parts: Iterable[Point]) -> Point:
    """Return the fields of several axes as one point."""
    return {path: value for part in parts for path, value in part.items()}
