"""Heat maps, each with a table of the same numbers."""

from collections.abc import Sequence

from nicegui import ui

from headrace.render import blocks
from headrace.web.charts import number_text

COLOURS = ("#ffffcc", "#a1dab4", "#41b6c4", "#2c7fb8", "#253494")
"""A scale whose lightness falls from the least to the largest value, so that it reads without
colour: YlGnBu of Harrower and Brewer (2003)."""
CELL_TEXT = {
    "color": "#010101",
    "backgroundColor": "rgba(255, 255, 255, 0.8)",
    "padding": 2,
    "textBorderWidth": 0,
}
"""Figures in cells of any colour. `layout.STYLE` leaves this colour as it is on dark pages."""


class HeatMap:
    """A figure over two parameters."""

    def __init__(
        self,
        x: str,
        columns: Sequence[str],
        y: str,
        rows: Sequence[str],
        unit: str,
        limits: tuple[float, float] | None = None,
        downwards: bool = False,
    ) -> None:
        """Draw an empty map; `show` fills it.

        Args:
            x: Name of the parameter of the columns.
            columns: Its values.
            y: Name of the parameter of the rows.
            rows: Its values.
            unit: Unit of the figure.
            limits: Ends of the scale; by default the least and the largest value.
            downwards: Whether the first row is the uppermost.
        """
        self._x, self._y, self._unit = x, y, unit
        self._limits, self._downwards = limits, downwards
        self._columns, self._rows = list(columns), list(rows)
        with ui.element("figure").classes("w-full q-ma-none"):
            height = 200 + 34 * len(self._rows)
            self.echart = (
                ui.echart({}, renderer="svg").classes("w-full").style(f"height: {height}px")
            )
            with ui.expansion("Numbers").classes("w-full"):
                self._table = ui.table(rows=[], columns=[]).classes("w-full").props("dense flat")

    def show(self, title: str, values: Sequence[Sequence[float | None]]) -> None:
        """Show values: a row for each of the map's rows."""
        known = [it for row in values for it in row if it is not None]
        least, most = self._limits or (min(known, default=0), max(known, default=1))
        cells = [
            [x, y, float(f"{it:.4g}")]
            for y, row in enumerate(values)
            for x, it in enumerate(row)
            if it is not None
        ]
        self.echart.options.clear()
        self.echart.options.update(
            {
                "title": {"text": title, "left": 0, "textStyle": {"fontSize": 14}},
                "aria": {"enabled": True, "label": {"enabled": False}},
                "tooltip": {"position": "top", "confine": True},
                "grid": {"left": 16, "right": 24, "bottom": 104, "top": 64, "containLabel": True},
                "xAxis": {
                    "type": "category",
                    "data": self._columns,
                    "name": self._x,
                    "nameLocation": "middle",
                    "nameGap": 26,
                },
                "yAxis": {
                    "type": "category",
                    "data": self._rows,
                    "name": self._y,
                    "nameLocation": "start" if self._downwards else "end",
                    "inverse": self._downwards,
                },
                "visualMap": {
                    "min": least,
                    "max": most,
                    "calculable": True,
                    "orient": "horizontal",
                    "left": "center",
                    "bottom": 0,
                    "text": [self._unit, ""],
                    "inRange": {"color": list(COLOURS)},
                },
                "series": [
                    {
                        "type": "heatmap",
                        "name": self._unit,
                        "data": cells,
                        "label": {"show": len(self._columns) <= 10, **CELL_TEXT},
                    }
                ],
                "animation": False,
            }
        )
        self.echart.props["role"] = "img"
        self.echart.props["aria-label"] = f"{title}: heat map of the table below"
        self.echart.update()
        self._table.props["aria-label"] = title
        self._table.columns = [
            {"name": "y", "label": f"{self._y} \\ {self._x}", "field": "y", "align": "left"},
            *(
                {"name": str(at), "label": it, "field": str(at)}
                for at, it in enumerate(self._columns)
            ),
        ]
        self._table.rows = [
            {"y": name, **{str(at): number_text(it) for at, it in enumerate(row)}}
            for name, row in zip(self._rows, values, strict=True)
        ]
        self._table.update()


def show_heat_map(chart: blocks.HeatMap) -> None:
    """Show a heat map of a view."""
    scale = chart.unit.scale
    limits = None if chart.most is None else (0.0, scale * chart.most)
    heat_map = HeatMap(
        chart.x.label,
        chart.columns,
        chart.y.label,
        chart.rows,
        chart.unit.name,
        limits,
        chart.downwards,
    )
    rows = [[None if it is None else scale * it for it in row] for row in chart.values]
    heat_map.show(chart.title, rows)
