"""Messages between two hosts, by size."""

from collections.abc import Mapping
from typing import Any

from matplotlib.figure import Figure
from matplotlib.ticker import FuncFormatter

from headrace.quantities import binary_size
from headrace.report.figures.style import COLOURS, grid


def draw(document: Mapping[str, Any]) -> Figure:
    """Latency and throughput against the message's size, in a panel each."""
    figure = Figure(figsize=(8.0, 4.0), layout="constrained")
    figure.suptitle(
        f"Messages between two hosts ({document['scenario']['description']})",
        x=0.01,
        ha="left",
        fontweight="bold",
    )
    left, right = figure.subplots(1, 2)
    sizes = [it["size"] for it in document["messages"]]
    latency = {
        name: [it["latency"][name] * 1e6 for it in document["messages"]]
        for name in ("least", "p50", "p99")
    }
    left.plot(sizes, latency["p50"], color=COLOURS[0], marker="o", markersize=4)
    left.fill_between(
        sizes, latency["least"], latency["p99"], color=COLOURS[0], alpha=0.15, linewidth=0
    )
    left.set_ylabel("half of a round trip (µs): median, least to p99")
    throughput = [it["throughput"] * 1e-6 for it in document["messages"]]
    right.plot(sizes, throughput, color=COLOURS[1], marker="s", markersize=4)
    right.set_ylabel("MB/s")
    for axes in (left, right):
        axes.set_xscale("log", base=2)
        axes.set_yscale("log")
        axes.yaxis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:g}"))
        axes.set_xlabel("message")
        axes.xaxis.set_major_formatter(FuncFormatter(lambda value, _: binary_size(round(value))))
        # Every second one has room for its name.
        axes.set_xticks(sizes[::2])
        axes.tick_params(axis="x", labelrotation=30)
        axes.minorticks_off()
        grid(axes)
    return figure
