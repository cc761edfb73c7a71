"""Search spaces: the axes of a search as Optuna's distributions."""

import itertools
import math
import warnings
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from random import Random
from typing import Any, TypeAlias

from headrace.quantities import amounts
from headrace.simulate.scenario import Scenario
from headrace.sweeps.axis import Axis, Continuum, continuum
from headrace.sweeps.designs import Point, full, merged

with warnings.catch_warnings():
    # It imports tqdm, which warns in notebooks without widgets.
    warnings.simplefilter("ignore")
    from optuna.distributions import (
        BaseDistribution,
        CategoricalDistribution,
        FloatDistribution,
        IntDistribution,
    )

Parameters: TypeAlias = Mapping[str, Any]
"""Values of Optuna's parameters by the names of axes."""


@dataclass(frozen=True)
class Dimension:
    """An axis as Optuna sees it."""

    axis: Axis
    distribution: BaseDistribution
    rows: Sequence[Point] = ()
    """Values that the parameter numbers; none for a range."""
    range: Continuum | None = None

    @property
    def size(self) -> int | None:
        """Number of values; None if there is no end of them."""
        if isinstance(self.distribution, IntDistribution):
            return self.distribution.high - self.distribution.low + 1
        return len(self.rows) or None

    @property
    def values(self) -> Iterator[Any]:
        """All values of the parameter, if they are finitely many."""
        low = self.distribution.low if isinstance(self.distribution, IntDistribution) else 0
        return iter(range(low, low + (self.size or 0)))

    def draw(self, generator: Random) -> Any:
        """Return a random value of the parameter."""
        if isinstance(self.distribution, IntDistribution):
            return generator.randint(self.distribution.low, self.distribution.high)
        return generator.randrange(len(self.rows)) if self.rows else generator.random()

    def point(self, value: Any) -> Point:
        """Return the fields at a value of the parameter."""
        if self.range is None:
            return dict(self.rows[value])
        if isinstance(self.distribution, IntDistribution):
            return {self.axis.paths[0]: self.range.field.value(value)}
        return {self.axis.paths[0]: self.range.value(value)}


@dataclass(frozen=True)
class Space:
    """All axes of a search."""

    dimensions: Sequence[Dimension]

    @property
    def size(self) -> int | None:
        """Number of points; None if there is no end of them."""
        sizes = [dimension.size for dimension in self.dimensions]
        known = [size for size in sizes if size is not None]
        return math.prod(known) if len(known) == len(sizes) else None

    @property
    def distributions(self) -> dict[str, BaseDistribution]:
        """Optuna's distributions by the names of axes."""
        return {dimension.axis.name: dimension.distribution for dimension in self.dimensions}

    def point(self, parameters: Parameters) -> Point:
        """Return the fields at values of the parameters."""
        return merged(axis.point(parameters[axis.axis.name]) for axis in self.dimensions)

    def draw(self, generator: Random) -> dict[str, Any]:
        """Return a random point."""
        return {dimension.axis.name: dimension.draw(generator) for dimension in self.dimensions}

    def every(self) -> Iterator[Parameters]:
        """All points of a finite space; the last axis changes fastest."""
        names = [dimension.axis.name for dimension in self.dimensions]
        for values in itertools.product(*(dimension.values for dimension in self.dimensions)):
            yield dict(zip(names, values, strict=True))


def space(axes: Sequence[Axis], scenario: Scenario) -> Space:
    """Return the search space of axes.

    Counts are whole numbers, other ranges are continuous. Lists of ordered amounts are ordered;
    other lists are choices.

    Raises:
        WrongAxis: A range is invalid for its field.
        ScenarioError: An end of a range is no value of its field.
    """
    return Space([_dimension(axis, scenario) for axis in axes])


def _dimension(axis: Axis, scenario: Scenario) -> Dimension:
    if axis.range is None or axis.range.count is not None:
        rows = full([axis], scenario)
        if _is_ordered(rows):
            return Dimension(axis, IntDistribution(0, len(rows) - 1), rows)
        return Dimension(axis, CategoricalDistribution(tuple(range(len(rows)))), rows)
    whole = continuum(axis, scenario)
    if whole.field.quantity == "count":
        low, high = round(whole.field.amount), round(whole.high)
        return Dimension(axis, IntDistribution(low, high, log=whole.scale == "log"), (), whole)
    return Dimension(axis, FloatDistribution(0.0, 1.0), (), whole)


def _is_ordered(rows: Sequence[Point]) -> bool:
    """Return whether the values of every field rise or fall all the way."""
    for path in rows[0]:
        read = amounts([row[path] for row in rows])
        if read is None:
            return False
        steps = [after - before for before, after in itertools.pairwise(read[0])]
        if not (all(step > 0 for step in steps) or all(step < 0 for step in steps)):
            return False
    return True
