"""Figure of a sensitivity analysis: bars for each axis of a sweep."""

import numpy as np
import polars as pl
from matplotlib.figure import Figure

from headrace.quantities import SHOWN_FIGURES
from headrace.report.figures.style import COLOURS, legend_below, nothing, sheet, short

MOST = 20
"""Axes that are shown."""
LONGEST_LABEL = 40


def draw(name: str, indices: pl.DataFrame, figure: str) -> Figure:
    """Draw two bars for each axis: first order and total indices, or mu* and sigma.

    Args:
        name: Name of the scenario.
        indices: Sensitivity as `Sweep.sensitivity` has it, the most important axis first.
        figure: Name of the figure that varies.
    """
    shown_as = SHOWN_FIGURES[figure]
    shown = indices.head(MOST)
    drawn, axes = sheet(f"Sensitivity of {shown_as.words}", name, 1.7 + 0.5 * max(shown.height, 3))
    if "st" in shown.columns:
        axes.set_xlabel("part of the variance")
        bars = (
            ("s1", "s1_half_width", "alone (S1)", 1.0),
            ("st", "st_half_width", "with interactions (ST)", 1.0),
        )
    else:
        axes.set_xlabel(f"change of the {shown_as.label} over the whole range")
        bars = (
            ("mu_star", "mu_star_half_width", "mean size (mu*)", shown_as.factor),
            ("sigma", "", "spread (sigma)", shown_as.factor),
        )
    if shown[bars[1][0]].is_null().all():
        nothing(axes, f"{shown_as.words} does not vary")
        return drawn
    rows = np.arange(shown.height)
    for number, (column, width, text, scale) in enumerate(bars):
        intervals = (shown[width].fill_null(0.0) * scale).to_numpy() if width else None
        axes.barh(
            rows + 0.19 * (2 * number - 1),
            (shown[column].fill_null(0.0) * scale).to_numpy(),
            height=0.36,
            xerr=intervals,
            error_kw={"elinewidth": 1, "capsize": 2},
            color=COLOURS[number],
            label=text,
        )
    axes.set_yticks(rows, [short(path, LONGEST_LABEL) for path in shown["path"]])
    axes.axvline(0, color="#444444", linewidth=1)
    axes.invert_yaxis()
    axes.grid(visible=False, axis="y")
    legend_below(axes, 2)
    return drawn
