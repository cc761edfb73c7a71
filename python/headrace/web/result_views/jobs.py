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
    sideways = {"grid": {"left": 16, "right": 40, "top": 64, "bottom": 36, "containLabel": True}}
    if rows:
        bar = {"x_kind": "category", "options": sideways}
        Chart(
            "Requests a second",
            "job",
            "IOPS",
            [Series("IOPS", names, [it["per_second"] for _, it in rows], "bar")],
            **bar,
        )
        Chart(
            "Throughput",
            "job",
            "MB/s",
            [Series("MB/s", names, [it["throughput"] / 1e6 for _, it in rows], "bar")],
            **bar,
        )
        latencies = [
            Series(
                label,
                names,
                [
                    None if it["latency"].get(key) is None else 1e3 * it["latency"][key]
                    for _, it in rows
                ],
                "bar",
            )
            for key, label in (("p50", "median"), ("p99", "p99"), ("max", "largest"))
        ]
        Chart("Latency of a request", "job", "ms", latencies, y_kind="log", **bar)
    show_rendered(job_tables.jobs(document))
    show_origin(document)
