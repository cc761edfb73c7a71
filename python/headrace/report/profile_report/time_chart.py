"""Charts over the time of a run: panels below a strip of phases.

Each line is drawn twice: the samples thin, and above them their running mean over ten samples, as
in Hindman 2011, section 5.3.1. Baselines are dashed lines with a label on the right.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from typing import Any

import numpy as np
import polars as pl
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import FuncFormatter, LogLocator, MaxNLocator, NullLocator

from headrace.quantities import number
from headrace.render.style import COLOURS, short
from headrace.report.profile_report.data import Document, ProfileData, maximum
from headrace.views.profile_values import NO_VERDICT
from headrace.views.verdict_words import verdict_words

RUNNING = 10
"""Samples of the running mean (Hindman 2011, section 5.3.1)."""
MOST_POINTS = 1000
"""More samples are drawn as the range between their least and largest values."""
WIDTH = 7.6
STRIP = 0.24
"""Height of the strip of phases in inches; all lengths below are in inches, too."""
LEFT = 0.78
RIGHT = 1.4
"""Room for the labels of baselines."""
NARROW_RIGHT = 0.2
BELOW = 0.45
LEGEND_ROW = 0.165
GAP = 0.13
"""Room above a panel without its legend."""
BEYOND = 2.5
"""A baseline that is more times as high as all lines is named at the top and not drawn to scale."""
LABEL_POINTS = 9.5
"""Distance of two labels of baselines in points."""
READ, WRITE = COLOURS[0], COLOURS[1]
SMALL = 8
LONGEST_LABEL = 36
"""Letters of a line's label."""
LEGEND = 110
"""Letters beside one another in a legend."""

SCALES = {
    "B/s": ((1e12, "TB/s"), (1e9, "GB/s"), (1e6, "MB/s"), (1e3, "kB/s"), (1.0, "B/s")),
    "B": ((1e12, "TB"), (1e9, "GB"), (1e6, "MB"), (1e3, "kB"), (1.0, "B")),
    "s": ((1.0, "s"), (1e-3, "ms"), (1e-6, "µs")),
    "%": ((0.01, "%"),),
}
"""Factors and their units, largest first, by the unit of the values; shares are shown in %."""


@dataclass(frozen=True)
class Line:
    """Values over time."""

    label: str
    values: pl.Series
    """One value for each interval, null where it is unknown."""
    colour: str
    dashes: str = "solid"


@dataclass(frozen=True)
class Level:
    """A figure of the baseline."""

    label: str
    value: float | None
    colour: str = "#444444"


@dataclass(frozen=True)
class Panel:
    """A pair of axes."""

    title: str
    unit: str
    """A key of `SCALES`, or any other unit, which is not scaled."""
    lines: Sequence[Line]
    levels: Sequence[Level] = field(default_factory=tuple)
    height: float = 1.3
    """Inches."""
    top: float | None = None
    """Upper end of the axis; None if it follows from the values."""
    logarithmic: bool = False
    """Whether the axis is logarithmic; its values are bytes then."""
    if_positive: bool = False
    """Whether the panel is omitted if no value is above 0."""

    def known(self) -> list[Line]:
        """Return the lines that have a value; none if the panel is to be omitted."""
        lines = [line for line in self.lines if line.values.drop_nulls().drop_nans().len()]
        if self.if_positive and not any(_largest(line) > 0 for line in lines):
            return []
        return lines


def time_chart(data: ProfileData, panels: Sequence[Panel]) -> Figure | None:
    """Draw the panels that have a known value; None if there is none."""
    shown = [one for one in panels if one.known()]
    if not shown:
        return None
    right = RIGHT if any(one.levels and not one.logarithmic for one in shown) else NARROW_RIGHT
    rows = [_legend_rows([line.label for line in one.known()]) for one in shown]
    figure, axes = empty_time_chart(data, [one.height for one in shown], rows, right)
    for panel, each in zip(shown, axes, strict=True):
        _draw(each, data, panel)
    return figure


