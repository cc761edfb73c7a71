"""Charts, each with a table of the same numbers.

People with a colour vision deficiency can tell the colours apart: Okabe and Ito, "Color Universal
Design", 2008. Series also differ in their marks and line styles.
"""

import math
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import msgspec
from nicegui import ui

from headrace.quantities import number
from headrace.render import blocks
from headrace.web.times import local_time

COLOURS = ("#0072b2", "#d55e00", "#009e73", "#cc79a7", "#e69f00", "#56b4e9", "#000000", "#8c8c00")
MARKS = ("circle", "rect", "triangle", "diamond", "roundRect", "pin", "arrow", "emptyCircle")
LINES = ("solid", "dashed", "dotted")
MOST_MARKS = 40
"""Points of a series up to which each has a mark."""
LETTERS_ABREAST = 90
"""Letters of names that stand beside each other below a chart."""
MOST_NAMES = 40
"""More names are not all shown."""
LETTER = 7
"""Width of a letter in pixels."""
GRID_LINE = {"lineStyle": {"color": "rgba(128, 128, 128, 0.3)"}}
NARROW = {
    "query": {"maxWidth": 480},
    "option": {"xAxis": {"axisLabel": {"interval": "auto"}}},
}
"""Changes on telephones."""
NARROW_BARS = {
    "query": {"maxWidth": 480},
    "option": {"yAxis": {"axisLabel": {"width": 110, "fontSize": 10, "lineHeight": 11}}},
}
AXES = {"linear": "value", "log": "log", "log2": "category", "nines": "log", "names": "category"}
"""Axes of ECharts by the scale of a chart's axis."""
REFERENCE = {"color": "#999999", "showSymbol": False, "lineStyle": {"width": 1}}
RANGE_END = [14, 2]
"""Width and height of the mark at the end of a bar's range, in pixels."""
LONGEST_ABREAST = 16
"""Letters of names up to which bars stand beside each other."""
LONGEST_NAME = 28
"""Letters of a name; the rest of a longer one is cut."""


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


