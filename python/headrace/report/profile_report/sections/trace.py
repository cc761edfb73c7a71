"""Characteristics of the captured trace, and the workload fitted to it."""

from collections.abc import Mapping, Sequence
from typing import Any

from headrace.quantities import binary_size, duration, figure, percent, size, whole
from headrace.report.document.content import (
    Block,
    Bullets,
    Code,
    Facts,
    Paragraph,
    Picture,
    Section,
    Table,
    foreign,
    foreign_lines,
)
from headrace.report.profile_report.data import Document, ProfileData
from headrace.views.profile_values import UNKNOWN

BUSIEST = 20
MOST_SIZES = 10
LEAST_SIZE_SHARE = 0.01
"""Sizes with a smaller share of the requests are left out of their table, and counted."""
QUANTILES = (("median", "p50"), ("90 %", "p90"), ("at most", "max"))
OF_WORKLOAD = ("toml", "workload", "not_reproduced")


def section(data: ProfileData, pictures: Sequence[Picture]) -> Section:
    """Return the figures of the trace, and the fitted workload."""
    blocks: list[Block] = []
    traits = data.profile.get("characteristics")
    if traits:
        blocks += [*_figures(traits), *pictures, *_tables(traits)]
    else:
        blocks.append(Paragraph("No trace was captured."))
    workload = data.profile.get("workload")
    if workload:
        blocks += _workload(workload)
    capture = data.profile.get("capture")
    if capture:
        blocks.append(Paragraph("Capture", "heading"))
        blocks.append(Facts(flat(capture)))
    return Section("trace", "Trace of the file operations", blocks)


def _figures(traits: Document) -> list[Block]:
    """Return the main figures in words; profile.json has all."""
    syncs, bursts, calls = (traits.get(key) or {} for key in ("syncs", "bursts", "concurrency"))
    thinks = traits.get("think_times") or {}
    rows = [
        ("Records", whole(traits.get("records"))),
        ("Processes", f"{whole(traits.get('processes'))}, {_moving(traits)} read or write"),
        ("Files", whole(traits.get("files"))),
        ("Read, written", f"{_bytes(traits, 'read')}, {_bytes(traits, 'written')}"),
        ("Syncs", _timed(syncs, "time_s")),
        ("Time in calls", _share_of_span(calls)),
        ("Calls at once", f"mean {figure(calls.get('mean'))}, at most {whole(calls.get('max'))}"),
        ("Time between calls", _quantiles(thinks)),
        ("Bursts", f"{whole(bursts.get('count'))}, {_apart(bursts)}"),
        ("Mapped files", whole(traits.get("mapped"))),
    ]
    return [Facts(rows)]


def _moving(traits: Document) -> str:
    return whole(traits.get("moving_processes"))


def _bytes(traits: Document, way: str) -> str:
    value = traits.get(f"bytes_{way}")
    return UNKNOWN if value is None else size(value)


def _timed(values: Document, key: str) -> str:
    seconds = values.get(key)
    count = whole(values.get("count"))
    return count if seconds is None else f"{count}, {duration(seconds)}"


def _share_of_span(calls: Document) -> str:
    busy, share = calls.get("busy_s"), calls.get("share_of_span")
    if busy is None or share is None:
        return UNKNOWN
    return f"{duration(busy)}, {percent(share)} % of the trace"


def _quantiles(thinks: Document) -> str:
    known = [(word, thinks.get(f"{key}_s")) for word, key in QUANTILES]
    return ", ".join(f"{word} {duration(value)}" for word, value in known if value is not None)


def _apart(bursts: Document) -> str:
    gap = bursts.get("gap_s")
    return "apart by an unknown gap" if gap is None else f"apart by over {duration(gap)}"


def _tables(traits: Document) -> list[Block]:
    tables = [
        _operations(traits.get("operations") or []),
        _sizes(traits.get("request_sizes") or []),
        _common(traits.get("common_sizes") or []),
        _patterns(traits.get("access_patterns") or {}),
        _files(traits.get("busiest_files") or []),
        _skipped(traits.get("skipped") or []),
    ]
    return [table for table in tables if table.rows]


def _operations(operations: Sequence[Document]) -> Table:
    rows = []
    for entry in operations:
        seconds = entry.get("time_s", entry.get("seconds"))
        mean = 1e3 * seconds / entry["count"] if seconds is not None and entry["count"] else None
        rows.append(
            [
                foreign(entry["operation"], 40),
                whole(entry["count"]),
                size(entry["bytes"]) if entry.get("bytes") else UNKNOWN,
                UNKNOWN if seconds is None else duration(seconds),
                figure(mean),
                whole(entry.get("failed")),
            ]
        )
    columns = ["Operation", "Records", "Data", "Time", "Mean ms", "Failed"]
    return Table("Operations", columns, "lrrrrr", rows)


