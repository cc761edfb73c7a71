"""Options of ECharts for charts and heat maps.

People with a colour vision deficiency can tell the colours apart: Okabe and Ito, "Color Universal
Design", 2008. Series also differ in their marks and line styles.
"""

import math
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import msgspec

from headrace.quantities import number
from headrace.render.blocks import HeatMap

COLOURS = ("#0072b2", "#d55e00", "#009e73", "#cc79a7", "#e69f00", "#56b4e9", "#000000", "#8c8c00")
MARKS = ("circle", "rect", "triangle", "diamond", "roundRect", "pin", "arrow", "emptyCircle")
LINES = ("solid", "dashed", "dotted")
MOST_MARKS = 40
"""Points of a series up to which each has a mark."""
LETTERS_ABREAST = 90
"""Letters of names that stand beside each other below a chart."""
MOST_NAMES = 40
"""More names are not all shown."""
LETTER, NARROW_PLOT = 7, 300
"""Width of a letter, and of a chart on telephones, in pixels."""
GRID_LINE = {"lineStyle": {"color": "rgba(128, 128, 128, 0.3)"}}
SMALL_TITLE = {"textStyle": {"fontSize": 12}}
AUTO = {"interval": "auto"}
NARROW, UPRIGHT = (
    {"query": {"maxWidth": 480}, "option": {"title": SMALL_TITLE, "xAxis": {"axisLabel": label}}}
    for label in (AUTO, AUTO | {"rotate": 90})
)
"""Changes on telephones: of charts, and of those with slanted names."""
NARROW_NAMES = {"width": 110, "fontSize": 10, "lineHeight": 11}
NARROW_BARS = {
    "query": {"maxWidth": 480},
    "option": {"title": SMALL_TITLE, "yAxis": {"axisLabel": NARROW_NAMES}},
}
SAVING = {"saveAsImage": {"title": "Save as PNG"}}
GREY = "#767676"
"""A grey that stands out from white and from black."""
REFERENCE = {"color": "#999999", "showSymbol": False, "lineStyle": {"width": 1}}
RANGE_END = [14, 2]
"""Width and height of the mark at the end of a bar's range, in pixels."""
LONGEST_NAME = 28
"""Letters of a name; the rest of a longer one is cut."""


SHADES = ("#ffffcc", "#a1dab4", "#41b6c4", "#2c7fb8", "#253494")
"""A scale whose lightness falls from the least to the largest value, so that it reads without
colour: YlGnBu of Harrower and Brewer (2003)."""
CELL_TEXT = {
    "color": "#010101",
    "backgroundColor": "rgba(255, 255, 255, 0.8)",
    "padding": 2,
    "textBorderWidth": 0,
}
"""Figures in cells of any colour. `layout.STYLE` of pages leaves this colour as it is on dark
pages."""
MOST_CELL_TEXTS = 10
"""Columns up to which each cell has its figure."""


class Series(msgspec.Struct, frozen=True):
    """A line, bar or set of points."""

    name: str
    x: Sequence[Any]
    y: Sequence[float | None]
    kind: str = "line"
    """`line`, `bar` or `scatter`."""
    low: Sequence[float | None] = ()
    """Lower ends of ranges around the values, and the upper ones."""
    high: Sequence[float | None] = ()
    is_reference: bool = False
    """Whether it is what the others are compared with."""
    is_level: bool = False
    """Whether each value holds up to the next x."""

    def ranges(self) -> Iterator[tuple[str, Sequence[float | None]]]:
        """Yield the names and values of the ends of its ranges, if there are any."""
        if self.low:
            yield f"{self.name}, low", self.low
            yield f"{self.name}, high", self.high


class Span(msgspec.Struct, frozen=True):
    """A marked part of the x axis, such as the time of a job."""

    begin: float
    end: float
    name: str


