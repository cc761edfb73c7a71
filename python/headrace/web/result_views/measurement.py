"""View of `bench run`."""

from collections.abc import Mapping
from typing import Any

from headrace.report import measurement_tables
from headrace.web.rendered import show_rendered
from headrace.web.result_views.operation_charts import (
    known_latency,
    latency_chart,
    operation_chart,
    rates,
)
from headrace.web.result_views.origin import show_origin

Document = Mapping[str, Any]


def show(document: Document) -> None:
    """Show throughput and service time of each operation."""
    moved = {name: 1e-6 * it for name, it in document["throughput"].items() if it}
    operation_chart("Throughput", "MB/s", {"MB/s": moved})
    operation_chart("Operations a second", "operations/s", {"operations/s": rates(document)})
    figures = {"mean": "mean", "p50": "median", "p99": "p99"}
    latency_chart("Service time", known_latency(document), figures, "log")
    show_rendered(measurement_tables.measurement(document))
    show_origin(document)
