"""Characteristics of the captured trace, and the workload fitted to it."""

from collections.abc import Mapping
from typing import Any

from headrace.report.profile_report.content import (
    Block,
    Code,
    Facts,
    Paragraph,
    Section,
    Table,
    foreign,
    foreign_lines,
)
from headrace.report.profile_report.data import Document, ProfileData
from headrace.report.units import duration, figure, percent, size, whole

BUSIEST = 20


def section(data: ProfileData) -> Section:
    """Return the figures of the trace, and the fitted workload."""
    blocks: list[Block] = []
    found = data.profile.get("characteristics")
    if found:
        blocks += _characteristics(found)
    else:
        blocks.append(Paragraph("No trace was captured."))
    workload = data.profile.get("workload")
    if workload:
        blocks += _workload(workload)
    capture = data.profile.get("capture")
    if capture:
        blocks.append(Paragraph("Capture"))
        blocks.append(Facts(flat(capture)))
    return Section("trace", "Trace of the file operations", blocks)


def _characteristics(found: Document) -> list[Block]:
    tables = ("operations", "request_sizes", "busiest_files")
    blocks: list[Block] = [
        Facts(flat({key: it for key, it in found.items() if key not in tables}))
    ]
    if found.get("operations"):
        rows = [
            [
                foreign(it["operation"], 40),
                whole(it["count"]),
                size(it["bytes"]) if it.get("bytes") else "",
                figure(1e3 * it["seconds"] / it["count"]) if it.get("count") else "",
            ]
            for it in found["operations"]
        ]
        blocks.append(Table("Operations", ["Operation", "Records", "Data", "Mean ms"], "lrrr", rows))
    if found.get("request_sizes"):
        rows = [
            [
                f"{it['from']:,} to {it['to']:,}" if it["to"] else "0",
                whole(it["reads"]),
                whole(it["writes"]),
            ]
            for it in found["request_sizes"]
        ]
        blocks.append(Table("Request sizes", ["Bytes", "Reads", "Writes"], "lrr", rows))
    if found.get("busiest_files"):
        files = found["busiest_files"]
        rows = [
            [foreign(it["file"]), size(it["bytes_read"]), size(it["bytes_written"])]
            for it in files[:BUSIEST]
        ]
        note = f"{len(files) - BUSIEST} more files are left out." if len(files) > BUSIEST else ""
        blocks.append(Table("Busiest files", ["File", "Read", "Written"], "wrr", rows, note=note))
    return blocks


def _workload(workload: Document) -> list[Block]:
    blocks: list[Block] = [Paragraph("Workload fitted to the trace")]
    if workload.get("toml"):
        blocks.append(Code(foreign_lines(workload["toml"]), "toml"))
    rest = flat({key: it for key, it in workload.items() if key != "toml"})
    if rest:
        blocks.append(Facts(rest))
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
    for ending in ("_seconds", "_bytes", "_share", "_s"):
        name = name.removesuffix(ending)
    text = foreign(name.replace("_", " ").replace(".", ": "), 80)
    return text[:1].upper() + text[1:]


def _value(key: str, value: Any) -> str:
    if value is None:
        return "unknown"
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, int | float):
        if key.endswith(("_share", "_gain")) or key in ("error", "share"):
            return f"{percent(value)} %"
        if key.endswith("_per_s"):
            return f"{figure(value)}/s"
        if key.endswith(("_s", "_seconds")):
            return duration(value)
        if "bytes" in key:
            return size(value)
        return whole(value) if isinstance(value, int) else figure(value)
    if isinstance(value, list | tuple):
        return foreign("; ".join(_item(it) for it in value) or "none")
    return foreign(value)


def _item(value: Any) -> str:
    if isinstance(value, Mapping):
        return ", ".join(f"{name}: {text}" for name, text in flat(value))
    return str(value)