class Plot(msgspec.Struct, frozen=True):
    """A chart without its data."""

    title: str
    """What it shows."""
    x: str
    """Name of the x axis with its unit, such as "load (operations/s)"; y likewise."""
    y: str
    x_kind: str = "value"
    """`value`, `log`, `time` (x is an ISO date or seconds since the epoch) or `category`; `y_kind`
    likewise."""
    y_kind: str = "value"
    horizontal: bool = False
    """Whether the x axis stands upright, its first value at the top: for long names."""
    stacked: bool = False
    """Whether bars are stacked."""
    y_max: float | None = None
    """End of the y axis."""
    more: Mapping[str, Any] = {}
    """Further ECharts options, which replace those of the same name."""

    def options(
        self,
        series: Sequence[Series],
        spans: Sequence[Span] = (),
        x_range: tuple[float, float] | None = None,
        marks: Mapping[str, float] | None = None,
    ) -> dict[str, Any]:
        """Return the options of data, with marked parts and named values of the x axis, which goes
        over `x_range`."""
        options = self._options(series)
        if x_range is not None:
            options["xAxis"] |= {"min": self._at(x_range[0]), "max": self._at(x_range[1])}
        if spans and options["series"]:
            options["series"][0]["markArea"] = self._marks(spans, x_range)
        if marks and options["series"]:
            options["series"][0]["markLine"] = _vertical_lines(marks)
        return options

    def _options(self, series: Sequence[Series]) -> dict[str, Any]:
        names = [one.name for one in series]
        # The title or the axis may name a single line, or it stands for all groups.
        titles = f"{self.title} {self.x} {self.y} all".lower()
        several = len(series) > 1 or any(name.lower() not in titles for name in names)
        legend = {"top": 28, "left": 0, "type": "scroll", "data": names}
        x, y = self._x_axis(series), self._y_axis(series)
        if self.horizontal:
            label = {
                "width": 190,
                "overflow": "break",
                "fontSize": 11,
                "lineHeight": 12,
                "interval": 0,
            }
            x |= {"inverse": True, "name": "", "axisLabel": label}
            y |= {"nameGap": 28}
        return {
            "title": {"text": self.title, "left": 0, "textStyle": {"fontSize": 14}},
            "color": list(COLOURS),
            # The label is that of the element.
            "aria": {
                "enabled": True,
                "label": {"enabled": False},
                "decal": {"show": any(one.kind == "bar" for one in series)},
            },
            "tooltip": {"trigger": "axis", "confine": True},
            "legend": legend if several else {"show": False},
            "grid": {
                "left": 8,
                "right": 24,
                "bottom": 8,
                "top": 66 if several else 46,
                # With the names of axes.
                "outerBoundsMode": "same",
                "outerBoundsContain": "all",
            },
            "toolbox": {"feature": SAVING, "right": 8, "iconStyle": {"borderColor": GREY}},
            "xAxis": y if self.horizontal else x,
            "yAxis": x if self.horizontal else y,
            "series": [one for at, curve in enumerate(series) for one in self._drawn(at, curve)],
            "animation": False,
            "media": [
                NARROW_BARS if self.horizontal else UPRIGHT if self.slanted(series) else NARROW
            ],
            **self.more,
        }

    def _x_axis(self, series: Sequence[Series]) -> dict[str, Any]:
        axis = {
            "type": self.x_kind,
            "name": self.x,
            "nameLocation": "middle",
            "nameGap": 28,
            "axisLabel": {"hideOverlap": True},
            "splitLine": GRID_LINE,
        }
        if self.x_kind != "category":
            # No ticks between whole numbers, such as those of trials.
            places = [at for one in series for at in one.x] if self.x_kind == "value" else []
            is_whole = bool(places) and all(float(at).is_integer() for at in places)
            return axis | ({"minInterval": 1} if is_whole else {})
        names = _names(series)
        return axis | {"data": names} | _labels(names)

    def slanted(self, series: Sequence[Series]) -> int:
        """Return the height, and about the width, of slanted names below the chart."""
        if self.x_kind != "category" or self.horizontal:
            return 0
        return _slant(_names(series))

    def _y_axis(self, series: Sequence[Series]) -> dict[str, Any]:
        return {
            "type": self.y_kind,
            "name": self.y,
            "nameLocation": "middle",
            "nameGap": 12,
            "axisLabel": {"hideOverlap": True},
            "splitLine": GRID_LINE,
            "nameTextStyle": {"overflow": "truncate"},
            **({} if self.y_max is None else {"max": self.y_max}),
            **(_from_least(series) if self.y_kind == "log" else {}),
        }

    def _drawn(self, at: int, series: Series) -> Iterator[dict[str, Any]]:
        """Yield a series, and the ends of its ranges."""
        yield self._one(at, series)
        for name, ends in series.ranges():
            end = self._one(at, msgspec.structs.replace(series, name=name, y=ends))
            yield end | {
                "type": "line" if series.kind == "line" else "scatter",
                "symbol": "rect",
                "symbolSize": RANGE_END,
                "showSymbol": series.kind != "line" or len(ends) == 1,
                "lineStyle": {"type": "dotted", "width": 1},
                "color": COLOURS[at % len(COLOURS)],
            }

    def _one(self, at: int, series: Series) -> dict[str, Any]:
        data: list[Any] = list(zip(map(self._at, series.x), series.y, strict=True))
        if self.x_kind == "category":
            # By name, as series may lack points; ECharts takes a number for an index.
            data = [(str(x), y) for x, y in data]
        if self.horizontal:
            data = [(y, x) for x, y in data]
        has_marks = len(data) <= MOST_MARKS
        return {
            **({"stack": "all"} if self.stacked else {}),
            "type": series.kind,
            "name": series.name,
            "data": data,
            "symbol": MARKS[at % len(MARKS)],
            "symbolSize": 7,
            "itemStyle": {"opacity": 1},
            "showSymbol": has_marks,
            # Without marks, lines differ by their style.
            "lineStyle": {"type": LINES[(at // len(COLOURS) if has_marks else at) % len(LINES)]},
            **({"step": "end"} if series.is_level else {}),
            **(REFERENCE if series.is_reference else {}),
        }

    def _at(self, x: Any) -> Any:
        """Return a value of the x axis for ECharts, whose times are in milliseconds."""
        return 1000 * x if self.is_time(x) else x

    def is_time(self, x: Any) -> bool:
        """Return whether a value of the x axis is a moment."""
        return self.x_kind == "time" and isinstance(x, int | float)

    def _marks(self, spans: Sequence[Span], x_range: tuple[float, float] | None) -> dict[str, Any]:
        begin, end = x_range or (spans[0].begin, max(span.end for span in spans))
        letters = NARROW_PLOT / (LETTER * max(end - begin, 1e-9))
        spans = sorted(spans, key=lambda span: span.begin)
        # A name has room up to the next part, or all if it is alone.
        ends = [*(span.begin for span in spans[1:]), end if len(spans) > 1 else math.inf]
        return {
            "silent": True,
            "itemStyle": {"color": "rgba(230, 159, 0, 0.18)"},
            "label": {"position": "insideTop", "color": GREY},
            "data": [
                [
                    {
                        "name": span.name,
                        "xAxis": self._at(span.begin),
                        "label": {"show": (room - span.begin) * letters > len(span.name)},
                    },
                    {"xAxis": self._at(span.end)},
                ]
                for span, room in zip(spans, ends, strict=True)
            ],
        }


def _vertical_lines(values: Mapping[str, float]) -> dict[str, Any]:
    """Return lines at values of the x axis, each with its name. Names of one value share a line."""
    names: dict[float, list[str]] = {}
    for name, value in values.items():
        names.setdefault(value, []).append(name)
    return {
        "symbol": "none",
        "silent": True,
        "lineStyle": {"type": "dashed", "color": "#777777"},
        "label": {"show": True, "position": "insideEndTop"},
        "data": [
            {"xAxis": value, "label": {"formatter": ", ".join(several)}}
            for value, several in names.items()
        ],
    }


def _names(series: Sequence[Series]) -> list[str]:
    return list(dict.fromkeys(str(x) for one in series for x in one.x))


def _slant(names: Sequence[str]) -> int:
    """Return the height of slanted names in pixels; 0 if they stand beside each other."""
    letters = sum(len(name) + 2 for name in names)
    if letters <= LETTERS_ABREAST or len(names) > MOST_NAMES:
        return 0
    return round(4.2 * min(max(map(len, names)), LONGEST_NAME))


def _labels(names: Sequence[str]) -> dict[str, Any]:
    """Return the axis of names so that all of them can be read: long or many ones are slanted."""
    slant = _slant(names)
    if not slant:
        return {}
    label = {"interval": 0, "rotate": 35, "width": 7 * LONGEST_NAME, "overflow": "truncate"}
    return {"axisLabel": label, "nameGap": 24 + slant}


def _from_least(series: Sequence[Series]) -> dict[str, Any]:
    """Return the lower end of a logarithmic axis: the power of ten below the least value."""
    least = min((y for one in series for y in one.y if y is not None and y > 0), default=1.0)
    lower = 10.0 ** math.floor(math.log10(least))
    # Bars begin at 1 otherwise.
    return {"min": lower, "startValue": lower}


def number_text(value: Any) -> str:
    """Return a number as text; other values as they are."""
    if isinstance(value, bool) or not isinstance(value, int | float):
        return "" if value is None else str(value)
    return number(value)


def heat_map(chart: HeatMap) -> dict[str, Any]:
    """Return the options of a heat map."""
    rows = scaled_rows(chart)
    known = [value for row in rows for value in row if value is not None]
    least, most = min(known, default=0.0), max(known, default=1.0)
    if chart.most is not None:
        least, most = 0.0, chart.unit.scale * chart.most
    return {
        "title": {"text": chart.title, "left": 0, "textStyle": {"fontSize": 14}},
        "aria": {"enabled": True, "label": {"enabled": False}},
        "tooltip": {"position": "top", "confine": True},
        "grid": {"left": 16, "right": 24, "bottom": 104, "top": 64, "containLabel": True},
        "xAxis": {
            "type": "category",
            "data": list(chart.columns),
            "name": chart.x.label,
            "nameLocation": "middle",
            "nameGap": 26,
        },
        "yAxis": {
            "type": "category",
            "data": list(chart.rows),
            "name": chart.y.label,
            "nameLocation": "start" if chart.downwards else "end",
            "inverse": chart.downwards,
        },
        "visualMap": {
            "min": least,
            "max": most,
            "calculable": True,
            "orient": "horizontal",
            "left": "center",
            "bottom": 0,
            "text": [chart.unit.name, ""],
            "inRange": {"color": list(SHADES)},
        },
        "series": [
            {
                "type": "heatmap",
                "name": chart.unit.name,
                "data": [
                    [x, y, float(f"{value:.4g}")]
                    for y, row in enumerate(rows)
                    for x, value in enumerate(row)
                    if value is not None
                ],
                "label": {"show": len(chart.columns) <= MOST_CELL_TEXTS, **CELL_TEXT},
            }
        ],
        "animation": False,
    }


def scaled_rows(chart: HeatMap) -> list[list[float | None]]:
    """Return the values of a heat map in its unit."""
    scale = chart.unit.scale
    return [[None if value is None else scale * value for value in row] for row in chart.values]
