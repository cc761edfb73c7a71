"""View of `bench run`."""

from collections.abc import Mapping
from typing import Any

from headrace.report import measurement_tables
from headrace.web.charts import Chart, Series
from headrace.web.rendered import show_rendered
from headrace.web.result_views.origin import show_origin

Document = Mapping[str, Any]


def show(document: Document) -> None:
    """Show throughput and service time of each operation."""
    operations = document["operations"]
    moved = {name: it for name, it in document["throughput"].items() if it}
    if moved:
        Chart(
            "Throughput",
            "operation",
            "MB/s",
            [Series("MB/s", list(moved), [it / 1e6 for it in moved.values()], "bar")],
            x_kind="category",
        )
    rates = {name: it["per_second"] for name, it in operations.items() if it.get("per_second")}
    if rates:
        Chart(
            "Operations a second",
            "operation",
            "operations/s",
            [Series("operations/s", list(rates), list(rates.values()), "bar")],
            x_kind="category",
        )
    latency = {name: it for name, it in document["latency"].items() if it.get("count")}
    if latency:
        Chart(
            "Service time",
            "operation",
            "ms",
            [
                Series(label, list(latency), [1e3 * it[key] for it in latency.values()], "bar")
                for key, label in (("mean", "mean"), ("p50", "median"), ("p99", "p99"))
            ],
            x_kind="category",
            y_kind="log",
        )
    show_rendered(measurement_tables.measurement(document))
    show_origin(document)
