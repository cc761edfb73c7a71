"""Sensitivity: which axes of a sweep a figure depends on (SALib).

A method is added by its two functions and one line in `METHODS`.
"""

import math
import warnings
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

import msgspec
import numpy as np
import numpy.typing as npt

from headrace.late_imports import imports_of

Coordinates: TypeAlias = Sequence[Sequence[float]]
"""Rows of numbers from 0 to 1, a column for each axis."""
Array: TypeAlias = npt.NDArray[np.float64]
LEVELS = 4
"""Levels of each axis in Morris' design, as Campolongo, Cariboni and Saltelli (2007) use them."""
FEWEST_BLOCKS = 2
"""Fewest blocks of samples with indices."""


class Index(msgspec.Struct, frozen=True, omit_defaults=True):
    """Sensitivity of one figure to one axis; None where the figure does not vary.

    `s1` and `st` are parts of the figure's variance; `mu_star` and `sigma` have the figure's unit.
    Half widths are those of 95 % bootstrap intervals.

    Examples:
        >>> scenario = hr.load("scenarios/striped-read.toml", {"workload.files": 10})
        >>> sweep = hr.sweep(scenario, {"servers.count": "2..8"}, sensitivity="morris", samples=2)
        >>> index = sweep.sensitivities.figures["throughput"][0]
        >>> index.path, index.rank == index.mu_star
        ('servers.count', True)
    """

    path: str
    s1: float | None = None
    """Part of the variance that the axis causes alone (first order)."""
    s1_half_width: float | None = None
    st: float | None = None
    """Part of the variance that the axis causes alone and together with others (total)."""
    st_half_width: float | None = None
    mu: float | None = None
    """Mean elementary effect: change of the figure over the whole axis."""
    mu_star: float | None = None
    """Mean absolute elementary effect."""
    mu_star_half_width: float | None = None
    sigma: float | None = None
    """Standard deviation of the elementary effects: interactions and curvature."""

    @property
    def rank(self) -> float:
        """The importance of the axis: `st` or `mu_star`."""
        value = self.st if self.mu_star is None else self.mu_star
        return -math.inf if value is None else value


class Sensitivity(msgspec.Struct, frozen=True):
    """Sensitivity of the figures of a sweep to its axes.

    Examples:
        >>> scenario = hr.load("scenarios/striped-read.toml", {"workload.files": 10})
        >>> sweep = hr.sweep(scenario, {"servers.count": "2..8"}, sensitivity="morris", samples=2)
        >>> sweep.sensitivities.method, sweep.sensitivities.blocks, sweep.sensitivities.dropped
        ('morris', 2, 0)
    """

    method: str
    """`sobol` or `morris`."""
    blocks: int
    """Blocks of samples that the indices come from: rows, or trajectories."""
    dropped: int
    """Blocks without indices, because a point of theirs has failed."""
    figures: Mapping[str, Sequence[Index]]
    """Indices by figure, the most important axis first."""
    error: str = ""
    """Why there are no indices."""


@dataclass(frozen=True)
class Method:
    """A method of sensitivity analysis."""

    design: str
    """Name of its design."""
    more: int
    """Points of a block beyond the number of axes."""
    sample: Callable[[int, int, int], Coordinates]
    """Coordinates, from dimensions, samples and a seed."""
    analyse: Callable[[Sequence[str], Array, Array], list[Index]]
    """Indices, from paths, coordinates and a figure of each point."""
    columns: Sequence[str]
    """Fields of its indices, in the order of tables."""


def saltelli(dimensions: int, samples: int, seed: int) -> Coordinates:
    """Saltelli's design for Sobol indices (Saltelli et al. 2010).

    A row has two random points, and for each axis the first with that axis of the second. The
    number of rows is a power of 2.
    """
    with imports_of("sensitivity"):
        from SALib.sample import sobol  # type: ignore[import-untyped]

    rows = sobol.sample(
        _problem(_letters(dimensions)), power_of_two(samples), calc_second_order=False, seed=seed
    )
    return [[float(part) for part in row] for row in rows]


def morris(dimensions: int, samples: int, seed: int) -> Coordinates:
    """Morris' design (1991): trajectories that change one axis at a time."""
    with imports_of("sensitivity"):
        from SALib.sample import morris

    rows = morris.sample(_problem(_letters(dimensions)), samples, LEVELS, seed=seed)
    return [[float(part) for part in row] for row in rows]


