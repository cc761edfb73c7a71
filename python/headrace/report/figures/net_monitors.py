"""Figure of a net's monitors over time: a panel for each, with the band over the runs."""

from collections.abc import Sequence
from typing import TYPE_CHECKING

from matplotlib.figure import Figure

from headrace.render.style import COLOURS, WIDTH, NotebookFigure, grid, nothing, short

if TYPE_CHECKING:
    from headrace.net import NetResult

PANEL = 2.2
"""Inches of a panel's height."""
MOST = 12
"""Most panels."""


def draw(result: "NetResult", names: Sequence[str]) -> Figure:
    """Draw monitors over time.

    Raises:
        KeyError: There is no such monitor.
        ValueError: A monitor has no values over time.
    """
    left_out = len(names) - MOST
    names = names[:MOST]
    figure = NotebookFigure(figsize=(WIDTH, max(1, len(names)) * PANEL + 0.6), layout="constrained")
    title = f"Monitors of {short(result.name)}"
    if left_out > 0:
        title += f" ({left_out} more are not drawn)"
    figure.suptitle(title, x=0.01, ha="left", fontsize="large", fontweight="bold")
    if not names:
        nothing(figure.subplots(), "no monitor has values over time")
        return figure
    panels = figure.subplots(len(names), 1, sharex=True, squeeze=False)[:, 0]
    kinds = {it["name"]: it["kind"] for it in result.runs[0]["monitors"]}
    for number, (name, axes) in enumerate(zip(names, panels, strict=True)):
        grid(axes)
        colour = COLOURS[number % len(COLOURS)]
        known = result.transient(name).drop_nulls("mean")
        time, mean = known["time_s"].to_numpy(), known["mean"].to_numpy()
        band = known["half_width"].fill_null(0.0).to_numpy()
        axes.plot(time, mean, color=colour, linewidth=1.2)
        if len(result.runs) > 1:
            axes.fill_between(time, mean - band, mean + band, color=colour, alpha=0.25, linewidth=0)
        per_second = ", firings per second" if kinds[name] == "counter" else ""
        axes.set_title(f"{short(name)}{per_second}", loc="left", fontsize="medium")
        start = result.runs[0]["time"] - result.runs[0]["measured"]
        if start > 0:
            axes.axvline(start, color="#444444", linewidth=0.8, linestyle="dashed")
    runs = len(result.runs)
    interval = f"; mean and 95 % interval of {runs} runs" if runs > 1 else ""
    warm = "; the dashed line ends the warm-up" if start > 0 else ""
    panels[-1].set_xlabel(f"simulated time in s{interval}{warm}")
    return figure
