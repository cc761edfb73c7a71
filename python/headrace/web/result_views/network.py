"""View of `bench net ask`."""

from collections.abc import Mapping
from typing import Any

from headrace.quantities import binary_size
from headrace.report import network_tables
from headrace.web.charts import Chart, Series
from headrace.web.rendered import show_rendered
from headrace.web.result_views.origin import show_origin


def show(document: Mapping[str, Any]) -> None:
    """Show throughput and latency by message size."""
    messages = document["messages"]
    sizes = [binary_size(it["size"]) for it in messages]
    Chart(
        "Throughput by message size",
        "message",
        "MB/s",
        [Series("MB/s", sizes, [it["throughput"] / 1e6 for it in messages])],
        x_kind="category",
        y_kind="log",
    )
    Chart(
        "Half of a round trip by message size",
        "message",
        "µs",
        [
            Series(label, sizes, [1e6 * it["latency"][key] for it in messages])
            for key, label in (("least", "least"), ("p50", "median"), ("p99", "p99"))
        ],
        x_kind="category",
        y_kind="log",
    )
    show_rendered(network_tables.messages(document))
    show_origin(document)