def empty_time_chart(
    data: ProfileData,
    heights: Sequence[float],
    legend_rows: Sequence[int],
    right: float = NARROW_RIGHT,
) -> tuple[Figure, list[Axes]]:
    """Return a figure with the strip of phases, and empty axes of given heights in inches.

    Each has room for the rows of its legend above it; `right` is the room beside them. All
    places are computed here, because Matplotlib's own layout takes most of the time of a figure.
    """
    rooms = [LEGEND_ROW * rows + GAP for rows in legend_rows]
    total = STRIP + sum(heights) + sum(rooms) + BELOW + 0.04
    figure = Figure(figsize=(WIDTH, total))
    width = (WIDTH - LEFT - right) / WIDTH
    top = total - 0.04
    end = max(data.duration_s, 1e-9)

    def add(height: float, **options: Any) -> Axes:
        nonlocal top
        top -= height
        return figure.add_axes((LEFT / WIDTH, top / total, width, height / total), **options)

    strip = add(STRIP)
    strip.set_xlim(0.0, end)
    _phases(strip, data.phases, end)
    axes = []
    for height, room in zip(heights, rooms, strict=True):
        top -= room
        each = add(height, sharex=strip)
        axes.append(each)
        each.patch.set_alpha(0.0)
        each.spines[["top", "right"]].set_visible(False)
        each.grid(color="#dddddd", linewidth=0.6)
        each.set_axisbelow(True)
        each.tick_params(labelsize=SMALL, labelbottom=False)
        each.yaxis.set_label_coords((0.19 - LEFT) / (WIDTH - LEFT - right), 0.5)
        for phase in data.phases:
            colour = verdict_words(phase["verdict"]).colour
            each.axvspan(phase["from_s"], phase["to_s"], color=colour, alpha=0.10, linewidth=0)
        for phase in data.phases[1:]:
            each.axvline(phase["from_s"], color="#888888", linewidth=0.6)
    axes[-1].tick_params(labelbottom=True)
    axes[-1].set_xlabel("time since the start, s", fontsize=SMALL)
    return figure, axes


def _phases(strip: Axes, phases: Sequence[Document], end: float) -> None:
    strip.set_ylim(0, 1)
    strip.axis("off")
    for at, phase in enumerate(phases, 1):
        start, length = phase["from_s"], phase["to_s"] - phase["from_s"]
        words = verdict_words(phase["verdict"])
        strip.broken_barh([(start, length)], (0, 1), color=words.colour, alpha=0.55, linewidth=0)
        # About 5.5 points a letter of size 8, on 500 points.
        room = 90 * length / end
        for label in (f"{at} {phase['verdict'] or NO_VERDICT}", f"{at}"):
            if len(label) <= room:
                strip.text(
                    start + length / 2, 0.45, label, ha="center", va="center", fontsize=SMALL
                )
                break


def _draw(axes: Axes, data: ProfileData, panel: Panel) -> None:
    lines = panel.known()
    largest = max(map(_largest, lines))
    factor, unit = (1.0, "") if panel.logarithmic else scale(largest, panel.unit)
    middles = _array((data.rates["from_s"] + data.rates["to_s"]) / 2)
    phases = phase_of(data)
    for line in lines:
        values = _array(line.values) / factor
        _samples(axes, middles, values, line.colour)
        mean = _array(running_mean(line.values, phases)) / factor
        axes.plot(
            middles,
            mean,
            color=line.colour,
            linestyle=line.dashes,
            marker="o" if len(values) == 1 else "",
            linewidth=1.6,
            label=short(line.label, LONGEST_LABEL),
        )
    levels = [level for level in panel.levels if level.value is not None]
    drawn = [level for level in levels if (level.value or 0.0) <= BEYOND * largest]
    high = [level for level in levels if level not in drawn]
    top = max([largest, *(level.value or 0.0 for level in drawn)]) / factor
    if panel.logarithmic and largest > 0:
        axes.set_yscale("log")
        known = [value for line in lines for value in line.values.drop_nulls() if value > 0]
        decades = np.log10([min(known), 1.001 * largest])
        axes.set_ylim(10.0 ** np.floor(decades[0]), 10.0 ** np.ceil(decades[1]))
        axes.yaxis.set_major_locator(LogLocator(numticks=4))
        axes.yaxis.set_minor_locator(NullLocator())
        axes.yaxis.set_major_formatter(FuncFormatter(lambda value, _: _short_size(value)))
    else:
        axes.set_ylim(0.0, panel.top / factor if panel.top is not None else 1.08 * top or 1.0)
        axes.yaxis.set_major_locator(MaxNLocator(nbins=5))
        axes.yaxis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:,.10g}"))
        _levels(axes, drawn, high, factor, unit, panel.unit, panel.height)
    axes.set_ylabel(f"{panel.title}, {unit}" if unit else panel.title, fontsize=SMALL)
    axes.legend(
        loc="lower left",
        bbox_to_anchor=(-0.01, 0.98),
        ncols=_legend_columns([curve.label for curve in lines]),
        frameon=False,
        fontsize=SMALL,
        borderaxespad=0.1,
        handlelength=1.6,
        columnspacing=1.2,
    )


def _largest(line: Line) -> float:
    return maximum(line.values)


