"""Figure of the utilisation of each station."""

import numpy as np
import polars as pl
from matplotlib.figure import SubFigure
from matplotlib.ticker import PercentFormatter

from headrace.quantities import figure as written
from headrace.render.style import COLOURS, Figures, Sheet, nothing, sheet, short

MOST = 30
"""Stations that are shown."""
LONGEST_LABEL = 48
"""Half of the figure is left for the bars."""


def draw(data: Figures, on: SubFigure | None = None) -> Sheet:
    """Draw the utilisation of stations, mean over a station's copies, highest first.

    Each bar has the mean queue length beside it, and a mark for the busiest copy.
    """
    table = _shown(data)
    figure, axes = sheet("Utilisation of stations", data.name, height(data), on)
    axes.set_xlabel("share of time that servers are busy")
    if table.is_empty():
        nothing(axes, "no station was visited")
        return figure
    rows = np.arange(table.height)
    busy = table["utilisation"].to_numpy()
    most = table["most_utilisation"].to_numpy()
    bars = axes.barh(rows, busy, height=0.62, color=COLOURS[0], label="serving, mean of copies")
    uneven = most - busy > 0.005
    if uneven.any():
        axes.plot(
            most[uneven],
            rows[uneven],
            "|",
            color=COLOURS[1],
            markersize=13,
            markeredgewidth=2.2,
            label="the busiest copy",
        )
    for bar, reach, waiting in zip(bars, most, table["queue"], strict=True):
        axes.annotate(
            f"{100 * bar.get_width():.1f} %, {written(waiting)} waiting",
            (max(bar.get_width(), reach), bar.get_y() + bar.get_height() / 2),
            textcoords="offset points",
            xytext=(6, 0),
            va="center",
            fontsize="small",
        )
    axes.set_yticks(rows, [short(name, LONGEST_LABEL) for name in table["station"]])
    axes.invert_yaxis()
    axes.grid(visible=False, axis="y")
    # The labels stand beyond the bars.
    axes.set_xlim(0, 1.45)
    axes.set_xticks(np.linspace(0, 1, 6))
    axes.xaxis.set_major_formatter(PercentFormatter(1.0, decimals=0))
    if uneven.any():
        axes.legend(loc="lower right", frameon=False)
    return figure


def height(data: Figures) -> float:
    """Return the height of the figure in inches."""
    return 1.6 + 0.36 * max(_shown(data).height, 3)


def _shown(data: Figures) -> pl.DataFrame:
    return (
        data.stations.filter(
            pl.col("servers").is_not_null()
            & (pl.col("visits") + pl.col("unfinished").fill_null(0) > 0)
        )
        .sort("utilisation", "station", descending=[True, False])
        .head(MOST)
    )
