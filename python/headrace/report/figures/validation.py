"""Predictions against measurements."""

from collections.abc import Mapping
from typing import Any

from matplotlib.figure import Figure
from matplotlib.ticker import FuncFormatter

from headrace.quantities import figure as short_figure
from headrace.render.style import COLOURS, sheet

BARS = ((0.1, "±10 %"), (0.2, "±20 %"))
"""The bars of Nguyen 2011, chapter 7."""


def draw(document: Mapping[str, Any]) -> Figure:
    """A point for each case: predicted over measured time, with the range of the repetitions
    and the interval of the prediction."""
    points = document["points"]
    drawn, axes = sheet("Predicted and measured", document["scenario"]["name"], 5.2)
    groups = list(dict.fromkeys(point["group"] for point in points))
    for number, group in enumerate(groups):
        of = [point for point in points if point["group"] == group]
        x = [1e3 * point["measured_middle_s"] for point in of]
        y = [1e3 * point["predicted_s"] for point in of]
        across = [
            [1e3 * abs(it["measured_middle_s"] - end(it["measured_s"])) for it in of]
            for end in (min, max)
        ]
        up = [
            [
                1e3
                * max(
                    sign * (it["predicted_s"] - (it["interval_s"] or [it["predicted_s"]] * 2)[end]),
                    0.0,
                )
                for it in of
            ]
            for end, sign in ((0, 1), (1, -1))
        ]
        axes.errorbar(
            x,
            y,
            xerr=across,
            yerr=up,
            fmt="o",
            markersize=5,
            elinewidth=1,
            alpha=0.85,
            color=COLOURS[number % len(COLOURS)],
            label=group,
        )
    ends = [
        1e3 * value
        for point in points
        for value in (point["measured_middle_s"], point["predicted_s"])
        if value > 0
    ]
    line = [min(ends, default=1.0) / 2, max(ends, default=1.0) * 2]
    axes.plot(line, line, color="#444444", linewidth=1)
    for shade, (part, label) in zip((0.14, 0.08), BARS, strict=True):
        axes.fill_between(
            line,
            [it * (1 - part) for it in line],
            [it * (1 + part) for it in line],
            color="#444444",
            alpha=shade,
            linewidth=0,
            label=label,
        )
    axes.set_xscale("log")
    axes.set_yscale("log")
    for axis in (axes.xaxis, axes.yaxis):
        axis.set_major_formatter(FuncFormatter(lambda value, _: short_figure(value)))
    axes.set_xlabel("measured ms")
    axes.set_ylabel("predicted ms")
    axes.legend(frameon=False, fontsize=8)
    return drawn
