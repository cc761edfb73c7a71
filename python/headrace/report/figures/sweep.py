"""Figure of a sweep: a figure over one field, a line for each combination of the others."""

from collections.abc import Sequence

import polars as pl
from matplotlib.figure import Figure

from headrace.report.figures.style import COLOURS, DASHES, nothing, sheet, short

LABELS = {
    "throughput": ("throughput_bytes_per_s", "throughput (MB/s)", 1e-6),
    "operations": ("operations_per_s", "operations/s", 1.0),
    "latency": ("latency_mean_s", "mean latency (ms)", 1e3),
    "latency_p50": ("latency_p50_s", "median latency (ms)", 1e3),
    "latency_p95": ("latency_p95_s", "p95 latency (ms)", 1e3),
    "latency_p99": ("latency_p99_s", "p99 latency (ms)", 1e3),
    "latency_max": ("latency_max_s", "highest latency (ms)", 1e3),
    "simulated_seconds": ("simulated_s", "simulated time (s)", 1.0),
}
MOST_LINES = 12
"""Most lines of one figure."""


def draw(name: str, paths: Sequence[str], points: pl.DataFrame, figure: str) -> Figure:
    """Draw the means with their 95 % intervals.

    Args:
        name: Name of the scenario.
        paths: Fields that vary. The one with most values is the horizontal axis.
        points: Points as `Sweep.points` has them.
        figure: Name of the figure.
    """
    column, label, factor = LABELS[figure]
    drawn, axes = sheet("Sweep", name)
    axes.set_ylabel(label)
    known = points.filter(pl.col(column).is_not_null()) if points.height else points
    if known.is_empty():
        nothing(axes, "no point has this figure")
        return drawn
    across = max(paths, key=lambda path: known[path].n_unique())
    others = [path for path in paths if path != across and known[path].n_unique() > 1]
    is_number = known[across].dtype.is_numeric()
    order = known[across].unique(maintain_order=True)
    places = {value: at for at, value in enumerate(order.to_list())}
    lines = known.partition_by(others, maintain_order=True, as_dict=True) if others else {(): known}
    for number, (values, rows) in enumerate(list(lines.items())[:MOST_LINES]):
        rows = rows.sort(across) if is_number else rows
        x = [value if is_number else places[value] for value in rows[across].to_list()]
        axes.errorbar(
            x,
            (rows[column] * factor).to_list(),
            yerr=(rows[f"{column}_half_width"].fill_null(0.0) * factor).to_list(),
            marker="o",
            markersize=4,
            capsize=2,
            color=COLOURS[number % len(COLOURS)],
            linestyle=DASHES[number // len(COLOURS)] if len(lines) <= MOST_LINES else "none",
            label=short(" ".join(f"{p}={v}" for p, v in zip(others, values, strict=True)), 50),
        )
    axes.set_xlabel(short(across, 60))
    if not is_number:
        axes.set_xticks(list(places.values()), [short(str(value), 16) for value in places])
    elif spans_decades([float(value) for value in known[across].to_list()]):
        axes.set_xscale("log")
    axes.set_ylim(bottom=0)
    if others:
        title = None if len(lines) <= MOST_LINES else f"first {MOST_LINES} of {len(lines)} lines"
        axes.legend(frameon=False, fontsize="small", title=title)
    return drawn


def spans_decades(values: Sequence[float]) -> bool:
    """Return whether positive values are so far apart that a log scale shows them better."""
    return min(values) > 0 and max(values) / min(values) >= 20
