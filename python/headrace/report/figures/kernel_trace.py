"""Figures of a kernel trace: service times by size, and requests, commits and write-back over
time."""

from collections.abc import Sequence

import polars as pl
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import FuncFormatter

from headrace.quantities import binary_size
from headrace.render.style import COLOURS, grid, nothing, sheet

LEAST = 10
"""Requests of a size that make a point."""
DIRECTIONS = ("read", "write", "flush", "discard")

Span = tuple[float, float]


def service(name: str, table: pl.DataFrame) -> Figure:
    """Draw service time against request size, by direction: a point for each frequent size, with
    its 90 % range. `table` has one row for each request."""
    figure, axes = sheet("Service time of the device by size of the request", name)
    moved = table.filter(pl.col("bytes") > 0)
    for number, direction in enumerate(DIRECTIONS):
        rows = (
            moved.filter(pl.col("direction") == direction)
            .group_by("bytes")
            .agg(
                pl.len().alias("count"),
                pl.col("service_s").median().alias("median"),
                pl.col("service_s").quantile(0.05).alias("least"),
                pl.col("service_s").quantile(0.95).alias("most"),
            )
            .filter(pl.col("count") >= LEAST)
            .sort("bytes")
        )
        if not rows.height:
            continue
        median = rows["median"] * 1e3
        ends = [median - rows["least"] * 1e3, rows["most"] * 1e3 - median]
        axes.errorbar(
            rows["bytes"].to_list(),
            median.to_list(),
            yerr=[end.clip(0.0, None).to_list() for end in ends],
            fmt="o-",
            markersize=4,
            elinewidth=1,
            linewidth=0.8,
            color=COLOURS[number],
            label=direction,
        )
    if not axes.has_data():
        nothing(axes, f"no size of which there were {LEAST} requests")
        return figure
    axes.set_xscale("log", base=2)
    axes.set_yscale("log")
    axes.xaxis.set_major_formatter(FuncFormatter(lambda value, _: binary_size(round(value))))
    axes.yaxis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:g}"))
    axes.set_xlabel("request")
    axes.set_ylabel("ms in the device: median, 5 % to 95 %")
    axes.legend(frameon=False, fontsize=8)
    return figure


def activity(
    name: str, table: pl.DataFrame, commits: Sequence[Span], write_back: Sequence[Span]
) -> Figure:
    """Requests as points, at the time when they were given to the device (`at_s`). Below them are
    the journal's commits and the kernel's write-back."""
    figure = Figure(figsize=(8.0, 4.2), layout="constrained")
    upper, lower = figure.subplots(2, 1, sharex=True, height_ratios=[4, 1])
    figure.suptitle(
        f"Requests, commits and write-back ({name})", x=0.01, ha="left", fontweight="bold"
    )
    for number, direction in enumerate(DIRECTIONS):
        of = table.filter(pl.col("direction") == direction)
        if of.height:
            upper.plot(
                of["at_s"].to_list(),
                (of["service_s"] * 1e3).to_list(),
                linestyle="none",
                marker=".",
                markersize=3,
                color=COLOURS[number],
                label=direction,
            )
    if upper.has_data():
        upper.set_yscale("log")
        upper.yaxis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:g}"))
        upper.legend(frameon=False, fontsize=8, ncols=4)
    upper.set_ylabel("ms in the device")
    _spans(lower, (commits, write_back))
    lower.set_yticks([0, 1], ["commit", "write-back"])
    lower.set_ylim(-0.6, 1.6)
    lower.set_xlabel("s")
    for axes in (upper, lower):
        grid(axes)
    return figure


def _spans(axes: Axes, rows: Sequence[Sequence[Span]]) -> None:
    for number, spans in enumerate(rows):
        widths = [(start, end - start) for start, end in spans]
        axes.broken_barh(widths, (number - 0.35, 0.7), color=COLOURS[4 + number], linewidth=0.6)
