"""Charts, each with a table of the same numbers."""

from collections.abc import Mapping, Sequence
from typing import Any

import msgspec
from nicegui import ui

from headrace.render import blocks
from headrace.render.echarts import Plot, Series, Span, number_text
from headrace.web.times import local_time

AXES = {"linear": "value", "log": "log", "log2": "category", "nines": "log", "names": "category"}
"""Axes of ECharts by the scale of a chart's axis."""
HEIGHT = 320
"""Pixels of a chart."""
LONGEST_ABREAST = 16
"""Letters of names up to which bars stand beside each other."""


class Chart:
    """An ECharts chart and its table, which stays in step with it."""

    def __init__(
        self,
        title: str,
        x: str,
        y: str,
        series: Sequence[Series] | None = None,
        *,
        x_kind: str = "value",
        y_kind: str = "value",
        horizontal: bool = False,
        stacked: bool = False,
        y_max: float | None = None,
        options: Mapping[str, Any] | None = None,
        height: int = HEIGHT,
    ) -> None:
        """Draw a chart.

        Parameters:
            title: What it shows.
            x: Name of the x axis with its unit, such as "load (operations/s)"; y likewise.
            series: The data; without any `show` follows.
            x_kind: As `Plot` has it; y_kind, horizontal, stacked, y_max, and options, its `more`,
                likewise.
            height: Height in pixels.
        """
        self._series: Sequence[Series] = ()
        self._plot = Plot(
            title, x, y, x_kind, y_kind, horizontal, stacked, y_max, dict(options or {})
        )
        self._height = height
        with ui.element("figure").classes("w-full q-ma-none"):
            self.echart = ui.echart({}, renderer="svg").classes("w-full")
            self.echart.props["role"] = "img"
            self.echart.props["aria-label"] = f"{title}: chart of the table below"
            self._numbers = ui.expansion("Numbers", on_value_change=self._fill_table)
            self._numbers.classes("w-full")
            self._table: ui.table | None = None
        if series is not None:
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
        options = self._plot.options(series, spans, x_range, marks)
        self.echart.props["options"] = unwatched(options)
        self.echart.style(f"height: {self._height + self._plot.slanted(series)}px")
        self.echart.update()
        self._series = series
        self._fill_table()

    def _fill_table(self) -> None:
        if not self._numbers.value:
            return
        if self._table is None:
            with self._numbers:
                self._table = ui.table(rows=[], columns=[]).classes("w-full")
            self._table.props("dense flat").props["aria-label"] = self._plot.title
        series = [
            one
            for each in self._series
            for one in (
                each,
                *(msgspec.structs.replace(each, name=name, y=ends) for name, ends in each.ranges()),
            )
        ]
        columns = [self._plot.x, *(one.name for one in series)]
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
        for at, one in enumerate(series, 1):
            for x, y in zip(one.x, one.y, strict=True):
                rows.setdefault(x, {"0": self._x_text(x)})[str(at)] = number_text(y)
        self._table.props["rows"] = tuple(rows.values())
        self._table.update()

    def _x_text(self, x: Any) -> str:
        return local_time(x) if self._plot.is_time(x) else number_text(x)


def unwatched(options: Any) -> Any:
    """Return options with tuples for lists: NiceGUI watches lists and what is in them."""
    if isinstance(options, dict):
        return {key: unwatched(value) for key, value in options.items()}
    return tuple(options) if isinstance(options, list) else options


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

    # Names have no order in which a line could join them.
    shapes = {"mark": "scatter", "level": "line", "line": "bar" if x.scale == "names" else "line"}
    series = [
        Series(
            line.name,
            [place(at) for at in line.x],
            scaled(line.y),
            shapes.get(line.shape, line.shape),
            scaled(line.low),
            scaled(line.high),
            is_reference=line.is_reference,
            is_level=line.shape == "level",
        )
        for line in chart.lines
    ]
    title = chart.title + (f" ({chart.statistic})" if chart.statistic else "")
    most = None if y.most is None else y.unit.scale * y.most
    names = {at for one in series for at in one.x} if x.scale == "names" else set()
    # Long names stand below each other.
    is_long = max(map(len, names), default=0) > LONGEST_ABREAST
    label = x.name if by_name else x.label
    shown = Chart(
        title,
        "1 of how many operations took longer" if x.scale == "nines" else label,
        y.label,
        x_kind=AXES[x.scale],
        y_kind=AXES[y.scale],
        horizontal=is_long,
        stacked=chart.is_stacked,
        y_max=most,
        height=110 + 34 * max(2, len(names)) if is_long else HEIGHT,
    )
    spans = [Span(x.unit.scale * it.begin, x.unit.scale * it.end, it.name) for it in chart.spans]
    shown.show(series, spans, marks={name: place(at) for name, at in chart.marks.items()})
    return shown
