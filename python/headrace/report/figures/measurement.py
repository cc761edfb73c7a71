"""Figures of a measurement over time: operations, and counters of the machine."""

import numpy as np
import polars as pl
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from headrace.report.figures.style import COLOURS, grid, nothing, sheet, short

SHARES = {
    "cpu_own": "processors, the benchmark's own",
    "cpu_iowait": "processors waiting for I/O",
    "device_busy": "device busy",
}
MOST, FEWEST, IN_WINDOW = 100, 10, 20
"""Windows of a line, and operations in one, on average."""
RATES = {"device_read_bytes_per_s": "device reads", "device_write_bytes_per_s": "device writes"}


def throughput(name: str, series: pl.DataFrame) -> Figure:
    """Bytes a second of each operation; operations a second if none moved bytes."""
    figure, axes = sheet("Throughput over time", name)
    series = _first(series)
    if series.is_empty():
        nothing(axes, "no operation was done")
        return figure
    bytes_moved = series["bytes"].to_numpy().sum() > 0
    axes.set_ylabel("throughput (MB/s)" if bytes_moved else "operations/s")
    column, scale = ("bytes", 1e-6) if bytes_moved else ("count", 1.0)
    for (operation,), part in _wider(series).group_by("operation", maintain_order=True):
        rates = part[column].to_numpy() / part["window_s"].to_numpy() * scale
        if rates.any():
            _steps(axes, part, rates, str(operation))
    _finish(axes)
    return figure


def counters(name: str, table: pl.DataFrame) -> Figure:
    """Draw the utilisation of processors and device, and the device's throughput, in a panel
    each."""
    table = _first(table)
    panels = [(SHARES, 100.0, "share of the time (%)"), (RATES, 1e-6, "MB/s")]
    # Without a block device below the directory there are no device counters.
    panels = [it for it in panels if any(table[key].count() for key in it[0])]
    figure = Figure(figsize=(8.0, 3.0 * max(len(panels), 1)), layout="constrained")
    figure.suptitle(f"What the machine did: {short(name)}", x=0.01, ha="left", fontweight="bold")
    all_axes = figure.subplots(max(len(panels), 1), 1, sharex=True, squeeze=False)[:, 0]
    if not panels:
        nothing(all_axes[0], "it ended before the first sample of the counters")
    for axes, (columns, scale, unit) in zip(all_axes, panels, strict=False):
        for column, label in columns.items():
            if table[column].count():
                _steps(axes, table, table[column].fill_null(np.nan).to_numpy() * scale, label)
        _finish(axes)
        axes.set_ylabel(unit)
        axes.label_outer()
    return figure


def _wider(series: pl.DataFrame) -> pl.DataFrame:
    """Windows so long that a line has no more than it can show, and shows no single requests."""
    window = series["window_s"].to_numpy()[0]
    windows = max(series["time_s"].to_numpy()) / window + 1
    most = min(MOST, max(series["count"].to_numpy().sum() / IN_WINDOW, FEWEST))
    wide = window * np.ceil(windows / most)
    start = (pl.col("time_s") / wide + 1e-9).floor() * wide
    return (
        series.group_by("operation", start.alias("time_s"), maintain_order=True)
        .agg(pl.col("count", "bytes").sum())
        .with_columns(pl.lit(wide).alias("window_s"))
        .sort("time_s", maintain_order=True)
    )


def _first(table: pl.DataFrame) -> pl.DataFrame:
    """Return the rows of the first repetition; those of others would lie on top of them."""
    return table.filter(repetition=1) if "repetition" in table.columns else table


def _steps(axes: Axes, table: pl.DataFrame, values: np.ndarray, label: str) -> None:
    """A line that is level for the length of each window."""
    starts = table["time_s"].to_numpy()
    ends = starts + table["window_s"].to_numpy()
    number = len(axes.patches)
    # Windows in which nothing ended are not in the table.
    edges, heights = [starts[0]], []
    for start, end, value in zip(starts, ends, values, strict=True):
        if start > edges[-1] + 1e-9:
            edges.append(start)
            heights.append(0.0)
        edges.append(max(end, edges[-1]))
        heights.append(value)
    colour = COLOURS[number % len(COLOURS)]
    axes.stairs(heights, edges, baseline=None, color=colour, linewidth=1.6, label=label)


def _finish(axes: Axes) -> None:
    axes.set_xlabel("time (s)")
    axes.set_ylim(bottom=0)
    axes.set_xlim(left=0)
    grid(axes)
    axes.legend(loc="upper left", bbox_to_anchor=(1.0, 1.0), frameon=False)
