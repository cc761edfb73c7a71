"""Heat maps, each with a table of the same numbers."""

from nicegui import ui

from headrace.render.blocks import HeatMap
from headrace.render.echarts import heat_map, number_text, scaled_rows
from headrace.web.charts import unwatched
from headrace.web.layout import when_opened


def show_heat_map(chart: HeatMap) -> None:
    """Show a heat map of a view."""
    with ui.element("figure").classes("w-full q-ma-none"):
        echart = ui.echart(unwatched(heat_map(chart)), renderer="svg").classes("w-full")
        echart.style(f"height: {200 + 34 * len(chart.rows)}px")
        echart.props["role"] = "img"
        echart.props["aria-label"] = f"{chart.title}: heat map of the table below"
        columns = [
            {
                "name": "y",
                "label": f"{chart.y.label} \\ {chart.x.label}",
                "field": "y",
                "align": "left",
            },
            *(
                {"name": str(at), "label": name, "field": str(at)}
                for at, name in enumerate(chart.columns)
            ),
        ]
        rows = [
            {"y": name, **{str(at): number_text(value) for at, value in enumerate(row)}}
            for name, row in zip(chart.rows, scaled_rows(chart), strict=True)
        ]

        def draw() -> None:
            table = ui.table(rows=rows, columns=columns).classes("w-full").props("dense flat")
            table.props["aria-label"] = chart.title

        with ui.expansion("Numbers").classes("w-full") as numbers:
            when_opened(numbers, draw)
