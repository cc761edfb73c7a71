"""Charts, each with a table of the same numbers.

People with a colour vision deficiency can tell the colours apart: Okabe and Ito, "Color Universal
Design", 2008. Series also differ in their marks and line styles.
"""

from collections.abc import Mapping, Sequence
from typing import Any

import msgspec
from nicegui import ui

from headrace.web.times import local_time

COLOURS = ("#0072b2", "#d55e00", "#009e73", "#cc79a7", "#e69f00", "#56b4e9", "#000000", "#8c8c00")
MARKS = ("circle", "rect", "triangle", "diamond", "roundRect", "pin", "arrow", "emptyCircle")
LINES = ("solid", "dashed", "dotted")


class Series(msgspec.Struct, frozen=True):
    """A line, bar or set of points."""

    name: str
    x: Sequence[Any]
    y: Sequence[float | None]
    kind: str = "line"
    """`line`, `bar` or `scatter`."""


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
            options: Further ECharts options, which replace those of the same name.
            height: Height in pixels.
            has_live_table: Whether the table follows `show` while it is closed. If not, it is
                filled when it is opened.
        """
        self._has_live_table = has_live_table
        self._series: Sequence[Series] = ()
        self._title, self._x, self._y = title, x, y
        self._x_kind, self._y_kind, self._more = x_kind, y_kind, dict(options or {})
        with ui.element("figure").classes("w-full q-ma-none"):
            self.echart = (
                ui.echart({}, renderer="svg").classes("w-full").style(f"height: {height}px")
            )
            self.echart.props(f'role="img" aria-label="{_plain(title)}: chart of the table below"')
            self._numbers = ui.expansion("Numbers", on_value_change=self._fill_table)
            with self._numbers.classes("w-full"):
                self._table = ui.table(rows=[], columns=[]).classes("w-full")
                self._table.props(f'dense flat aria-label="{_plain(title)}"')
        self.show(series)

    def show(
        self,
        series: Sequence[Series],
        spans: Sequence[Span] = (),
        x_range: tuple[float, float] | None = None,
    ) -> None:
        """Show other data, with marked parts of the x axis, which goes over `x_range`."""
        options = self._options(series)
        if x_range is not None:
            options["xAxis"] |= {"min": self._at(x_range[0]), "max": self._at(x_range[1])}
        if spans and options["series"]:
            options["series"][0]["markArea"] = self._marks(spans)
        self.echart.options.clear()
        self.echart.options.update(options)
        self.echart.update()
        self._series = series
        self._fill_table()

    def _fill_table(self) -> None:
        if not self._has_live_table and not self._numbers.value:
            return
        series = self._series
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
        categories = {"data": list(dict.fromkeys(x for it in series for x in it.x))}
        return {
            "title": {"text": self._title, "left": 0, "textStyle": {"fontSize": 14}},
            "color": list(COLOURS),
            "aria": {"enabled": True, "decal": {"show": any(it.kind == "bar" for it in series)}},
            "tooltip": {"trigger": "axis", "confine": True},
            "legend": {"top": 24, "left": 0, "type": "scroll"} if several else {"show": False},
            "grid": {
                "left": 36,
                "right": 24,
                "bottom": 36,
                "top": 60 if several else 40,
                "containLabel": True,
            },
            "toolbox": {"feature": {"saveAsImage": {"title": "Save as PNG"}}, "right": 8},
            "xAxis": {
                "type": self._x_kind,
                "name": self._x,
                "nameLocation": "middle",
                "nameGap": 28,
                **(categories if self._x_kind == "category" else {}),
            },
            "yAxis": {
                "type": self._y_kind,
                "name": self._y,
                "nameLocation": "middle",
                # Outside the labels, whose width the container includes.
                "nameGap": 48,
                "nameTextStyle": {"overflow": "truncate"},
            },
            "series": [self._one(at, it) for at, it in enumerate(series)],
            "animation": False,
            **self._more,
        }

    def _one(self, at: int, series: Series) -> dict[str, Any]:
        data: list[Any] = list(zip(map(self._at, series.x), series.y, strict=True))
        if self._x_kind == "category":
            data = list(series.y)
        return {
            "type": series.kind,
            "name": series.name,
            "data": data,
            "symbol": MARKS[at % len(MARKS)],
            "symbolSize": 7,
            "showSymbol": len(data) <= 100,
            "lineStyle": {"type": LINES[at // len(COLOURS) % len(LINES)]},
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


def number_text(value: Any) -> str:
    """Return a number with four digits; other values as they are."""
    if isinstance(value, bool) or not isinstance(value, int | float):
        return "" if value is None else str(value)
    return f"{value:,}" if isinstance(value, int) else f"{value:,.4g}"


def _plain(text: str) -> str:
    return text.replace('"', "'")
