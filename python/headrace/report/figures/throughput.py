"""Throughput over time."""

import numpy as np
import polars as pl
from matplotlib.figure import Figure

from headrace.report.figures.style import COLOURS, DASHES, Figures, nothing, sheet

MOST_IN_LEGEND = 14


def draw(data: Figures) -> Figure:
    """One line for each group and operation; groups by colour, operations by dashes.

    Replications are lines of the same colour and dashes.
    """
    figure, axes = sheet("Throughput over time", data.name)
    axes.set_xlabel("simulated time (s)")
    axes.set_ylabel("throughput (MB/s)")
    series = data.series
    if series.is_empty():
        nothing(axes, "no bytes were moved")
        return figure
    groups = series["group"].unique(maintain_order=True).to_list()
    operations = series["operation"].unique(maintain_order=True).to_list()
    # With one group, colours are left for the operations.
    by_colour = groups if len(groups) > 1 else operations
    runs = series["seed"].n_unique()
    labelled = set()
    for (group, operation, _), part in series.group_by(
        "group", "operation", "seed", maintain_order=True
    ):
        part = part.sort("time_s")
        one = group if len(groups) > 1 else operation
        dashes = DASHES[operations.index(operation) % len(DASHES)] if len(groups) > 1 else "solid"
        label = str(operation)
        if len(groups) > 1:
            label = f"{group}, {operation}" if len(operations) > 1 else str(group)
        axes.stairs(
            part["throughput_bytes_per_s"].to_numpy() / 1e6,
            _edges(part),
            baseline=None,
            color=COLOURS[by_colour.index(one) % len(COLOURS)],
            linestyle=dashes,
            linewidth=1.5,
            alpha=1.0 if runs == 1 else max(0.3, 1 / runs),
            label=None if label in labelled else label,
        )
        labelled.add(label)
    axes.set_ylim(bottom=0)
    axes.set_xlim(float(series["time_s"].to_numpy().min()), None)
    if 1 < len(labelled) <= MOST_IN_LEGEND or len(groups) == 1:
        legend = axes.legend(loc="upper left", bbox_to_anchor=(1.0, 1.0), frameon=False)
        for handle in legend.legend_handles:
            if handle is not None:
                handle.set_alpha(1.0)
    return figure


def _edges(part: pl.DataFrame) -> "np.ndarray[tuple[int], np.dtype[np.float64]]":
    starts = part["time_s"].to_numpy()
    return np.append(starts, starts[-1] + part["window_s"].item(-1))
