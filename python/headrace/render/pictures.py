"""Charts of a view as pictures."""

import io
import itertools
import math
import warnings
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import matplotlib as mpl
from matplotlib.axes import Axes
from matplotlib.axis import Axis as Ruler
from matplotlib.figure import Figure, SubFigure
from matplotlib.ticker import (
    FuncFormatter,
    LogFormatterMathtext,
    LogLocator,
    MaxNLocator,
    NullFormatter,
)

from headrace.files import atomic_file, make_directory
from headrace.quantities import figure as figure_text
from headrace.render import units
from headrace.render.blocks import Axis, Chart, HeatMap, Line, Note, View
from headrace.render.style import COLOURS, DASHES, NotebookFigure, log_scale, nothing, short
from headrace.render.style import grid as draw_grid

NO_FORMULAS: Any = {"text.parse_math": False}
"""Names are no formulas: a text keeps the setting that it was made with."""
RESOLUTION = 150
"""Dots per inch of pixel images: 8 inches are 1200 pixels."""
WIDTH, HEIGHT = 8.0, 4.2
"""Inches of a picture of one panel."""
TWO_WIDE, PANEL = 11.0, 3.2
"""Inches of a picture with panels abreast, and of the height of one."""
NAMED, ROW, TALLEST = 1.4, 0.35, 9.0
"""Inches of a panel of names without its rows, of a row, and of the tallest heat map."""
LONGEST_LABEL, LONGEST_HEADING = 48, 110
"""Letters of a name beside bars or in a legend, and of a line of the heading."""
MOST_LABELS = 32
"""Names of a heat map that are all written."""
MARKS = "osD^v"
MOST_IN_LEGEND, MOST_BELOW = 40, 20
"""Lines up to which there is a legend, and those of one of its columns."""
MOST_MARKS = 40
"""Points of a line up to which each has a mark."""
REFERENCE = "#999999"
SPANS = ("#dddddd", "#f0c890")
"""Colours of the spans of one name and of the next."""
BEYOND, BEYOND_TEXTS = 1.04, 1.45
"""End of an axis over the most that values can be; with texts beside them."""
FEW = 1e3
"""Ratio of values below which a logarithmic axis has marks within decades."""
TEXT_ROOM = 0.3
"""Part of an axis that texts beside marks need."""
NINES = (0.0, 0.5, 0.9, 0.99, 0.999, 0.9999, 0.99999, 0.999999)
"""Shares that an axis of nines marks."""
MOST_TICKS = 8
"""Values of an axis up to which each has a mark."""


def drawn(view: View) -> dict[str, NotebookFigure]:
    """Return the pictures of a view by their names. Charts of one name are panels of one."""
    title = _title(view)
    return {name: _picture(panels, title) for name, panels in _by_picture(view).items()}


def _by_picture(view: View) -> dict[str, list[Chart | HeatMap]]:
    by_picture: dict[str, list[Chart | HeatMap]] = {}
    for block in view:
        if isinstance(block, Chart | HeatMap):
            by_picture.setdefault(block.picture, []).append(block)
    return by_picture


def _title(view: View) -> str:
    heading = next((note for note in view if isinstance(note, Note) and note.name), Note(""))
    return f"{heading.name}{heading.text}".split("\n")[0]


def drawn_one(view: View, name: str) -> NotebookFigure:
    """Return one picture of a view. Raises ValueError if there is no such picture."""
    by_picture = _by_picture(view)
    if name not in by_picture:
        raise ValueError(f"figure {name!r}: expected {', '.join(by_picture)}")
    return _picture(by_picture[name], _title(view))


def save(directory: Path, view: View) -> list[Path]:
    """Write each picture of a view as PNG and SVG into a directory, which is made if need be.

    Equal results give equal files. Raises OSError if they cannot be written.
    """
    return save_figures(directory, drawn(view))


def save_figures(directory: Path, figures: Mapping[str, Figure]) -> list[Path]:
    """Write figures by their names, as `save` does."""
    make_directory(directory)
    written = []
    # Identifiers in an SVG are otherwise random, and names are no formulas.
    with mpl.rc_context({"svg.hashsalt": "headrace", **NO_FORMULAS}):
        for file, picture in figures.items():
            for suffix, metadata in ((".png", None), (".svg", {"Date": None})):
                path = directory / f"{file}{suffix}"
                write_figure(picture, path, metadata)
                written.append(path)
    return written


