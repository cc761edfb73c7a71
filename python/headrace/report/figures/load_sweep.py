"""Figure of a load sweep: achieved against requested rate, and response time."""

from collections.abc import Mapping, Sequence
from typing import Any

from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import FuncFormatter, LogLocator, NullFormatter

from headrace.report.figures.steps import draw_steps
from headrace.report.figures.style import grid, nothing, short

WIDE = 10.0
"""Loads that differ by more than this factor are drawn on logarithmic axes."""


def draw(document: Mapping[str, Any]) -> Figure:
    """Two pictures above each other, with the load requested along both."""
    figure = Figure(figsize=(8.0, 7.2), layout="constrained")
    upper, lower = figure.subplots(2, sharex=True)
    upper.set_title("Load achieved, and response time\n", loc="left", fontweight="bold")
    name = short(str(document["scenario"].get("name", "")))
    upper.text(0, 1.02, name, transform=upper.transAxes, color="#444444", va="bottom")
    for axes in (upper, lower):
        grid(axes)
    upper.set_ylabel("achieved (operations/s)")
    lower.set_ylabel("response time (ms)")
    lower.set_xlabel("requested (operations/s)")
    steps = [step for step in document["steps"] if not step.get("partial")]
    if not steps:
        nothing(upper, "no step was finished")
        nothing(lower, "")
        return figure
    requested = [step["requested_per_second"] for step in steps]
    _achieved(upper, requested, steps)
    _responses(lower, requested, steps, document["criteria"]["response_s"])
    if max(requested) > WIDE * min(requested):
        upper.set_xscale("log")
        upper.set_yscale("log")
    for axes in (upper, lower):
        _mark(axes, document)
        axes.legend(loc="upper left", bbox_to_anchor=(1.0, 1.0), frameon=False)
        plain_numbers(axes)
    return figure


def plain_numbers(axes: Axes) -> None:
    """Names are no formulas in figures, and so powers of ten would be shown as they are typed."""
    for axis in (axes.xaxis, axes.yaxis):
        if axis.get_scale() == "log":
            axis.set_major_locator(LogLocator(subs=(1.0, 2.0, 5.0)))
            axis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:,.10g}"))
            axis.set_minor_formatter(NullFormatter())


def _achieved(axes: Axes, requested: Sequence[float], steps: Sequence[Mapping[str, Any]]) -> None:
    ends = [min(requested), max(requested)]
    axes.plot(ends, ends, color="#999999", linewidth=1.0, label="requested")
    draw_steps(axes, requested, steps, ["achieved_per_second"], label="achieved")


def _responses(
    axes: Axes, requested: Sequence[float], steps: Sequence[Mapping[str, Any]], limit_s: float
) -> None:
    for number, key in enumerate(("mean", "p99")):
        path = ["response", key]
        draw_steps(axes, requested, steps, path, label=key, number=number, scale=1e3)
    axes.axhline(1e3 * limit_s, color="#999999", linewidth=1.0, label="limit of the mean")
    axes.set_yscale("log")


def _mark(axes: Axes, document: Mapping[str, Any]) -> None:
    marks = (("knee", "knee", "dotted"), ("cut_off", "cut-off", "dashed"))
    for key, label, line in marks:
        if document[key]:
            load = document[key]["requested_per_second"]
            axes.axvline(load, color="#000000", linewidth=1.0, linestyle=line, label=label)
