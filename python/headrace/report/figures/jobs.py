"""Figure of the IOPS, throughput and latency of each job."""

from collections.abc import Mapping
from typing import Any

from matplotlib.figure import Figure
from matplotlib.ticker import FuncFormatter

from headrace.quantities import figure as figure_text
from headrace.report.figures.style import COLOURS, log_scale

PANELS = (("IOPS", 1.0), ("MB/s", 1e-6), ("latency (ms)", 1e3))

TIMES = {"p50": "p50", "p99": "p99", "p999": "p99.9"}


def draw(document: Mapping[str, Any]) -> Figure:
    """A bar for each job's operations in a panel for each figure; latencies as marks."""
    rows = [
        (job["name"] if len(job["operations"]) == 1 else f"{job['name']}, {operation}", of_it)
        for job in document["jobs"]
        for operation, of_it in job["operations"].items()
    ]
    names = [name for name, _ in rows]
    places = range(len(rows))
    figure = Figure(figsize=(11.0, 1.6 + 0.35 * len(rows)), layout="constrained")
    figure.suptitle(document["scenario"]["name"], x=0.01, ha="left", fontweight="bold")
    panels = figure.subplots(1, 3, sharey=True)
    for axes, (label, unit), colour, key in zip(
        panels[:2], PANELS, COLOURS, ("per_second", "throughput"), strict=False
    ):
        values = [unit * (of_it[key] or 0.0) for _, of_it in rows]
        bars = axes.barh(places, values, color=colour, height=0.7)
        axes.bar_label(bars, [figure_text(value) for value in values], padding=3, fontsize=8)
        axes.margins(x=0.25)
        axes.set_xlabel(label)
        axes.xaxis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:,.10g}"))
        axes.tick_params(axis="x", labelrotation=30)
    label, unit = PANELS[2]
    drawn: list[float] = []
    for (name, text), marker, colour in zip(TIMES.items(), "osD", COLOURS, strict=False):
        times = [unit * of_it["latency"][name] for _, of_it in rows]
        panels[2].plot(times, places, marker, color=colour, markersize=5, label=text)
        drawn += times
    log_scale(panels[2].xaxis, drawn)
    panels[2].set_xlabel(label)
    panels[2].xaxis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:g}"))
    panels[2].minorticks_off()
    panels[2].legend(loc="upper left", bbox_to_anchor=(1.0, 1.0), frameon=False)
    panels[0].set_yticks(list(places), names)
    panels[0].invert_yaxis()
    for axes in panels:
        axes.spines[["top", "right"]].set_visible(False)
        axes.grid(axis="x", color="#dddddd", linewidth=0.7)
        axes.set_axisbelow(True)
    return figure