def _legend_columns(labels: Sequence[str]) -> int:
    """Return how many of the longest labels fit side by side."""
    longest = max(min(len(label), LONGEST_LABEL) for label in labels)
    return max(1, min(len(labels), LEGEND // (longest + 6)))


def _legend_rows(labels: Sequence[str]) -> int:
    return -(-len(labels) // _legend_columns(labels))


def _samples(axes: Axes, middles: np.ndarray, values: np.ndarray, colour: str) -> None:
    if len(values) <= MOST_POINTS:
        axes.plot(middles, values, color=colour, linewidth=0.6, alpha=0.45)
        return
    bins = np.linspace(0, len(values), MOST_POINTS // 2 + 1).astype(int)
    parts = [slice(start, stop) for start, stop in pairwise(bins)]
    known = [part for part in parts if not np.isnan(values[part]).all()]
    axes.fill_between(
        [float(middles[part].mean()) for part in known],
        [float(np.nanmin(values[part])) for part in known],
        [float(np.nanmax(values[part])) for part in known],
        color=colour,
        alpha=0.25,
        linewidth=0,
    )


def _levels(
    axes: Axes,
    drawn: Sequence[Level],
    high: Sequence[Level],
    factor: float,
    unit: str,
    own: str,
    height: float,
) -> None:
    """Draw baselines, and their labels on the right without overlap. `own` is the unit of their
    values, from which a label above the chart takes its prefix."""
    low, top = axes.get_ylim()
    labels = []
    for level in drawn:
        value = (level.value or 0.0) / factor
        axes.axhline(value, color=level.colour, linewidth=0.9, linestyle=(0, (5, 3)))
        labels.append(((value - low) / (top - low), f"{level.label} {_short(value, unit)}", level))
    for level in high:
        labels.append((1.0, f"↑ {level.label} {_in_own_unit(level.value or 0.0, own)}", level))
    labels.sort(key=lambda pair: pair[0])
    distance = LABEL_POINTS / (72 * height)
    for place, (at, text, level) in zip(
        _spread([label[0] for label in labels], distance), labels, strict=True
    ):
        axes.annotate(
            text,
            (1.0, at),
            (1.015, place),
            xycoords="axes fraction",
            textcoords="axes fraction",
            va="center",
            fontsize=7.5,
            color=level.colour,
            annotation_clip=False,
        )


def _spread(places: Sequence[float], distance: float) -> list[float]:
    """Return ascending places that are moved down from the top until each has its distance."""
    heights: list[float] = []
    limit = 1.0
    for place in reversed(places):
        limit = min(place, limit)
        heights.append(limit)
        limit -= distance
    return heights[::-1]


def _short(value: float, unit: str) -> str:
    return f"{number(value)}/s" if unit == "1/s" else f"{number(value)} {unit}".strip()


def _in_own_unit(value: float, unit: str) -> str:
    factor, scaled = scale(value, unit)
    return _short(value / factor, scaled)


def _short_size(value: float) -> str:
    factor, unit = scale(value, "B")
    return f"{value / factor:g} {unit}"


def scale(largest: float, unit: str) -> tuple[float, str]:
    """Return the factor and the unit in which values up to `largest` are shown."""
    scales = SCALES.get(unit, ((1.0, unit),))
    return next((pair for pair in scales if largest >= pair[0]), scales[-1])


def phase_of(data: ProfileData) -> pl.Series:
    """Return the number of the phase of each interval, from 0."""
    starts = [float(phase["from_s"]) for phase in data.phases[1:]]
    middles = _array((data.rates["from_s"] + data.rates["to_s"]) / 2)
    return pl.Series("phase", np.searchsorted(np.array(starts), middles, side="right"))


def running_mean(values: pl.Series, phases: pl.Series) -> pl.Series:
    """Return the mean over the ten samples around each one, of the same phase. There are fewer at
    the ends of a phase and at gaps; an unknown sample stays unknown."""
    mean = pl.col("values").rolling_mean(RUNNING, min_samples=1, center=True).over("phase")
    table = pl.DataFrame({"values": values.fill_nan(None), "phase": phases})
    return table.select(pl.when(pl.col("values").is_not_null()).then(mean)).to_series()


def _array(values: pl.Series) -> np.ndarray:
    return values.cast(pl.Float64).fill_null(float("nan")).to_numpy()


def caption_of_lines(panels: Sequence[Panel]) -> str:
    """Return how the lines of panels are to be read."""
    text = f"Thin: samples. Thick: running mean over {RUNNING} samples of a phase."
    levels = [level for panel in panels if panel.known() for level in panel.levels]
    return text + " Dashed: baseline." * any(level.value is not None for level in levels)
