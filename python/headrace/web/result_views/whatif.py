"""View of `whatif`."""

from collections.abc import Mapping
from typing import Any

from headrace.report import whatif_tables
from headrace.web.charts import Series, horizontal_bars
from headrace.web.rendered import show_rendered

Document = Mapping[str, Any]

MOST = 15
"""Changes on the chart."""


def show(document: Document) -> None:
    """Show the changes that help most, and the table of all."""
    helping: dict[str, tuple[float, float | None]] = {}
    for it in document["changes"]:
        if it["effect"] == "helps" and it["throughput_gain"] is not None:
            name = f"{it['path']} = {it['after']}"
            helping.setdefault(name, (it["throughput_gain"], it["latency_p95_gain"]))
    best = sorted(helping.items(), key=lambda it: -it[1][0])[:MOST]
    if best:
        names = [name for name, _ in best]
        horizontal_bars(
            "Changes that help most",
            "change",
            "times as much throughput, or as short p95 latency",
            [
                Series("throughput gain", names, [gain for _, (gain, _) in best], "bar"),
                Series("p95 latency gain", names, [gain for _, (_, gain) in best], "bar"),
            ],
        )
    show_rendered(whatif_tables.what_if(document))
