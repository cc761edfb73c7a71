"""Figures of a baseline as bars."""

from collections.abc import Mapping
from typing import Any

from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import FuncFormatter, NullFormatter

from headrace.quantities import figure as shown
from headrace.report.figures.style import COLOURS, nothing, short

SCALES = {"B/s": (1e-6, "MB/s"), "1/s": (1.0, "operations/s")}


def draw(document: Mapping[str, Any]) -> Figure:
    """Draw throughput and rates in a panel each: measured values as bars, predictions as marks."""
    figure = Figure(figsize=(10.0, 6.0), layout="constrained")
    environment = document["environment"]
    name = ", ".join(filter(None, (environment.get("host"), environment.get("directory"))))
    figure.suptitle(f"Baseline\n{short(name)}", x=0.01, ha="left", fontsize="medium")
    predicted = {it["figure"]: it["predicted"] for it in document["self_check"]}
    for axes, (unit, (scale, label)) in zip(figure.subplots(2, 1), SCALES.items(), strict=True):
        _panel(axes, document, unit, scale, predicted)
        axes.set_xlabel(f"{label}, logarithmic")
    return figure


def _panel(
    axes: Axes,
    document: Mapping[str, Any],
    unit: str,
    scale: float,
    predicted: Mapping[str, float],
) -> None:
    axes.spines[["top", "right"]].set_visible(False)
    found = {name: it["value"] for name, it in document["figures"].items() if it["unit"] == unit}
    if not found:
        nothing(axes, "no figures")
        return
    names = list(found)
    values = [scale * found[name] for name in names]
    bars = axes.barh(names, values, color=COLOURS[0], height=0.6, label="measured")
    axes.bar_label(bars, [shown(it) for it in values], padding=8, fontsize="small")
    marks = [name for name in names if name in predicted]
    if marks:
        axes.plot(
            [scale * predicted[name] for name in marks],
            marks,
            linestyle="none",
            marker="d",
            color=COLOURS[1],
            label="simulated",
        )
        axes.legend(frameon=False, fontsize="small", loc="upper left", bbox_to_anchor=(1.0, 1.0))
    axes.set_xscale("log")
    axes.xaxis.set_major_formatter(FuncFormatter(lambda value, _: shown(value)))
    axes.xaxis.set_minor_formatter(NullFormatter())
    axes.invert_yaxis()
    axes.margins(x=0.15)