def write_figure(picture: Figure, path: Path, metadata: Mapping[str, Any] | None = None) -> None:
    """Write a figure in the format of the file's name. Raises OSError if it cannot."""
    image = io.BytesIO()
    label_plainly(picture)
    # A pixel image is written back and forth, which a pipe does not allow.
    with warnings.catch_warnings():
        # Matplotlib warns about missing letters and about long names.
        warnings.filterwarnings("ignore", category=UserWarning, module="matplotlib|headrace")
        warnings.filterwarnings("ignore", message="Glyph |constrained_layout")
        picture.savefig(image, format=path.suffix[1:], dpi=RESOLUTION, metadata=metadata)
    with atomic_file(path) as partial:
        partial.write_bytes(image.getvalue())


class PlainLogFormatter(LogFormatterMathtext):
    """Labels of a logarithmic axis as numbers, at the ticks where matplotlib has formulas."""

    def __call__(self, x: float, pos: int | None = None) -> str:
        """Return the label of a tick; empty where it has none."""
        return f"{x:,.10g}" if super().__call__(x, pos) else ""


def label_plainly(picture: Figure) -> None:
    """Replace formulas in the labels of logarithmic axes by numbers: texts are no formulas."""
    for axes in picture.axes:
        for ruler in (axes.xaxis, axes.yaxis):
            if isinstance(ruler.get_major_formatter(), LogFormatterMathtext):
                ruler.set_major_formatter(PlainLogFormatter())
            if isinstance(ruler.get_minor_formatter(), LogFormatterMathtext):
                ruler.set_minor_formatter(PlainLogFormatter())


def stacked(view: View) -> NotebookFigure:
    """Return all pictures of a view below each other in one."""
    by_picture = _by_picture(view)
    sizes = [_Layout.of(panels).size for panels in by_picture.values()]
    size = (max(width for width, _ in sizes), sum(height for _, height in sizes))
    whole = NotebookFigure(figsize=size, layout="constrained")
    heights = [height for _, height in sizes]
    parts = whole.subfigures(len(sizes), 1, squeeze=False, height_ratios=heights)
    with mpl.rc_context(NO_FORMULAS):
        for part, panels in zip(parts[:, 0], by_picture.values(), strict=True):
            _draw(part, panels, _title(view))
    return whole


@dataclass(frozen=True)
class _Layout:
    """Places of the panels of a picture: those of names abreast, others two abreast."""

    rows: int
    columns: int
    size: tuple[float, float]
    """Width and height in inches."""
    is_shared: bool
    """Whether the panels have the same names."""

    @classmethod
    def of(cls, panels: Sequence[Chart | HeatMap]) -> "_Layout":
        named = panels[0].x.scale == "names"
        columns = len(panels) if named else min(len(panels), 2)
        rows = math.ceil(len(panels) / columns)
        names = [_names(panel) for panel in panels if isinstance(panel, Chart)]
        height = PANEL * rows if columns > 1 else HEIGHT
        if named:
            lines = [sum(1 + ("\n" in name) for name in each) for each in names]
            height = NAMED + ROW * max(lines, default=0)
        if isinstance(panels[0], HeatMap) and columns == 1:
            height = min(NAMED + ROW * len(panels[0].rows), TALLEST)
        size = (WIDTH if columns == 1 else TWO_WIDE, height)
        return cls(rows, columns, size, named and all(name == names[0] for name in names))


def _picture(panels: Sequence[Chart | HeatMap], heading: str) -> NotebookFigure:
    picture = NotebookFigure(figsize=_Layout.of(panels).size, layout="constrained")
    with mpl.rc_context(NO_FORMULAS):
        _draw(picture, panels, heading)
    return picture


