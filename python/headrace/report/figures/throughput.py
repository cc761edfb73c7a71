"""Throughput over time."""

from collections.abc import Sequence
from typing import Any

import numpy as np
import polars as pl
from matplotlib.figure import SubFigure

from headrace.render.style import (
    COLOURS,
    DASHES,
    HEIGHT,
    Figures,
    Sheet,
    nothing,
    sheet,
    short,
)

MOST_IN_LEGEND = 14
REQUESTS_IN_WINDOW = 10
"""Mean number of requests in a window. With fewer, a line would show single requests rather than a
rate."""
FEWEST_WINDOWS = 10
AWAY: dict[str, Any] = {"color": "#bbbbbb", "alpha": 0.35, "linewidth": 0.0, "zorder": 0.5}
"""Style of the time in which a server is down."""


def draw(data: Figures, on: SubFigure | None = None) -> Sheet:
    """One line for each group and operation, the mean over replications."""
    figure, axes = sheet("Throughput over time", data.name, HEIGHT, on)
    axes.set_xlabel("simulated time (s)")
    axes.set_ylabel("throughput (MB/s)")
    series = data.series
    if series.is_empty():
        nothing(axes, "no bytes were moved")
        return figure
    groups = series["group"].unique(maintain_order=True).to_list()
    operations = series["operation"].unique(maintain_order=True).to_list()
    window = _window(series, data.requests / (len(groups) * len(operations)))
    start = float(series["time_s"].to_numpy().min())
    number = pl.col("time_s").sub(start).truediv(window).add(1e-9).floor().cast(pl.Int64)
    series = series.with_columns(number.alias("window"))
    end = max(data.ends_s)
    edges = start + window * np.arange(int(series["window"].to_numpy().max()) + 2)
    if end > edges[-1]:
        edges = np.append(edges, end)
    # A run covers only the part of a window before its own end.
    spent = sum((np.diff(np.minimum(edges, max(it, start))) for it in data.ends_s), np.zeros(1))
    edges[-1] = min(edges[-1], end)
    for (group, operation), part in series.group_by("group", "operation", maintain_order=True):
        moved = np.zeros(len(edges) - 1)
        np.add.at(moved, part["window"].to_numpy(), part["bytes"].to_numpy())
        axes.stairs(
            np.divide(moved, spent, out=np.zeros_like(moved), where=spent > 0) / 1e6,
            edges,
            baseline=None,
            label=short(_label(str(group), str(operation), groups, operations)),
            **_looks(groups.index(group), operations.index(operation), groups, operations),
        )
    for outage, (begin, back) in enumerate(data.outages):
        label = "a server is down" if outage == 0 else None
        axes.axvspan(begin, edges[-1] if back is None else back, label=label, **AWAY)
    axes.set_ylim(bottom=0)
    axes.set_xlim(edges[0], edges[-1])
    if len(groups) * len(operations) <= MOST_IN_LEGEND:
        axes.legend(loc="upper left", bbox_to_anchor=(1.0, 1.0), frameon=False)
    return figure


def _window(series: pl.DataFrame, requests: float) -> float:
    """The length of windows that hold enough requests: a multiple of the series' own."""
    longest = float(series["window_s"].to_numpy().max())
    time = series["time_s"].to_numpy()
    windows = (time.max() - time.min()) / longest + 1
    wanted = max(requests / REQUESTS_IN_WINDOW, FEWEST_WINDOWS)
    return longest * max(1, int(np.ceil(windows / wanted)))


def _looks(
    group: int, operation: int, groups: Sequence[str], operations: Sequence[str]
) -> dict[str, Any]:
    """Groups differ by colour, and equal ones can be seen below each other."""
    if len(groups) == 1:
        return {"color": COLOURS[operation % len(COLOURS)], "linewidth": 1.6}
    dashes = operation if len(operations) > 1 else group
    return {
        "color": COLOURS[group % len(COLOURS)],
        "linestyle": DASHES[dashes % len(DASHES)],
        "linewidth": 2.6 if group == 0 else 1.6,
    }


def _label(group: str, operation: str, groups: Sequence[str], operations: Sequence[str]) -> str:
    if len(groups) == 1:
        return operation
    return group if len(operations) == 1 else f"{group}, {operation}"
