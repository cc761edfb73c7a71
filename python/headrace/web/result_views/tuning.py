"""View of `bench tune`."""

from collections.abc import Mapping
from typing import Any

from headrace.report import tuning_tables
from headrace.web.charts import Chart, Series
from headrace.web.rendered import show_rendered
from headrace.web.result_views.origin import show_origin

Document = Mapping[str, Any]


def show(document: Document) -> None:
    """Show wanted and measured protocol operations, and the file operations that cause them."""
    wanted = document["wanted"]
    mixes = {name: it for name, it in document["mixes"].items() if it["measured"] is not None}
    names = sorted(
        {*wanted, *(name for it in mixes.values() for name in it["measured"])},
        key=lambda name: (-wanted.get(name, 0.0), name),
    )
    Chart(
        "Protocol operations: wanted and measured",
        "operation of the protocol",
        "share (%)",
        [
            Series("wanted", names, [100 * wanted.get(name, 0.0) for name in names], "bar"),
            *(
                Series(
                    f"{method}, measured",
                    names,
                    [100 * it["measured"].get(name, 0.0) for name in names],
                    "bar",
                )
                for method, it in mixes.items()
            ),
        ],
        x_kind="category",
    )
    operations = [
        name
        for name in document["profile"]
        if any(it["weights"].get(name) for it in document["mixes"].values())
    ]
    if operations:
        Chart(
            "File operations of the mix",
            "file operation",
            "share (%)",
            [
                Series(
                    method,
                    operations,
                    [100 * it["weights"].get(name, 0.0) for name in operations],
                    "bar",
                )
                for method, it in document["mixes"].items()
            ],
            x_kind="category",
        )
    show_rendered(tuning_tables.tuned(document))
    show_origin(document)