def _draw(picture: Figure | SubFigure, panels: Sequence[Chart | HeatMap], heading: str) -> None:
    """Draw panels below a heading."""
    layout = _Layout.of(panels)
    statistic = next((panel.statistic for panel in panels if isinstance(panel, Chart)), "")
    lines = [short(line, LONGEST_HEADING) for line in (heading, statistic) if line]
    picture.suptitle("\n".join(lines), x=0.01, ha="left", fontsize="medium", color="#444444")
    share: Any = "row" if layout.is_shared else False
    grid = picture.subplots(layout.rows, layout.columns, squeeze=False, sharey=share)
    for axes, chart in itertools.zip_longest(grid.flat, panels):
        if chart is None:
            axes.set_visible(False)
        else:
            axes.set_title(short(chart.title), loc="left", fontsize="medium", fontweight="bold")
            if isinstance(chart, HeatMap):
                _draw_heat_map(axes, chart)
            else:
                _panel(axes, chart)
    named = panels[0].x.scale == "names"
    is_same = all(isinstance(panel, Chart) and panel.y == panels[0].y for panel in panels)
    # Without a name and a unit, axes are of different things.
    if not named and is_same and panels[0].y.label:
        ends = [end for axes, _ in zip(grid.flat, panels, strict=False) for end in axes.get_ylim()]
        for axes in grid.flat:
            axes.set_ylim(min(ends), max(ends))


def _panel(axes: Axes, chart: Chart) -> None:
    draw_grid(axes)
    if not any(y is not None for line in chart.lines for y in line.y):
        nothing(axes, chart.empty)
        return
    if chart.x.scale == "names":
        _draw_names(axes, chart)
    else:
        _draw_lines(axes, chart)
    if (len(chart.lines) > 1 or chart.x.scale != "names") and len(chart.lines) <= MOST_IN_LEGEND:
        columns = math.ceil(len(chart.lines) / MOST_BELOW)
        axes.legend(
            frameon=False,
            fontsize="small",
            loc="upper left",
            bbox_to_anchor=(1.0, 1.0),
            ncols=columns,
        )


def _draw_names(axes: Axes, chart: Chart) -> None:
    """Draw values beside names, which stand below each other as they may be long."""
    names = _names(chart)
    bars = [line for line in chart.lines if line.shape == "bar"]
    thickness = 0.8 / (1 if chart.is_stacked else max(len(bars), 1))
    middle, base = (len(bars) - 1) / 2, chart.y.unit.scale * chart.y.base
    ends = [base] * len(names)
    for number, line in enumerate(chart.lines):
        colour = COLOURS[number % len(COLOURS)]
        rows = [names.index(x) for x in line.x]
        values = _scaled(line.y, chart.y)
        ranges = _distances(line.y, line.low, line.high, chart.y)
        if line.shape == "bar":
            offset = 0.0 if chart.is_stacked else thickness * (bars.index(line) - middle)
            axes.barh(
                [row + offset for row in rows],
                [value - base for value in values],
                0.9 * thickness,
                left=[ends[row] if chart.is_stacked else base for row in rows],
                color=colour,
                label=_label(line),
                xerr=ranges,
            )
        else:
            marker = MARKS[number % len(MARKS)]
            axes.errorbar(
                values,
                rows,
                xerr=ranges,
                fmt=marker,
                color=colour,
                markersize=5,
                label=_label(line),
            )
        for row, value in zip(rows, values, strict=True):
            if not math.isnan(value):
                stacked_on = ends[row] if chart.is_stacked and line.shape == "bar" else 0.0
                ends[row] = max(ends[row], stacked_on + value)
    if len(bars) == 1:
        axes.margins(x=0.2)
        texts = bars[0].texts or map(figure_text, _scaled(bars[0].y, chart.y))
        for name, y, text in zip(bars[0].x, bars[0].y, texts, strict=True):
            if y is not None:
                row = names.index(name)
                # Beyond the bar and its marks.
                axes.annotate(
                    text,
                    (ends[row], row),
                    (6, 0),
                    textcoords="offset points",
                    va="center",
                    fontsize="small",
                )
    axes.set_yticks(range(len(names)), [_short_lines(name) for name in names])
    spec = axes.get_subplotspec()
    if spec is None or spec.is_first_col():
        axes.set_ylabel(short(chart.x.label))
    axes.set_ylim(len(names) - 0.5, -0.5)
    axes.grid(visible=False, axis="y")
    axes.set_xlabel(short(chart.y.label))
    _scale(axes.xaxis, chart.y, chart.lines)
    axes.tick_params(axis="x", labelrotation=30)


