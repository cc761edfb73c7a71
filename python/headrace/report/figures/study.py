"""A micro-benchmark over its range."""

import itertools
import math
from collections.abc import Mapping, Sequence
from typing import Any

from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import FuncFormatter, LogLocator, NullFormatter

from headrace.quantities import short_size
from headrace.report.figures.style import COLOURS, DASHES, grid, nothing, sheet
from headrace.report.study_values import Shown, shown, statistic

WIDE = 20.0
"""Figures that differ by more than this factor are drawn on a logarithmic axis."""
MOST_LINES = 7
"""Most lines in one panel, one for each colour."""


def draw(document: Mapping[str, Any]) -> Figure:
    """Draw a line for each test with a band around it: the statistic that the table shows.

    All panels of a unit have the same axis, which is logarithmic if figures differ by much. The
    last numeric parameter is the axis; the others distinguish lines. With many lines, each test has
    its own panel.
    """
    title = document["scenario"]["description"].capitalize()
    name = ": ".join(filter(None, (document["scenario"]["name"], statistic(document))))
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
        figure = Figure(figsize=(10.0, 1.0 + 2.6 * math.ceil(len(tests) / 2)), layout="constrained")
        figure.suptitle(f"{title}\n{name}", x=0.01, ha="left", fontsize="medium")
        grid = figure.subplots(math.ceil(len(tests) / 2), 2, squeeze=False)
        panels = [(axes, [test]) for axes, test in zip(grid.flat, tests, strict=False)]
        for spare in grid.flat[len(tests) :]:
            spare.set_visible(False)
    for axes, panel in panels:
        for test, kind in itertools.product(panel, kinds):
            number = tests.index(test) if len(panel) > 1 else kinds.index(kind)
            named = ", ".join(_value(document, *it) for it in zip(others, kind, strict=True))
            points = [
                it
                for it in summary
                if it["test"] == test and tuple(it[key] for key in others) == kind
            ]
            label = f"{test} {named}".strip() if len(panel) > 1 else named or test
            style = DASHES[kinds.index(kind) % len(DASHES)] if len(panel) > 1 else "solid"
            _line(axes, sorted(points, key=lambda it: it[axis]), axis, label, number, style)
        _axes(axes, document, summary, axis, panel)
    heading = ", ".join(others) if len(panels) > 1 else None
    handles, labels = panels[0][0].get_legend_handles_labels()
    figure.legend(handles, labels, loc="outside right upper", frameon=False, title=heading)
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
    found = [shown(it) for it in points]
    y = [(it.value or 0.0) * scale for it in found]
    axes.plot(
        x, y, linestyle=style, color=colour, marker="o", markersize=4, linewidth=1.6, label=label
    )
    low, high = (
        [(end or 0.0) * scale for end in ends] for ends in zip(*_ranges(found), strict=True)
    )
    axes.fill_between(x, low, high, color=colour, alpha=0.12, linewidth=0)


def _ranges(found: Sequence[Shown]) -> list[tuple[float | None, float | None]]:
    return [(it.low, it.high) for it in found]


def _limits(axes: Axes, points: Sequence[Mapping[str, Any]], scale: float) -> None:
    """The same axis for all panels of these points, from 0, or logarithmic."""
    found = [shown(it) for it in points]
    values = [it.value * scale for it in found if it.value]
    highest = max([it.high * scale for it in found if it.high], default=1.0)
    if not values or max(values) <= WIDE * min(values):
        axes.set_ylim(0, 1.05 * highest)
        axes.yaxis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:,.10g}"))
        return
    axes.set_yscale("log")
    axes.set_ylim(min(values) / 2, 1.5 * highest)
    far = highest > 100 * min(values)
    axes.yaxis.set_major_locator(LogLocator(subs=(1.0,) if far else (1.0, 2.0, 5.0)))
    axes.yaxis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:,.10g}"))
    axes.yaxis.set_minor_formatter(NullFormatter())


def _axes(
    axes: Axes,
    document: Mapping[str, Any],
    summary: Sequence[Mapping[str, Any]],
    axis: str,
    tests: Sequence[str],
) -> None:
    rate = any(it["unit"] == "per_second" for it in summary if it["test"] in tests)
    axes.set_ylabel("operations/s" if rate else "MB/s")
    alike = [it for it in summary if (it["unit"] == "per_second") == rate]
    _limits(axes, alike, 1.0 if rate else 1e-6)
    axes.set_xlabel(f"{axis} size" if axis in document["sizes"] else axis)
    if len(tests) == 1:
        axes.set_title(tests[0], loc="left", fontsize="medium")
        grid(axes)
    axes.set_xscale("log", base=2)
    axes.set_xticks(sorted({it[axis] for it in summary}))
    axes.xaxis.set_major_formatter(
        FuncFormatter(lambda value, _: _value(document, axis, round(value)))
    )
    axes.xaxis.minorticks_off()
    axes.tick_params(axis="x", labelrotation=30 if axis in document["sizes"] else 0)


def _value(document: Mapping[str, Any], key: str, value: Any) -> str:
    return short_size(value) if key in document["sizes"] else str(value)


def _is_number(summary: Sequence[Mapping[str, Any]], key: str) -> bool:
    return bool(summary) and all(isinstance(it[key], int) for it in summary)
