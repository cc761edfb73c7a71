"""Summary of a trace, as tables for a terminal."""

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from rich.console import Group, RenderableType
from rich.text import Text

from headrace.plain_text import plain
from headrace.quantities import duration, figure, numbered, percent, size, whole
from headrace.render.fitted_table import FittedTable

if TYPE_CHECKING:
    from headrace.trace.batches import SkippedKind


def trace_summary(name: str, summary: Mapping[str, Any]) -> RenderableType:
    """A trace's figures."""
    seconds = summary["span_seconds"]
    span = ", without times" if seconds is None else f" in {duration(seconds)}"
    text = Text(plain(name), style="bold")
    text.append(
        f"\n{numbered(summary['records'], 'record')} of"
        f" {numbered(summary['processes'], 'process', 'processes')}"
        f" on {numbered(summary['files'], 'file')}{span};"
        f" {size(summary['bytes_read'])} read, {size(summary['bytes_written'])} written",
        style="not bold",
    )
    shares = (("metadata", "metadata_share"), ("sequential", "sequential_share"))
    shown_shares = [
        f"{percent(summary[key])} % {word}" for word, key in shares if summary[key] is not None
    ]
    if shown_shares:
        text.append("\n" + ", ".join(shown_shares), style="not bold")
    operations = FittedTable("Operations", 1, ("operation", "records", "data", "mean ms"))
    for total in summary["operations"]:
        operations.add_row(
            total["operation"],
            whole(total["count"]),
            size(total["bytes"]) if total["bytes"] else "",
            _mean_ms(total),
        )
    parts: list[RenderableType] = [text, operations]
    if summary["request_sizes"]:
        sizes = FittedTable("Request sizes", 1, ("bytes", "reads", "writes"))
        for entry in summary["request_sizes"]:
            span = f"{entry['from']:,} to {entry['to']:,}" if entry["to"] else "0"
            sizes.add_row(span, whole(entry["reads"]), whole(entry["writes"]))
        parts.append(sizes)
    if summary["busiest_files"]:
        files = FittedTable("Busiest files", 1, ("file", "read", "written"))
        for entry in summary["busiest_files"]:
            files.add_row(entry["file"], size(entry["bytes_read"]), size(entry["bytes_written"]))
        parts.append(files)
    return Group(*parts)


def _mean_ms(total: Mapping[str, Any]) -> str:
    """Return the mean duration in ms; empty where the trace tells none."""
    if total["seconds"] is None:
        return ""
    return figure(1e3 * total["seconds"] / (total["count"] - total["without_duration"]))


def skipped_lines(skipped: "Sequence[SkippedKind]") -> RenderableType:
    """Return the skipped lines and the assumptions of an import."""
    columns = ("what", "why", "count", "first line")
    made = FittedTable("Skipped or assumed", 2, columns, ("first line",))
    for kind in skipped:
        made.add_row(
            kind.name,
            kind.reason.replace("_", " "),
            whole(kind.count),
            whole(kind.examples[0].line) if kind.examples else "",
        )
    return made