def power_of_two(count: int) -> int:
    """Return the smallest power of 2 that is at least `count`."""
    return 1 << max(count - 1, 0).bit_length()


def sensitivity(
    method: str,
    paths: Sequence[str],
    coordinates: Coordinates,
    figures: Mapping[str, Sequence[float | None]],
) -> Sensitivity:
    """Return the sensitivity of figures to the axes of a design.

    Args:
        method: One of `METHODS`.
        paths: Name of each axis.
        coordinates: The points of the method's design.
        figures: The figures of each point; None for a point that has failed.

    Returns:
        The indices; an error if fewer than two blocks have all their points.
    """
    kind = METHODS[method]
    size = len(paths) + kind.more
    block = np.arange(len(coordinates)) // size
    missing = np.zeros(len(coordinates), dtype=bool)
    known = {name: values for name, values in figures.items() if any(x is not None for x in values)}
    missing |= not known
    for values in known.values():
        missing |= np.array([value is None for value in values])
    lost = np.unique(block[missing])
    kept = ~np.isin(block, lost)
    blocks = len(coordinates) // size - len(lost)
    if blocks < FEWEST_BLOCKS:
        return Sensitivity(
            method,
            blocks,
            len(lost),
            {},
            f"sensitivity: {blocks} of {blocks + len(lost)} blocks of {size} points succeeded:"
            f" expected {FEWEST_BLOCKS} or more; take more samples, or ranges whose values all run",
        )
    at = np.asarray(coordinates, dtype=np.float64)[kept]
    order = {}
    for name, values in known.items():
        figure = np.array([math.nan if value is None else value for value in values])[kept]
        with warnings.catch_warnings(), np.errstate(all="ignore"):
            # SALib warns of figures that do not vary; their indices are None.
            warnings.simplefilter("ignore")
            indices = kind.analyse(paths, at, figure)
        order[name] = sorted(indices, key=lambda index: -index.rank)
    return Sensitivity(method, blocks, len(lost), order)


def of_designs() -> dict[str, str]:
    """Return the methods by the name of their design."""
    return {method.design: name for name, method in METHODS.items()}


def _sobol_indices(paths: Sequence[str], _: Array, figure: Array) -> list[Index]:
    from SALib.analyze import sobol  # type: ignore[import-untyped]

    if np.ptp(figure) == 0.0:
        return [Index(path) for path in paths]
    analysis: Mapping[str, Any] = sobol.analyze(
        _problem(paths), figure, calc_second_order=False, seed=1
    )
    keys = {"s1": "S1", "s1_half_width": "S1_conf", "st": "ST", "st_half_width": "ST_conf"}
    return _indices(paths, analysis, keys)


def _morris_indices(paths: Sequence[str], coordinates: Array, figure: Array) -> list[Index]:
    from SALib.analyze import morris

    analysis: Mapping[str, Any] = morris.analyze(
        _problem(paths), coordinates, figure, num_levels=LEVELS, seed=1
    )
    keys = {
        "mu": "mu",
        "mu_star": "mu_star",
        "mu_star_half_width": "mu_star_conf",
        "sigma": "sigma",
    }
    return _indices(paths, analysis, keys)


def _indices(
    paths: Sequence[str], analysis: Mapping[str, Any], keys: Mapping[str, str]
) -> list[Index]:
    return [
        Index(path, **{name: _number(analysis[key][at]) for name, key in keys.items()})
        for at, path in enumerate(paths)
    ]


def _number(value: Any) -> float | None:
    number = float(value)
    return number if math.isfinite(number) else None


def _problem(paths: Sequence[str]) -> dict[str, Any]:
    # Numbered: SALib takes equal names as a group.
    names = [f"{number} {path}" for number, path in enumerate(paths)]
    return {"num_vars": len(paths), "names": names, "bounds": [[0.0, 1.0]] * len(paths)}


def _letters(count: int) -> list[str]:
    return [f"axis {number}" for number in range(count)]


METHODS: Mapping[str, Method] = {
    "sobol": Method(
        "saltelli", 2, saltelli, _sobol_indices, ("s1", "s1_half_width", "st", "st_half_width")
    ),
    "morris": Method(
        "morris", 1, morris, _morris_indices, ("mu", "mu_star", "mu_star_half_width", "sigma")
    ),
}
"""Methods by name."""
