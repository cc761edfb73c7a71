"""A sweep over client hosts: a curve of throughput and of response time for each number."""

from collections.abc import Mapping
from typing import Any

from matplotlib.figure import Figure

from headrace.quantities import numbered
from headrace.report.client_host_curves import curves
from headrace.report.figures.load_sweep import WIDE, plain_numbers
from headrace.report.figures.steps import draw_steps
from headrace.report.figures.style import COLOURS, grid, nothing, short


def draw(document: Mapping[str, Any]) -> Figure:
    """Load achieved and mean response time above each other, with the load requested along both."""
    figure = Figure(figsize=(8.0, 7.2), layout="constrained")
    upper, lower = figure.subplots(2, sharex=True)
    title = "Load achieved and response time by the number of client hosts\n"
    upper.set_title(title, loc="left", fontweight="bold")
    name = short(str(document["scenario"].get("name", "")))
    upper.text(0, 1.02, name, transform=upper.transAxes, color="#444444", va="bottom")
    for axes in (upper, lower):
        grid(axes)
    upper.set_ylabel("achieved (operations/s)")
    lower.set_ylabel("mean response time (ms)")
    lower.set_xlabel("requested (operations/s)")
    all_loads: list[float] = []
    for number, (count, curve) in enumerate(curves(document).items()):
        steps = [step for step in curve["steps"] if not step.get("partial")]
        loads = [step["requested_per_second"] for step in steps]
        all_loads += loads
        style: dict[str, Any] = {
            "label": numbered(count, "client host"),
            "number": number % len(COLOURS),
        }
        draw_steps(upper, loads, steps, ["achieved_per_second"], **style)
        draw_steps(lower, loads, steps, ["response", "mean"], scale=1e3, **style)
    if not all_loads:
        nothing(upper, "no step was finished")
        nothing(lower, "")
        return figure
    ends = [min(all_loads), max(all_loads)]
    upper.plot(ends, ends, color="#999999", linewidth=1.0, label="requested")
    limit = 1e3 * document["criteria"]["response_s"]
    lower.axhline(limit, color="#999999", linewidth=1.0, label="limit of the mean")
    lower.set_yscale("log")
    if ends[1] > WIDE * ends[0]:
        upper.set_xscale("log")
        upper.set_yscale("log")
    for axes in (upper, lower):
        axes.legend(loc="upper left", bbox_to_anchor=(1.0, 1.0), frameon=False)
        plain_numbers(axes)
    return figure