class Chart:
    """An ECharts chart and its table, which stays in step with it."""

    def __init__(
        self,
        title: str,
        x: str,
        y: str,
        series: Sequence[Series] = (),
        *,
        x_kind: str = "value",
        y_kind: str = "value",
        horizontal: bool = False,
        stacked: bool = False,
        y_max: float | None = None,
        options: Mapping[str, Any] | None = None,
        height: int = 320,
        has_live_table: bool = True,
    ) -> None:
        """Draw a chart.

        Parameters:
            title: What it shows.
            x: Name of the x axis with its unit, such as "load (operations/s)"; y likewise.
            series: The data.
            x_kind: `value`, `log`, `time` (x is an ISO date or seconds since the epoch) or
                `category`; y_kind likewise.
            horizontal: Whether the x axis stands upright, its first value at the top: for long
                names.
            stacked: Whether bars are stacked.
            y_max: End of the y axis.
            options: Further ECharts options, which replace those of the same name.
            height: Height in pixels.
            has_live_table: Whether the table follows `show` while it is closed. If not, it is
                filled when it is opened.
        """
        self._has_live_table = has_live_table
        self._series: Sequence[Series] = ()
        self._title, self._x, self._y = title, x, y
        self._x_kind, self._y_kind, self._more = x_kind, y_kind, dict(options or {})
        self._horizontal, self._stacked, self._y_max = horizontal, stacked, y_max
        self._height = height
        with ui.element("figure").classes("w-full q-ma-none"):
            self.echart = ui.echart({}, renderer="svg").classes("w-full")
            self.echart.props["role"] = "img"
            self.echart.props["aria-label"] = f"{title}: chart of the table below"
            self._numbers = ui.expansion("Numbers", on_value_change=self._fill_table)
            with self._numbers.classes("w-full"):
                self._table = ui.table(rows=[], columns=[]).classes("w-full")
                self._table.props("dense flat").props["aria-label"] = title
        self.show(series)

    def show(
        self,
        series: Sequence[Series],
        spans: Sequence[Span] = (),
        x_range: tuple[float, float] | None = None,
        marks: Mapping[str, float] | None = None,
    ) -> None:
        """Show other data, with marked parts and named values of the x axis, which goes over
        `x_range`."""
        options = self._options(series)
        if x_range is not None:
            options["xAxis"] |= {"min": self._at(x_range[0]), "max": self._at(x_range[1])}
        if spans and options["series"]:
            options["series"][0]["markArea"] = self._marks(spans)
        if marks and options["series"]:
            options["series"][0]["markLine"] = _vertical_lines(marks)
        self.echart.options.clear()
        self.echart.options.update(options)
        self.echart.style(f"height: {self._height + self._slanted(series)}px")
        self.echart.update()
        self._series = series
        self._fill_table()

    def _fill_table(self) -> None:
        if not self._has_live_table and not self._numbers.value:
            return
        series = [
            one
            for it in self._series
            for one in (
                it,
                *(msgspec.structs.replace(it, name=name, y=ends) for name, ends in it.ranges()),
            )
        ]
        columns = [self._x, *(it.name for it in series)]
        self._table.columns = [
            {
                "name": str(at),
                "label": name,
                "field": str(at),
                "align": "left" if at == 0 else "right",
            }
            for at, name in enumerate(columns)
        ]
        rows: dict[Any, dict[str, Any]] = {}
        for at, it in enumerate(series, 1):
            for x, y in zip(it.x, it.y, strict=True):
                rows.setdefault(x, {"0": self._x_text(x)})[str(at)] = number_text(y)
        self._table.rows = list(rows.values())
        self._table.update()

    def _options(self, series: Sequence[Series]) -> dict[str, Any]:
        several = len(series) > 1
        names = [it.name for it in series]
        legend = {"top": 28, "left": 0, "type": "scroll", "data": names}
        letters = LETTER * _longest_number(series, self._y_kind, self._y_max)
        x, y = self._x_axis(series), self._y_axis(series, letters)
        if self._horizontal:
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
            "title": {"text": self._title, "left": 0, "textStyle": {"fontSize": 14}},
            "color": list(COLOURS),
            # The label is that of the element.
            "aria": {
                "enabled": True,
                "label": {"enabled": False},
                "decal": {"show": any(it.kind == "bar" for it in series)},
            },
            "tooltip": {"trigger": "axis", "confine": True},
            "legend": legend if several else {"show": False},
            "grid": {
                "left": 8 if self._horizontal else max(30, self._slanted(series) - letters),
                "right": 24,
                "bottom": 36,
                "top": 66 if several else 46,
                "containLabel": True,
            },
            "toolbox": {"feature": {"saveAsImage": {"title": "Save as PNG"}}, "right": 8},
            "xAxis": y if self._horizontal else x,
            "yAxis": x if self._horizontal else y,
            "series": [one for at, it in enumerate(series) for one in self._drawn(at, it)],
            "animation": False,
            "media": [NARROW_BARS if self._horizontal else NARROW],
            **self._more,
        }

    def _x_axis(self, series: Sequence[Series]) -> dict[str, Any]:
        axis = {
            "type": self._x_kind,
            "name": self._x,
            "nameLocation": "middle",
            "nameGap": 28,
            "axisLabel": {"hideOverlap": True},
            "splitLine": GRID_LINE,
        }
        if self._x_kind != "category":
            return axis
        names = _names(series)
        return axis | {"data": names} | _labels(names)

    def _slanted(self, series: Sequence[Series]) -> int:
        """Return the height, and about the width, of slanted names below the chart."""
        if self._x_kind != "category" or self._horizontal:
            return 0
        return _slant(_names(series))

    def _y_axis(self, series: Sequence[Series], letters: int) -> dict[str, Any]:
        return {
            "type": self._y_kind,
            "name": self._y,
            "nameLocation": "middle",
            # Outside the labels, whose width the container includes.
            "nameGap": 20 + letters,
            "axisLabel": {"hideOverlap": True},
            "splitLine": GRID_LINE,
            "nameTextStyle": {"overflow": "truncate"},
            **({} if self._y_max is None else {"max": self._y_max}),
            **(_from_least(series) if self._y_kind == "log" else {}),
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
                "showSymbol": series.kind != "line",
                "lineStyle": {"type": "dotted", "width": 1},
                "color": COLOURS[at % len(COLOURS)],
            }

    def _one(self, at: int, series: Series) -> dict[str, Any]:
        data: list[Any] = list(zip(map(self._at, series.x), series.y, strict=True))
        if self._x_kind == "category":
            # By name, as series may lack points; ECharts takes a number for an index.
            data = [(str(x), y) for x, y in data]
        if self._horizontal:
            data = [(y, x) for x, y in data]
        has_marks = len(data) <= MOST_MARKS
        return {
            **({"stack": "all"} if self._stacked else {}),
            "type": series.kind,
            "name": series.name,
            "data": data,
            "symbol": MARKS[at % len(MARKS)],
            "symbolSize": 7,
            "showSymbol": has_marks,
            # Without marks, lines differ by their style.
            "lineStyle": {"type": LINES[(at // len(COLOURS) if has_marks else at) % len(LINES)]},
            **({"step": "end"} if series.is_level else {}),
            **(REFERENCE if series.is_reference else {}),
        }

    def _at(self, x: Any) -> Any:
        """Return a value of the x axis for ECharts, whose times are in milliseconds."""
        return 1000 * x if self._is_time(x) else x

    def _x_text(self, x: Any) -> str:
        return local_time(x) if self._is_time(x) else number_text(x)

    def _is_time(self, x: Any) -> bool:
        return self._x_kind == "time" and isinstance(x, int | float)

    def _marks(self, spans: Sequence[Span]) -> dict[str, Any]:
        return {
            "silent": True,
            "itemStyle": {"color": "rgba(230, 159, 0, 0.18)"},
            "label": {"position": "insideTop", "overflow": "truncate", "width": 160},
            "data": [
                [{"name": it.name, "xAxis": self._at(it.begin)}, {"xAxis": self._at(it.end)}]
                for it in spans
            ],
        }


def horizontal_bars(
    title: str,
    names: str,
    unit: str,
    series: Sequence[Series],
    *,
    most: float | None = None,
    stacked: bool = False,
    kind: str = "value",
) -> Chart:
    """Show bars below each other, with long names at the side; `most` is the end of the axis."""
    count = len({x for it in series for x in it.x})
    return Chart(
        title,
        names,
        unit,
        series,
        x_kind="category",
        y_kind=kind,
        horizontal=True,
        stacked=stacked,
        y_max=most,
        height=110 + 34 * max(2, count),
    )


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


def _longest_number(series: Sequence[Series], kind: str, most: float | None) -> int:
    """Return the letters of the longest label of an axis of numbers, about."""
    values = [abs(y) for it in series for y in it.y if y]
    largest = max([*values, most or 0.0, 1.0])
    # An axis ends above the largest value.
    whole = len(f"{10 ** math.ceil(math.log10(largest)) if kind == 'log' else 1.2 * largest:,.0f}")
    least = min(values, default=1.0) if kind == "log" else largest
    fraction = 1 - math.floor(math.log10(least)) if least < 10 else 0
    return max(whole, 2 + fraction)


def _names(series: Sequence[Series]) -> list[str]:
    return list(dict.fromkeys(str(x) for it in series for x in it.x))


def _slant(names: Sequence[str]) -> int:
    """Return the height of slanted names in pixels; 0 if they stand beside each other."""
    letters = sum(len(it) + 2 for it in names)
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
    least = min((y for it in series for y in it.y if y is not None and y > 0), default=1.0)
    lower = 10.0 ** math.floor(math.log10(least))
    # Bars begin at 1 otherwise.
    return {"min": lower, "startValue": lower}


def number_text(value: Any) -> str:
    """Return a number as text; other values as they are."""
    if isinstance(value, bool) or not isinstance(value, int | float):
        return "" if value is None else str(value)
    return number(value)


def show_chart(chart: blocks.Chart) -> Chart:
    """Show a chart of a view."""
    x, y = chart.x, chart.y
    by_name = x.scale in ("names", "log2")

    def place(at: Any) -> Any:
        if by_name:
            return x.unit.text(at)
        return 1 / (1 - at) if x.scale == "nines" else x.unit.scale * at

    def scaled(values: Sequence[float | None]) -> list[float | None]:
        # A logarithmic axis has no 0.
        is_log = y.scale == "log"
        return [
            None if value is None or (is_log and value <= 0) else y.unit.scale * value
            for value in values
        ]

    series = [
        Series(
            line.name,
            [place(at) for at in line.x],
            scaled(line.y),
            {"mark": "scatter", "level": "line"}.get(line.shape, line.shape),
            scaled(line.low),
            scaled(line.high),
            is_reference=line.is_reference,
            is_level=line.shape == "level",
        )
        for line in chart.lines
    ]
    title = chart.title + (f" ({chart.statistic})" if chart.statistic else "")
    most = None if y.most is None else y.unit.scale * y.most
    names = {at for it in series for at in it.x} if x.scale == "names" else set()
    if max(map(len, names), default=0) > LONGEST_ABREAST:
        return horizontal_bars(
            title, x.name, y.label, series, most=most, stacked=chart.is_stacked, kind=AXES[y.scale]
        )
    label = x.name if by_name else x.label
    shown = Chart(
        title,
        "1 of how many operations took longer" if x.scale == "nines" else label,
        y.label,
        x_kind=AXES[x.scale],
        y_kind=AXES[y.scale],
        stacked=chart.is_stacked,
        y_max=most,
    )
    spans = [Span(x.unit.scale * it.begin, x.unit.scale * it.end, it.name) for it in chart.spans]
    shown.show(series, spans, marks={name: place(at) for name, at in chart.marks.items()})
    return shown
