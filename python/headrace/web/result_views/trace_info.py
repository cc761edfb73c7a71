"""View of `trace info`."""

from collections.abc import Mapping
from typing import Any

from headrace.fields import convert
from headrace.quantities import short_size
from headrace.render.echarts import Series
from headrace.render.terminal import rendered
from headrace.report.trace_tables import skipped_lines, trace_summary
from headrace.trace.batches import SkippedKind
from headrace.views.characteristics import view
from headrace.web.charts import Chart
from headrace.web.rendered import show_rendered

Document = Mapping[str, Any]


def show(document: Document) -> None:
    """Show operations, request sizes and characteristics of a trace."""
    summary = document["summary"]
    operations = summary["operations"]
    names = [it["operation"] for it in operations]
    Chart(
        "Operations of the trace",
        "operation",
        "calls",
        [Series("calls", names, [it["count"] for it in operations], "bar")],
        x_kind="category",
    )
    if sizes := summary["request_sizes"]:
        labels = [f"{short_size(it['from'])} to {short_size(it['to'])}" for it in sizes]
        Chart(
            "Request sizes",
            "size",
            "requests",
            [
                Series(name, labels, [it[name] for it in sizes], "bar")
                for name in ("reads", "writes")
            ],
            x_kind="category",
        )
    show_rendered(trace_summary("Trace", summary))
    if characteristics := document.get("characteristics"):
        show_rendered(rendered(view(characteristics)))
    show_rendered(skipped_lines(convert(document["skipped"], list[SkippedKind])))
