"""A micro-benchmark over its range."""

import itertools
import math
from collections.abc import Mapping, Sequence
from typing import Any

from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import FuncFormatter

from headrace.report.figures.style import COLOURS, DASHES, nothing, sheet
from headrace.report.units import short_size

MOST_LINES = 7
"""In one panel: as many as there are colours."""


def draw(document: Mapping[str, Any]) -> Figure:
    """A line for each test: medians, and from the least to the most of the repeats.

    The last parameter that is a number is the axis; the others tell lines apart. With many
    lines each test has a panel of its own.
    """
    title = document["scenario"]["description"].capitalize()
    name = document["scenario"]["name"]
    summary = [it for it in document["summary"] if it["median"] is not None]
    numbers = [key for key in document["parameters"] if _is_number(summary, key)]
    if not summary or not numbers:
        figure, axes = sheet(title, name)
        nothing(axes, "there is no range to draw")
        return figure
    axis = numbers[-1]
    others = [key for key in document["parameters"] if key != axis]
    tests = list(dict.fromkeys(it["test"] for it in summary))
    kinds = list(dict.fromkeys(tuple(it[key] for key in others) for it in summary))
    if len(tests) * len(kinds) <= MOST_LINES:
        figure, axes = sheet(title, name)
        panels = [(axes, tests)]
    else:
        figure = Figure(figsize=(8.0, 1.0 + 2.3 * math.ceil(len(tests) / 2)), layout="constrained")
        figure.suptitle(f"{title} ({name})", x=0.01, ha="left", fontweight="bold")
        grid = figure.subplots(math.ceil(len(tests) / 2), 2, sharex=True, squeeze=False)
        panels = [(axes, [test]) for axes, test in zip(grid.flat, tests, strict=False)]
        for spare in grid.flat[len(tests) :]:
            spare.set_visible(False)
    for axes, shown in panels:
        for test, kind in itertools.product(shown, kinds):
            number = tests.index(test) if len(shown) > 1 else kinds.index(kind)
            named = ", ".join(_value(document, *it) for it in zip(others, kind, strict=True))
            points = [
                it
                for it in summary
                if it["test"] == test and tuple(it[key] for key in others) == kind
            ]
            label = f"{test} {named}".strip() if len(shown) > 1 else named or test
            style = DASHES[kinds.index(kind) % len(DASHES)] if len(shown) > 1 else "solid"
            _line(axes, sorted(points, key=lambda it: it[axis]), axis, label, number, style)
        _axes(axes, document, summary, axis, shown)
        if len(panels) > 1:
            axes.label_outer()
    heading = ", ".join(others) if len(panels) > 1 else None
    panels[0][0].legend(frameon=False, fontsize=8, title=heading)
    return figure


def _line(
    axes: Axes,
    points: Sequence[Mapping[str, Any]],
    axis: str,
    label: str,
    number: int,
    style: str,
) -> None:
    if not points:
        return
    scale = 1.0 if points[0]["unit"] == "per_second" else 1e-6
    x = [it[axis] for it in points]
    colour = COLOURS[number % len(COLOURS)]
    y = [it["median"] * scale for it in points]
    axes.plot(
        x, y, linestyle=style, color=colour, marker="o", markersize=4, linewidth=1.6, label=label
    )
    least, most = ([it[end] * scale for it in points] for end in ("least", "most"))
    axes.fill_between(x, least, most, color=colour, alpha=0.12, linewidth=0)


def _axes(
    axes: Axes,
    document: Mapping[str, Any],
    summary: Sequence[Mapping[str, Any]],
    axis: str,
    shown: Sequence[str],
) -> None:
    rate = any(it["unit"] == "per_second" for it in summary if it["test"] in shown)
    axes.set_ylabel("operations/s" if rate else "MB/s")
    axes.set_xlabel(axis)
    if len(shown) == 1:
        axes.set_title(shown[0], loc="left", fontsize="medium")
        axes.grid(color="#dddddd", linewidth=0.7)
        axes.set_axisbelow(True)
        axes.spines[["top", "right"]].set_visible(False)
    axes.set_xscale("log", base=2)
    axes.set_xticks(sorted({it[axis] for it in summary}))
    axes.xaxis.set_major_formatter(
        FuncFormatter(lambda value, _: _value(document, axis, round(value)))
    )
    axes.minorticks_off()
    axes.tick_params(axis="x", labelrotation=30 if axis in document["sizes"] else 0)
    axes.set_ylim(bottom=0)


def _value(document: Mapping[str, Any], key: str, value: Any) -> str:
    return short_size(value) if key in document["sizes"] else str(value)


def _is_number(summary: Sequence[Mapping[str, Any]], key: str) -> bool:
    return bool(summary) and all(isinstance(it[key], int) for it in summary)
