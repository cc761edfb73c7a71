"""What was measured over time: operations, and what the machine did beside them."""

import numpy as np
import polars as pl
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from headrace.report.figures.style import COLOURS, nothing, sheet

SHARES = {
    "cpu_own": "processors, the benchmark's own",
    "cpu_iowait": "processors waiting for I/O",
    "device_busy": "device busy",
}
RATES = {"device_read_bytes_per_s": "device reads", "device_write_bytes_per_s": "device writes"}


def throughput(name: str, series: pl.DataFrame) -> Figure:
    """Bytes a second of each operation; operations a second if none moved bytes."""
    figure, axes = sheet("Throughput over time", name)
    series = _first(series)
    if series.is_empty():
        nothing(axes, "no operation was done")
        return figure
    bytes_moved = series["bytes"].to_numpy().sum() > 0
    column = "throughput_bytes_per_s" if bytes_moved else "operations_per_s"
    axes.set_ylabel("throughput (MB/s)" if bytes_moved else "operations/s")
    scale = 1e-6 if bytes_moved else 1.0
    for (operation,), part in series.group_by("operation", maintain_order=True):
        if not bytes_moved or part["bytes"].to_numpy().sum() > 0:
            _steps(axes, part, part[column].to_numpy() * scale, str(operation))
    _finish(axes)
    return figure


def counters(name: str, table: pl.DataFrame) -> Figure:
    """Shares of processors and device, and what the device moved, in a panel each."""
    figure = Figure(figsize=(8.0, 6.0), layout="constrained")
    table = _first(table)
    shares, rates = figure.subplots(2, 1, sharex=True)
    shares.set_title(f"What the machine did: {name}", loc="left", fontweight="bold")
    for axes, columns, scale in ((shares, SHARES, 100.0), (rates, RATES, 1e-6)):
        known = {key: label for key, label in columns.items() if table[key].count()}
        for column, label in known.items():
            _steps(axes, table, table[column].fill_null(np.nan).to_numpy() * scale, label)
        if known:
            _finish(axes)
        else:
            nothing(axes, "there is no block device below the directory")
    shares.set_ylabel("share of the time (%)")
    shares.set_xlabel("")
    rates.set_ylabel("MB/s")
    return figure


def _first(table: pl.DataFrame) -> pl.DataFrame:
    """Of several repetitions the first: they lie on top of each other."""
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
    axes.spines[["top", "right"]].set_visible(False)
    axes.grid(color="#dddddd", linewidth=0.7)
    axes.set_axisbelow(True)
    axes.legend(loc="upper left", bbox_to_anchor=(1.0, 1.0), frameon=False)
