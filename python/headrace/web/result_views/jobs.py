"""View of `bench quick` and of the jobs of a fio file."""

from collections.abc import Mapping
from typing import Any

from headrace.report import job_tables
from headrace.web.charts import Chart, Series
from headrace.web.rendered import show_rendered
from headrace.web.result_views.origin import show_origin

Document = Mapping[str, Any]


def show(document: Document) -> None:
    """Show IOPS, throughput and latency of each job."""
    rows = [
        (it["name"] if len(it["operations"]) == 1 else f"{it['name']}: {operation}", found)
        for it in document["jobs"]
        for operation, found in it["operations"].items()
    ]
    names = [name for name, _ in rows]
    if rows:
        _chart(
            "Requests a second",
            [Series("IOPS", names, [it["per_second"] for _, it in rows], "bar")],
        )
        moved = [it["throughput"] / 1e6 for _, it in rows]
        _chart("Throughput", [Series("MB/s", names, moved, "bar")])
        latencies = [
            Series(label, names, [_milliseconds(it["latency"], key) for _, it in rows], "bar")
            for key, label in (("p50", "median"), ("p99", "p99"), ("max", "largest"))
        ]
        _chart("Latency of a request", latencies, "ms", "log")
    show_rendered(job_tables.jobs(document))
    show_origin(document)


def _chart(title: str, series: list[Series], unit: str = "", y_kind: str = "value") -> None:
    Chart(title, "job", unit or series[0].name, series, x_kind="category", y_kind=y_kind)


def _milliseconds(times: Document, key: str) -> float | None:
    return None if times.get(key) is None else 1e3 * float(times[key])
