"""Lines and areas that mark values on a chart."""

from collections.abc import Mapping
from typing import Any

from headrace.web.charts import Chart


def vertical_lines(chart: Chart, values: Mapping[str, float]) -> None:
    """Mark values of the x axis, each with its name. Names of one value share a line."""
    series = chart.echart.options["series"]
    if not series or not values:
        return
    names: dict[float, list[str]] = {}
    for name, value in values.items():
        names.setdefault(value, []).append(name)
    data: list[dict[str, Any]] = [
        {"xAxis": value, "label": {"formatter": ", ".join(of_value)}}
        for value, of_value in names.items()
    ]
    series[0]["markLine"] = {
        "symbol": "none",
        "silent": True,
        "lineStyle": {"type": "dashed", "color": "#777777"},
        "label": {"show": True, "position": "insideEndTop"},
        "data": data,
    }
    chart.echart.update()