def _draw_lines(axes: Axes, chart: Chart) -> None:
    groups: dict[str, list[Line]] = {}
    for line in chart.lines:
        x, y = _scaled(line.x, chart.x), _scaled(line.y, chart.y)
        if line.is_reference:
            style: Any = {"color": REFERENCE, "label": _label(line)}
            if line.low:
                low, high = _scaled(line.low, chart.y), _scaled(line.high, chart.y)
                axes.fill_between(x, low, high, alpha=0.2, linewidth=0, **style)
            elif min(x) == max(x):
                axes.axhline(y[0], linewidth=1.0, **style)
            else:
                axes.plot(x, y, linewidth=1.0, **style)
            continue
        group = groups.setdefault(line.group or line.name, [])
        group.append(line)
        number = list(groups.values()).index(group)
        colour = COLOURS[number % len(COLOURS)]
        dashes = DASHES[(number // len(COLOURS) + len(group) - 1) % len(DASHES)]
        style = {"color": colour, "label": _label(line), "linestyle": dashes}
        if chart.x.scale == "nines":
            x = [1 / (1 - at) for at in x]
        style["drawstyle"] = "steps-post" if line.shape == "level" else "default"
        if line.low and (line.shape == "mark" or line.x_low or len(x) == 1):
            errors = _distances(line.y, line.low, line.high, chart.y)
            x_errors = _distances(line.x, line.x_low, line.x_high, chart.x)
            axes.errorbar(x, y, errors, x_errors, fmt="none", ecolor=colour, capsize=2)
        elif line.low:
            low, high = _scaled(line.low, chart.y), _scaled(line.high, chart.y)
            step: Any = "post" if line.shape == "level" else None
            axes.fill_between(x, low, high, step=step, color=colour, alpha=0.15, linewidth=0)
        if line.shape == "mark" or (line.shape == "line" and len(x) <= MOST_MARKS):
            style["marker"] = MARKS[number % len(MARKS)]
        if line.shape == "mark":
            style["linestyle"] = "none"
        # Of equal lines, the first can be seen below the others.
        style["linewidth"] = 2.6 if number == 0 and len(chart.lines) > 2 else 1.6
        axes.plot(x, y, markersize=4, **style)
        for text, across, up in zip(line.texts, x, y, strict=False):
            axes.annotate(text, (across, up), (8, -3), textcoords="offset points", va="top")
    for number, (name, at) in enumerate(chart.marks.items()):
        dashes = DASHES[1 + number % (len(DASHES) - 1)]
        axes.axvline(
            chart.x.unit.scale * at, color="#000000", linewidth=1.0, linestyle=dashes, label=name
        )
    names = list(dict.fromkeys(span.name for span in chart.spans))
    for number, span in enumerate(chart.spans):
        begin, end = (chart.x.unit.scale * edge for edge in (span.begin, span.end))
        colour = SPANS[names.index(span.name) % len(SPANS)]
        # One entry in the legend for those of one name.
        is_new = all(span.name != before.name for before in chart.spans[:number])
        axes.axvspan(begin, end, color=colour, alpha=0.5, label=span.name if is_new else None)
    axes.set_xlabel(short(chart.x.label))
    axes.set_ylabel(short(chart.y.label))
    _scale(axes.yaxis, chart.y, chart.lines)
    _scale_across(axes, chart)


def _scale_across(axes: Axes, chart: Chart) -> None:
    """Scale the axis that lines go over, and write its ticks."""
    edges = [x for line in chart.lines if line.shape == "level" for x in line.x]
    if edges and min(edges) < max(edges) and chart.x.scale == "linear":
        axes.set_xlim(*_scaled([min(edges), max(edges)], chart.x))
    if chart.x.ticks:
        places = _scaled(chart.x.ticks, chart.x)
        if chart.x.scale == "log":
            axes.set_xscale("log")
        axes.set_xticks(places, [short(chart.x.unit.text(at), 16) for at in chart.x.ticks])
        axes.set_xticks([], minor=True)
        return
    values = sorted({x for line in chart.lines for x in line.x if x is not None})
    if chart.x.scale == "log2":
        axes.set_xscale("log", base=2)
        each = math.ceil(len(values) / MOST_TICKS)
        axes.set_xticks(
            _scaled(values[::each], chart.x), [chart.x.unit.text(x) for x in values[::each]]
        )
        axes.xaxis.minorticks_off()
        axes.tick_params(axis="x", labelrotation=30)
    elif chart.x.scale == "nines":
        axes.set_xscale("log")
        axes.set_xticks([1 / (1 - at) for at in NINES if at <= values[-1] + 1e-9])
        axes.xaxis.set_major_formatter(FuncFormatter(lambda x, _: f"{100 * (1 - 1 / x):.6g}"))
        axes.minorticks_off()
    elif chart.x.scale == "log":
        _log_scale(axes.xaxis, _scaled(values, chart.x))
    elif chart.x.unit is units.COUNT:
        axes.xaxis.set_major_locator(MaxNLocator(integer=True))
    if any(line.texts for line in chart.lines):
        begin, end = axes.get_xlim()
        room = (end / begin) ** TEXT_ROOM if axes.get_xscale() == "log" else 1 + TEXT_ROOM
        axes.set_xlim(right=end * room)


def _draw_heat_map(axes: Axes, chart: HeatMap) -> None:
    values = [_scaled(row, Axis(unit=chart.unit)) for row in chart.values]
    ends = (None, None) if chart.most is None else (0.0, chart.unit.scale * chart.most)
    image = axes.imshow(values, aspect="auto", cmap="YlGnBu", vmin=ends[0], vmax=ends[1])
    axes.figure.colorbar(image, ax=axes, label=chart.unit.name)
    for ruler, names, most in (
        (axes.xaxis, chart.columns, MOST_TICKS),
        (axes.yaxis, chart.rows, MOST_LABELS),
    ):
        shown = range(0, len(names), math.ceil(len(names) / most))
        ruler.set_ticks(list(shown), [short(names[at], 30) for at in shown])
    if not chart.downwards:
        axes.invert_yaxis()
    axes.set_xlabel(short(chart.x.label))
    axes.set_ylabel(short(chart.y.label))


def _log_scale(ruler: Ruler, values: Sequence[float]) -> None:
    """Scale a ruler logarithmically, with more marks where values are within few decades."""
    log_scale(ruler, values)
    ruler.set_minor_formatter(NullFormatter())
    above = [value for value in values if value > 0]
    if above and len(above) == len(values) and max(above) < FEW * min(above):
        ruler.set_major_locator(LogLocator(subs=(1.0, 2.0, 5.0)))


def _scale(ruler: Ruler, axis: Axis, lines: Sequence[Line]) -> None:
    """Scale the ruler of the values of lines."""
    is_across = ruler is ruler.axes.xaxis
    if axis.scale == "log":
        _log_scale(ruler, [axis.unit.scale * y for line in lines for y in line.y if y is not None])
    # Bands may reach below 0; the ends of the ranges of bars are shown.
    elif all(y is None or y >= 0 for it in lines for y in (*it.y, *(it.low if is_across else ()))):
        limit = ruler.axes.set_xlim if ruler is ruler.axes.xaxis else ruler.axes.set_ylim
        if not axis.base:
            limit(0)
        if axis.most is not None:
            room = BEYOND_TEXTS if any(line.texts for line in lines) else BEYOND
            most = axis.unit.scale * axis.most
            ruler.set_ticks([most * part / 5 for part in range(6)])
            limit(0, (room if is_across else BEYOND) * most)
    ruler.set_major_formatter(FuncFormatter(lambda value, _: f"{value:,.10g}"))


def _label(line: Line) -> str:
    name = short(line.name, LONGEST_LABEL)
    # Matplotlib keeps names that begin so out of legends.
    return f" {name}" if name.startswith("_") else name


def _short_lines(name: str) -> str:
    return "\n".join(short(line, LONGEST_LABEL) for line in name.split("\n", 1))


def _names(chart: Chart) -> list[str]:
    return list(dict.fromkeys(x for line in chart.lines for x in line.x))


def _scaled(values: Sequence[float | None], axis: Axis) -> list[float]:
    """Return values in the unit of an axis; those that are not there are NaN."""
    return [math.nan if value is None else axis.unit.scale * value for value in values]


def _distances(
    values: Sequence[float | None],
    lows: Sequence[float | None],
    highs: Sequence[float | None],
    axis: Axis,
) -> list[list[float]] | None:
    """Return the distances of the ends of ranges from values."""
    if not lows:
        return None
    y, low, high = (_scaled(each, axis) for each in (values, lows, highs))
    below = [value - end for value, end in zip(y, low, strict=True)]
    above = [end - value for value, end in zip(y, high, strict=True)]
    # A prediction may lie outside of its interval.
    return [[0.0 if math.isnan(end) else max(end, 0.0) for end in ends] for ends in (below, above)]