def _sizes(sizes: Sequence[Document]) -> Table:
    rows = []
    for row in sizes:
        least, most = (row[key] if key in row else row[f"{key}_bytes"] for key in ("from", "to"))
        text = f"{least:,} to {most:,}" if most else "0"
        rows.append([text, whole(row["reads"]), whole(row["writes"])])
    return Table("Request sizes", ["Bytes", "Reads", "Writes"], "lrr", rows)


def _common(sizes: Sequence[Document]) -> Table:
    total = sum(entry["count"] for entry in sizes)
    shown = [entry for entry in sizes if entry["count"] >= LEAST_SIZE_SHARE * total][:MOST_SIZES]
    rows = [
        [foreign(entry["operation"], 40), binary_size(entry["bytes"]), whole(entry["count"])]
        for entry in shown
    ]
    left = len(sizes) - len(shown)
    note = f"{whole(left)} rarer sizes are in profile.json." if left else ""
    return Table("Most frequent sizes", ["Operation", "Size", "Requests"], "lrr", rows, note=note)


def _patterns(patterns: Mapping[str, int]) -> Table:
    total = sum(patterns.values()) or 1
    rows = [
        [foreign(name, 40), whole(count), f"{percent(count / total)} %"]
        for name, count in patterns.items()
        if count
    ]
    title = "Requests by the pattern of their file"
    return Table(title, ["Pattern", "Requests", "Share"], "lrr", rows)


def _files(files: Sequence[Document]) -> Table:
    rows = [
        [
            foreign(file["file"]),
            size(file["bytes_read"]),
            size(file["bytes_written"]),
            whole(file.get("operations")),
            foreign(file.get("pattern", UNKNOWN), 20),
        ]
        for file in files[:BUSIEST]
    ]
    note = f"{len(files) - BUSIEST} more files are left out." if len(files) > BUSIEST else ""
    columns = ["File", "Read", "Written", "Operations", "Pattern"]
    return Table("Busiest files", columns, "wrrrl", rows, note=note)


def _skipped(kinds: Sequence[Document]) -> Table:
    rows = [
        [
            foreign(kind.get("name", ""), 80),
            foreign(str(kind.get("reason", "")).replace("_", " "), 80),
            whole(kind.get("count")),
        ]
        for kind in kinds
    ]
    return Table("Skipped or assumed by the reader", ["Kind", "Reason", "Count"], "lwr", rows)


def _workload(workload: Document) -> list[Block]:
    blocks: list[Block] = [Paragraph("Workload fitted to the trace", "heading")]
    text = workload.get("toml") or workload.get("workload")
    if text:
        blocks.append(Code(foreign_lines(text), "toml"))
    rest = flat({key: value for key, value in workload.items() if key not in OF_WORKLOAD})
    if rest:
        blocks.append(Facts(rest))
    missing = [foreign(reason) for reason in workload.get("not_reproduced") or []]
    if missing:
        blocks += [Paragraph("Not reproduced by the workload", "heading"), Bullets(missing)]
    return blocks


def flat(values: Mapping[str, Any], before: str = "") -> list[tuple[str, str]]:
    """Return nested values as lines, with units by the ending of their names."""
    rows: list[tuple[str, str]] = []
    for key, value in values.items():
        name = f"{before}{key}"
        if isinstance(value, Mapping):
            rows += flat(value, f"{name}.")
        else:
            rows.append((_words(name), _value(key, value)))
    return rows


def _words(name: str) -> str:
    for ending in ("_seconds", "_s"):
        name = name.removesuffix(ending)
    text = foreign(name.replace("_", " ").replace(".", ": "), 80)
    return text[:1].upper() + text[1:]


def _value(key: str, value: Any) -> str:
    if value is None:
        return "unknown"
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, int | float):
        if "share" in key or key.endswith("_gain") or key.startswith("top_tenth") or key == "error":
            return f"{percent(value)} %"
        if key.endswith("_per_s"):
            return f"{figure(value)}/s"
        if key.endswith(("_s", "_seconds")):
            return duration(value)
        if "bytes" in key and not key.startswith("gini") and not key.endswith("_ratio"):
            return size(value)
        return whole(value) if isinstance(value, int) else figure(value)
    if isinstance(value, list | tuple):
        return foreign("; ".join(_item(part) for part in value) or "none")
    return foreign(value)


def _item(value: Any) -> str:
    if isinstance(value, Mapping):
        return ", ".join(f"{name}: {text}" for name, text in flat(value))
    return str(value)
