"""View of a baseline."""

from collections.abc import Mapping
from typing import Any

from headrace.report import baseline_tables
from headrace.web.charts import Chart, Series
from headrace.web.rendered import show_rendered
from headrace.web.result_views.origin import show_origin

SCALES = {"B/s": ("Throughput", 1e-6, "MB/s"), "1/s": ("Rates", 1.0, "operations/s")}


def show(document: Mapping[str, Any]) -> None:
    """Show what the directory can do beside what its simulated machine predicts."""
    predicted = {it["figure"]: it["predicted"] for it in document["self_check"]}
    for unit, (title, scale, label) in SCALES.items():
        found = {n: it["value"] for n, it in document["figures"].items() if it["unit"] == unit}
        if not found:
            continue
        simulated = [scale * predicted[name] if name in predicted else None for name in found]
        Chart(
            title,
            "figure",
            label,
            [
                Series("measured", list(found), [scale * it for it in found.values()], "bar"),
                *([Series("simulated", list(found), simulated, "bar")] if predicted else []),
            ],
            x_kind="category",
            y_kind="log",
        )
    show_rendered(baseline_tables.baseline(document))
    show_origin(document)
