"""Characteristics of a trace, as tables for a terminal."""

from collections.abc import Mapping
from typing import Any

from rich.console import Group, RenderableType
from rich.text import Text

from headrace.quantities import duration, percent, size, whole
from headrace.render.fitted_table import FittedTable


def characteristics(document: Mapping[str, Any]) -> RenderableType:
    """Access patterns, heat, bursts, think times and concurrency of a trace."""
    steps = FittedTable("Positions of reads and writes", 1, ("after the one before", "requests"))
    for name, count in document["access"].items():
        if count:
            steps.add_row(name, whole(count))
    parts: list[RenderableType] = [steps, _files(document)]
    if document["span_s"] is not None:
        parts += [_times(document), Text(_timing(document))]
    parts.append(Text(_sentences(document)))
    return Group(*parts)


def _files(document: Mapping[str, Any]) -> FittedTable:
    columns = ("file", "pattern", "length", "read", "written", "records")
    files = FittedTable("Files by traffic", 2, columns, ("file",))
    for it in document["busiest_files"]:
        files.add_row(
            it["file"],
            it["pattern"],
            size(it["length"]),
            size(it["bytes_read"]),
            size(it["bytes_written"]),
            whole(it["operations"]),
        )
    return files


def _times(document: Mapping[str, Any]) -> FittedTable:
    columns = ("time", "count", "total", "mean", "p50", "p90", "p99", "max")
    times = FittedTable("Times", 1, columns)
    rows = {"think": document["think_times"], "burst": document["bursts"]["lengths"]}
    for name, it in rows.items():
        values = [it[key] for key in ("total_s", "mean_s", "p50_s", "p90_s", "p99_s", "max_s")]
        texts = ["" if value is None else duration(value) for value in values]
        times.add_row(name, whole(it["count"]), *texts)
    return times


def _timing(document: Mapping[str, Any]) -> str:
    calls = document["concurrency"]
    share, mean = calls["share_of_span"], calls["mean"]
    if not share or mean is None:
        return "Processes in calls: the trace has no durations"
    return (
        f"Processes in calls: at least one for {percent(share)} % of the time, then {mean:.2f} on"
        f" average, at most {whole(calls['max'])}"
    )


def _sentences(document: Mapping[str, Any]) -> str:
    syncs, heat = document["syncs"], document["heat"]
    lines = [f"Syncs: {whole(syncs['count'])}, {whole(syncs['data_only'])} of data only"]
    if heat["top_tenth_bytes"] is not None:
        lines.append(
            f"Heat: a tenth of the {whole(heat['files'])} files with data has"
            f" {percent(heat['top_tenth_bytes'])} % of the bytes; Gini {heat['gini_bytes']:.2f}"
        )
    if document["mapped"]:
        lines.append(f"Mapped: {whole(document['mapped'])} calls of mmap or msync")
    return "\n".join(lines)
