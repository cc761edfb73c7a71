"""Figure of latency by percentile."""

import polars as pl
from matplotlib.figure import Figure
from matplotlib.ticker import FuncFormatter

from headrace.report.figures.style import COLOURS, DASHES, log_scale, nothing, sheet

QUANTILES = tuple(1 - 10 ** (-step / 10) for step in range(61))
"""0 to 0.999999, ten for each nine."""
MARKED = (0.0, 0.5, 0.9, 0.99, 0.999, 0.9999, 0.99999, 0.999999)
TIMES = {"service": "from the actual start", "response": "from the intended start"}


def draw(name: str, percentiles: pl.DataFrame) -> Figure:
    """A line for each operation and time; each nine has as much room as the one before."""
    figure, axes = sheet("Latency by percentile", name)
    axes.set_xlabel("operations that took no longer (%)")
    axes.set_ylabel("latency (ms)")
    shown = percentiles.filter(pl.col("operation") != "all")
    # With fewer operations than that, the percentile is the longest of them.
    shown = shown.filter((1 - pl.col("quantile")) * pl.col("count") >= 1 - 1e-9)
    if not (shown["time_s"] > 0).any():
        nothing(axes, "no operation took any time")
        return figure
    operations = shown["operation"].unique(maintain_order=True).to_list()
    several = shown["time"].n_unique() > 1
    for (operation, time), part in shown.group_by("operation", "time", maintain_order=True):
        axes.plot(
            1 / (1 - part["quantile"].to_numpy()),
            1e3 * part["time_s"].to_numpy(),
            color=COLOURS[operations.index(operation) % len(COLOURS)],
            linestyle=DASHES[list(TIMES).index(str(time))],
            linewidth=1.6,
            drawstyle="steps-post",
            label=f"{operation}, {TIMES[str(time)]}" if several else str(operation),
        )
    axes.set_xscale("log")
    log_scale(axes.yaxis, (1e3 * shown["time_s"]).to_list())
    axes.set_xticks([1 / (1 - at) for at in MARKED if 1 / (1 - at) <= _most(shown)])
    axes.xaxis.set_major_formatter(FuncFormatter(lambda x, _: f"{100 * (1 - 1 / x):.6g}"))
    axes.yaxis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:g}"))
    axes.minorticks_off()
    axes.legend(loc="upper left", bbox_to_anchor=(1.0, 1.0), frameon=False)
    return figure


def _most(shown: pl.DataFrame) -> float:
    return float(1 / (1 - shown["quantile"].to_numpy().max())) * 1.001
