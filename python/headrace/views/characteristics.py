"""Characteristics of a trace: access patterns, heat, bursts, think times and concurrency."""

from collections.abc import Mapping
from typing import Any

from headrace.quantities import duration, percent, size, whole
from headrace.render.blocks import Block, Note, Table, View


def view(document: Mapping[str, Any]) -> View:
    """Return access patterns, heat, bursts, think times and concurrency of a trace."""
    access = [(name, whole(count)) for name, count in document["access"].items() if count]
    columns = ("after the one before", "requests")
    blocks: list[Block] = [
        Table.of_rows("Positions of reads and writes", columns, access),
        _files(document),
    ]
    if document["span_s"] is not None:
        blocks += [_times(document), Note(_timing(document))]
    return [*blocks, Note(_sentences(document))]


def _files(document: Mapping[str, Any]) -> Table:
    rows = [
        (
            it["file"],
            it["pattern"],
            size(it["length"]),
            size(it["bytes_read"]),
            size(it["bytes_written"]),
            whole(it["operations"]),
        )
        for it in document["busiest_files"]
    ]
    columns = ("file", "pattern", "length", "read", "written", "records")
    return Table.of_rows("Files by traffic", columns, rows, 2, ("file",))


def _times(document: Mapping[str, Any]) -> Table:
    rows = []
    times = {"think": document["think_times"], "burst": document["bursts"]["lengths"]}
    for name, it in times.items():
        values = [it[key] for key in ("total_s", "mean_s", "p50_s", "p90_s", "p99_s", "max_s")]
        texts = ["" if value is None else duration(value) for value in values]
        rows.append((name, whole(it["count"]), *texts))
    columns = ("time", "count", "total", "mean", "p50", "p90", "p99", "max")
    return Table.of_rows("Times", columns, rows)


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
