"""Messages between two hosts as a table for a terminal."""

from collections.abc import Mapping
from typing import Any

from rich.console import Group, RenderableType
from rich.text import Text

from headrace.plain_text import plain
from headrace.quantities import binary_size, duration, megabytes, whole
from headrace.report.fitted_table import FittedTable
from headrace.report.study_tables import ENDS


def messages(document: Mapping[str, Any]) -> RenderableType:
    """A row for each size: half of a round trip, and what that is in bytes a second."""
    columns = ["message", "MB/s", "latency", "least", "p99", "max", "messages"]
    made = FittedTable("Half of a round trip", 1, columns, ("messages", "max"))
    for it in document["messages"]:
        latency = it["latency"]
        made.add_row(
            binary_size(it["size"]),
            megabytes(it["throughput"]),
            *(duration(latency[name]) for name in ("p50", "least", "p99", "max")),
            whole(it["count"]),
        )
    heading = Text(plain(document["scenario"]["name"]), style="bold")
    heading.append(f": {plain(document['scenario']['description'])}", style="not bold")
    ends = ENDS.get(document.get("stop", {}).get("reason", "done"))
    return Group(heading, made, *([Text(ends)] if ends else []))
