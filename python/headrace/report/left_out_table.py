"""Unsupported operations of a workload, as a table and as one line."""

from collections.abc import Mapping
from typing import Any

from rich.console import RenderableType
from rich.text import Text

from headrace.report.fitted_table import FittedTable
from headrace.report.plain_text import plain
from headrace.report.units import whole

KINDS = 6
"""Kinds that the line names; the table and the document have all."""


def left_out_table(document: Mapping[str, Any]) -> list[RenderableType]:
    """The table of what was left out; none if nothing was."""
    entries = document.get("left_out", ())
    if not entries:
        return []
    made = FittedTable("Left out", 1, ["what", "count", "by", "why"], ("by",))
    for entry in entries:
        made.add_row(
            plain(entry["what"]), whole(entry["count"]), plain(entry["by"]), plain(entry["reason"])
        )
    return [made]


def left_out_line(document: Mapping[str, Any]) -> list[RenderableType]:
    """Return the unsupported operations in one line, most frequent first; empty if there are
    none."""
    counts: dict[str, int] = {}
    for entry in document.get("left_out", ()):
        counts[entry["what"]] = counts.get(entry["what"], 0) + entry["count"]
    if not counts:
        return []
    ranked = sorted(counts.items(), key=lambda it: -it[1])
    named = [f"{whole(count)} {plain(what)}" for what, count in ranked[:KINDS]]
    if more := len(ranked) - KINDS:
        named += [f"{more} further kinds"] if more > 0 else []
    return [Text(f"Not supported, or only in part: {', '.join(named)}.", style="yellow")]
