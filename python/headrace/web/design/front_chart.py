"""The Pareto front as a chart and a table, to click through."""

import math
from collections.abc import Awaitable, Callable
from functools import partial
from typing import Any

from nicegui import events, ui

from headrace.design.catalogue_file import read_catalogue
from headrace.design.evaluation import Solution
from headrace.quantities import number, quantity
from headrace.render.echarts import Series
from headrace.web.charts import Chart
from headrace.web.design.figures import UNKNOWN, FrontPoint, front_points
from headrace.web.figure_dialog import STYLE, cell, header
from headrace.web.layout import heading

BANDS = (
    (1e-9, "loss below 1e-9"),
    (1e-6, "loss 1e-9 to 1e-6"),
    (1e-3, "loss 1e-6 to 1e-3"),
    (math.inf, "loss above 1e-3"),
)
"""Bands of the loss probability, each with a mark of its own."""
FIGURES = ("cost", "usable", "throughput", "loss", "power")
NO_LOSS = "loss unknown"


class FrontChart:
    """Cost against throughput of the designs; a click picks one."""

    def __init__(self, solution: Solution, pick: Callable[[int], Awaitable[None]]) -> None:
        self.points = front_points(solution)
        self._currency = read_catalogue(solution.catalogue_text).catalogue.currency
        self._pick = pick
        self._buttons: dict[int, ui.button] = {}
        heading("Designs that no other surpasses" if solution.front else "Nearest misses")
        drawn = [one for one in self.points if one.cost is not None and one.throughput is not None]
        if drawn:
            self._log = ui.switch("Logarithmic axes", on_change=lambda: self._draw(drawn))
            self._chart_place = ui.element("div").classes("w-full")
            self._draw(drawn)
        self._table()

    def mark(self, place: int) -> None:
        """Mark the design that is shown."""
        for at, button in self._buttons.items():
            button.props(f"aria-pressed={'true' if at == place else 'false'}")
            button.props(**{"remove" if at == place else "add": "outline"})

    def _draw(self, points: list[FrontPoint]) -> None:
        kind = "log" if self._log.value else "value"
        bands: dict[str, list[FrontPoint]] = {}
        for _, name in (*BANDS, (0, NO_LOSS)):
            if own := [point for point in points if _band(point) == name]:
                bands[name] = own
        self._chart_place.clear()
        with self._chart_place:
            chart = Chart(
                "Cost and throughput",
                f"cost over the years of the worksheet ({self._currency})",
                "throughput (MB/s)",
                [
                    Series(
                        name,
                        [point.cost for point in own],
                        [(point.throughput or 0.0) / 1e6 for point in own],
                        "scatter",
                    )
                    for name, own in bands.items()
                ],
                x_kind=kind,
                y_kind=kind,
            )
            _name_points(chart, list(bands.values()))
            chart.echart.on_point_click(partial(self._clicked, list(bands.values())))

    async def _clicked(
        self, bands: list[list[FrontPoint]], event: events.EChartPointClickEventArguments
    ) -> None:
        await self._pick(bands[event.series_index][event.data_index].place)

    def _table(self) -> None:
        ui.add_css(STYLE)
        with (
            ui.element("div").classes("w-full overflow-auto"),
            ui.element("table").classes("hr-figure-rows").props('aria-label="Designs"'),
        ):
            header("show", "design", *FIGURES, right=FIGURES)
            with ui.element("tbody"):
                for point in self.points:
                    with ui.element("tr"):
                        self._row(point)

    def _row(self, it: FrontPoint) -> None:
        with ui.element("td"):
            button = ui.button(it.label, on_click=partial(self._pick, it.place))
            button.props("dense outline")
            button.props["aria-label"] = f"Show design {it.label}"
            self._buttons[it.place] = button
        with ui.element("td").style("min-width: 12em"):
            ui.label(f"{it.name} (chosen)" if it.chosen else it.name)
        cell(UNKNOWN if it.cost is None else f"{it.cost:,.0f} {self._currency}", right=True)
        cell(UNKNOWN if it.usable is None else quantity(it.usable, "B").split(" (")[0], right=True)
        cell(UNKNOWN if it.throughput is None else quantity(it.throughput, "B/s"), right=True)
        cell(UNKNOWN if it.loss_probability is None else number(it.loss_probability), right=True)
        cell(UNKNOWN if it.power is None else quantity(it.power, "W"), right=True)


def _band(point: FrontPoint) -> str:
    loss = point.loss_probability
    if loss is None:
        return NO_LOSS
    return next(name for limit, name in BANDS if loss < limit)


def _tip(point: FrontPoint) -> str:
    loss = point.loss_probability
    parts = [
        f"cost {point.cost or 0:,.0f}",
        quantity(point.throughput or 0.0, "B/s"),
        UNKNOWN if loss is None else f"loss {number(loss)}",
    ]
    return f"{point.label}: {', '.join(parts)}"


def _name_points(chart: Chart, bands: list[list[FrontPoint]]) -> None:
    options: dict[str, Any] = chart.echart.options
    options["tooltip"] = {"trigger": "item", "confine": True, "formatter": "{b}"}
    for axis in ("xAxis", "yAxis"):
        options[axis]["scale"] = True
        options[axis]["axisLabel"] = {"hideOverlap": True}
    for series, points in zip(options["series"], bands, strict=True):
        series["symbolSize"] = 14
        series["cursor"] = "pointer"
        series["label"] = {
            "show": True,
            "position": "right",
            "formatter": "{b}",
            "fontSize": 13,
            "color": "#333",
            "textBorderWidth": 0,
        }
        series["data"] = [
            {
                "value": value,
                "name": f"{point.label}{' (chosen)' if point.chosen else ''}",
                "tooltip": {"formatter": _tip(point)},
            }
            for value, point in zip(series["data"], points, strict=True)
        ]
    chart.echart.update()
