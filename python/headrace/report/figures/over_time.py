"""Dirty bytes, hit ratios and queue lengths over time."""

import polars as pl
from matplotlib.figure import SubFigure
from matplotlib.ticker import PercentFormatter

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

SHOWN = {"dirty": "dirty_bytes", "hits": "hit_ratio", "queues": "queue"}
"""Column of the table by the name of the drawing."""
MOST = 8
"""Lines that are shown: those with the largest means."""
LONGEST_LABEL = 40


def dirty(data: Figures, on: SubFigure | None = None) -> Sheet:
    """Draw the dirty bytes of each cache."""
    return _lines(data, on, "dirty", "Dirty data over time", "dirty data (MB)", 1e-6)


def hits(data: Figures, on: SubFigure | None = None) -> Sheet:
    """Draw the hit ratio of each cache."""
    return _lines(data, on, "hits", "Cache hits over time", "hits of pages asked for", 1.0)


def queues(data: Figures, on: SubFigure | None = None) -> Sheet:
    """Draw the mean queue in a copy of each station, those with the longest."""
    return _lines(data, on, "queues", "Queues over time", "mean number waiting in one copy", 1.0)


def _lines(
    data: Figures, on: SubFigure | None, name: str, title: str, label: str, factor: float
) -> Sheet:
    figure, axes = sheet(title, data.name, HEIGHT, on)
    axes.set_xlabel("simulated time (s)")
    axes.set_ylabel(label)
    table = pl.DataFrame() if data.over_time is None else data.over_time
    if not table.is_empty():
        table = table.filter(pl.col("figure") == SHOWN[name], pl.col("value").is_not_null())
    if table.is_empty():
        nothing(axes, "nothing was recorded")
        return figure
    means = table.group_by("of", maintain_order=True).agg(pl.col("value").mean())
    largest = means.sort("value", descending=True, maintain_order=True).head(MOST)
    if (largest["value"] > 0).any():
        largest = largest.filter(pl.col("value") > 0)
    for number, of in enumerate(largest["of"]):
        part = table.filter(pl.col("of") == of)
        axes.plot(
            part["time_s"].to_numpy(),
            part["value"].to_numpy() * factor,
            label=short(of, LONGEST_LABEL),
            color=COLOURS[number % len(COLOURS)],
            linestyle=DASHES[number // len(COLOURS) % len(DASHES)],
            linewidth=1.6,
        )
    axes.set_ylim(bottom=0)
    axes.set_xlim(left=0, right=max(data.ends_s))
    if name == "hits":
        axes.set_ylim(0, 1.02)
        axes.yaxis.set_major_formatter(PercentFormatter(1.0, decimals=0))
    axes.legend(loc="upper left", bbox_to_anchor=(1.0, 1.0), frameon=False, fontsize="small")
    return figure
