"""Figure of the gains from changes of a scenario."""

import numpy as np
import polars as pl
from matplotlib.figure import Figure

from headrace.report.figures.style import COLOURS, legend_below, nothing, sheet, short

MOST = 20
"""Changes that are shown."""
LONGEST_LABEL = 60
LARGE = 20
"""Gain above which the scale is logarithmic."""


def draw(name: str, factor: float, table: pl.DataFrame) -> Figure:
    """Two bars for each change that helps: throughput and p95 latency, as factors."""
    helps = table.filter(pl.col("effect") == "helps").head(MOST)
    other = "another kind" if (table["kind"] == "level").any() else "as fast"
    title = f"What if: {factor:g} times as much, or {other}"
    figure, axes = sheet(title, name, 1.7 + 0.5 * max(helps.height, 3))
    largest = helps.select(pl.max_horizontal("throughput_gain", "latency_p95_gain").max()).item()
    if largest is not None and largest > LARGE:
        axes.set_xscale("log")
        axes.xaxis.set_major_formatter("{x:g}")
    axes.set_xlabel("gain: times as high a throughput, times as short a latency")
    if helps.is_empty():
        nothing(axes, "no change helps")
        return figure
    rows = np.arange(helps.height)
    for number, (column, label) in enumerate(
        (("throughput_gain", "throughput"), ("latency_p95_gain", "p95 latency"))
    ):
        gains = helps[column].fill_null(1.0).to_numpy()
        intervals = helps[f"{column}_half_width"].fill_null(0.0).to_numpy()
        axes.barh(
            rows + 0.19 * (2 * number - 1),
            gains - 1,
            left=1,
            height=0.36,
            xerr=intervals if intervals.any() else None,
            color=COLOURS[number],
            label=label,
        )
    axes.axvline(1, color="#444444", linewidth=1)
    before = pl.col("before").replace("", "\N{EN DASH}")
    labels = helps.select(pl.format("{}\n{} → {}", "path", before, "after")).to_series()
    axes.set_yticks(rows, [_lines(label) for label in labels])
    axes.invert_yaxis()
    axes.grid(visible=False, axis="y")
    legend_below(axes, 2)
    return figure


def _lines(label: str) -> str:
    return "\n".join(short(line, LONGEST_LABEL) for line in label.split("\n"))
