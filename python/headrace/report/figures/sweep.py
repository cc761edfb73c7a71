"""Figure of a sweep: a figure over one field, a line for each combination of the others. Points of
samplers, which share no lines, are dots over each field."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import polars as pl
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import EngFormatter, FuncFormatter, NullFormatter

from headrace.quantities import SHOWN_FIGURES, amounts
from headrace.report.figures.style import (
    COLOURS,
    DASHES,
    WIDTH,
    NotebookFigure,
    grid,
    nothing,
    sheet,
    short,
)
from headrace.sweeps.result import FIGURES

MOST_LINES = 12
"""Most lines of one figure."""
MOST_PANELS = 6
"""Most fields with dots."""
MOST_TICKS = 8
"""Most values that are written below an axis one by one."""
ACROSS = 3
"""Panels side by side."""


def draw(name: str, paths: Sequence[str], points: pl.DataFrame, figure: str) -> Figure:
    """Draw the means with their 95 % intervals.

    Args:
        name: Name of the scenario.
        paths: Fields that vary. The one with most values is the horizontal axis.
        points: Points as `Sweep.points` has them.
        figure: Name of the figure.
    """
    column, shown_as = FIGURES[figure], SHOWN_FIGURES[figure]
    known = points.filter(pl.col(column).is_not_null()) if points.height else points
    if known.is_empty():
        drawn, axes = sheet("Sweep", name)
        axes.set_ylabel(shown_as.label)
        nothing(axes, "no point has this figure")
        return drawn
    across = max(paths, key=lambda path: known[path].n_unique())
    others = [path for path in paths if path != across and known[path].n_unique() > 1]
    lines = known.partition_by(others, maintain_order=True, as_dict=True) if others else {(): known}
    if len(lines) > MOST_LINES and 2 * len(lines) > known.height:
        return _dots(name, paths, known, figure)
    drawn, axes = sheet("Sweep", name)
    axes.set_ylabel(shown_as.label)
    scale = _Scale.of(known[across])
    for number, (values, rows) in enumerate(list(lines.items())[:MOST_LINES]):
        rows = rows.sort(pl.Series([scale.at[value] for value in rows[across]]))
        axes.errorbar(
            [scale.at[value] for value in rows[across]],
            (rows[column] * shown_as.factor).to_list(),
            yerr=(rows[f"{column}_half_width"].fill_null(0.0) * shown_as.factor).to_list(),
            marker="o",
            markersize=4,
            capsize=2,
            color=COLOURS[number % len(COLOURS)],
            linestyle=DASHES[number // len(COLOURS)] if len(lines) <= MOST_LINES else "none",
            label=short(" ".join(f"{p}={v}" for p, v in zip(others, values, strict=True)), 50),
        )
    scale.put(axes, short(across, 60))
    axes.set_ylim(bottom=0)
    if others:
        title = None if len(lines) <= MOST_LINES else f"first {MOST_LINES} of {len(lines)} lines"
        axes.legend(frameon=False, fontsize="small", title=title)
    return drawn


def _dots(name: str, paths: Sequence[str], known: pl.DataFrame, figure: str) -> Figure:
    """Draw a dot for each point, once over each field."""
    column, shown_as = FIGURES[figure], SHOWN_FIGURES[figure]
    shown = [path for path in paths if known[path].n_unique() > 1][:MOST_PANELS]
    lines = math.ceil(len(shown) / ACROSS)
    drawn = NotebookFigure(figsize=(WIDTH, 1.0 + 2.7 * lines), layout="constrained")
    drawn.suptitle(f"Sweep: {short(name, 60)}", x=0.01, ha="left", fontweight="bold")
    wide = min(len(shown), ACROSS)
    panels = drawn.subplots(lines, wide, sharey=True, squeeze=False)
    for number, axes in enumerate(panels.flat):
        if number >= len(shown):
            axes.set_visible(False)
            continue
        path = shown[number]
        scale = _Scale.of(known[path])
        grid(axes)
        axes.plot(
            [scale.at[value] for value in known[path]],
            (known[column] * shown_as.factor).to_list(),
            "o",
            markersize=3,
            alpha=0.6,
            color=COLOURS[0],
        )
        scale.put(axes, short(path, 30))
        if number % wide == 0:
            axes.set_ylabel(shown_as.label)
        axes.set_ylim(bottom=0)
    return drawn


@dataclass(frozen=True)
class _Scale:
    """Places of a field's values on an axis."""

    at: Mapping[Any, float]
    unit: str | None
    """Unit of the places; None for values that are no amounts, side by side."""

    @classmethod
    def of(cls, column: pl.Series) -> "_Scale":
        values = column.unique(maintain_order=True).to_list()
        found = amounts(values)
        if found is None:
            return cls({value: float(place) for place, value in enumerate(values)}, None)
        return cls(dict(zip(values, found[0], strict=True)), found[1])

    def put(self, axes: Axes, label: str) -> None:
        """Set the scale, the ticks and the label of a horizontal axis."""
        axes.set_xlabel(label)
        places = list(self.at.values())
        if self.unit is not None and spans_decades(places):
            axes.set_xscale("log")
        if self.unit is None or len(places) <= MOST_TICKS:
            axes.set_xticks(places, [short(str(value), 16) for value in self.at])
            axes.set_xticks([], minor=True)
        else:
            # Not matplotlib's own of log scales, which writes formulas.
            axes.xaxis.set_major_formatter(
                EngFormatter(self.unit) if self.unit else FuncFormatter(lambda x, _: f"{x:g}")
            )
            axes.xaxis.set_minor_formatter(NullFormatter())


def spans_decades(values: Sequence[float]) -> bool:
    """Return whether positive values are so far apart that a log scale shows them better."""
    return min(values) > 0 and max(values) / min(values) >= 10
