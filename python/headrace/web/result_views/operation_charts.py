"""Charts of figures by operation, which simulations and measurements have alike."""

from collections.abc import Mapping
from typing import Any

from headrace.web.charts import Chart, Series

Document = Mapping[str, Any]


def operation_chart(
    title: str, y: str, series: Mapping[str, Mapping[str, float | None]], y_kind: str = "value"
) -> None:
    """Draw a bar for each operation of each series, unless there is no operation.

    Parameters:
        title: What the chart shows.
        y: Name of the y axis with its unit.
        series: Values by operation, by the name of the series.
        y_kind: `value` or `log`.
    """
    operations = list(dict.fromkeys(it for values in series.values() for it in values))
    if operations:
        bars = [
            Series(name, operations, [values.get(it) for it in operations], "bar")
            for name, values in series.items()
        ]
        Chart(title, "operation", y, bars, x_kind="category", y_kind=y_kind)


def rates(document: Document) -> dict[str, float]:
    """Return the operations a second by operation, without those that did none."""
    operations = document["operations"]
    return {name: it["per_second"] for name, it in operations.items() if it.get("per_second")}


def known_latency(document: Document) -> dict[str, Document]:
    """Return the latencies by operation, without those that have none."""
    return {name: it for name, it in document["latency"].items() if it.get("count")}


def latency_chart(
    title: str, latency: Mapping[str, Document], figures: Mapping[str, str], y_kind: str
) -> None:
    """Draw figures of latencies in ms; `figures` has the name of the series of each."""
    series = {
        label: {operation: 1e3 * it[key] for operation, it in latency.items()}
        for key, label in figures.items()
    }
    operation_chart(title, "ms", series, y_kind)
