"""Tables of profiles."""

from collections.abc import Callable, Mapping
from typing import Any

from rich.console import Group, RenderableType
from rich.text import Text

from headrace.plain_text import plain, plain_line
from headrace.quantities import duration, figure, megabytes, percent, size, whole
from headrace.render.fitted_table import FittedTable

Document = Mapping[str, Any]
Format = Callable[[float], str]


def _rate(value: float) -> str:
    return f"{megabytes(value)} MB/s"


def _share(value: float) -> str:
    return f"{percent(value)} %"


ROWS: tuple[tuple[str, str, str, Format], ...] = (
    ("processors", "user", "cpu.user", _share),
    ("", "system", "cpu.system", _share),
    ("", "I/O wait", "cpu.iowait", _share),
    ("", "steal", "cpu.steal", _share),
    ("memory", "used", "memory.used_bytes", size),
    ("", "page cache", "memory.cached_bytes", size),
    ("", "dirty", "memory.dirty_bytes", size),
    ("process tree", "processors, user", "tree.user", figure),
    ("", "processors, system", "tree.system", figure),
    ("", "processors, busiest thread", "tree.busiest_thread", figure),
    ("", "threads", "tree.threads", whole),
    ("", "resident memory", "tree.resident_bytes", size),
    ("", "read from devices", "tree.read_bytes_per_s", _rate),
    ("", "written to devices", "tree.write_bytes_per_s", _rate),
    ("", "read by calls", "tree.read_call_bytes_per_s", _rate),
    ("", "written by calls", "tree.write_call_bytes_per_s", _rate),
)
"""Group, name, column of the samples, and format of the rows of every host."""
DEVICES: tuple[tuple[str, str, tuple[tuple[str, str, Format], ...]], ...] = (
    (
        "disk.",
        "disk",
        (
            ("read", "read_bytes_per_s", _rate),
            ("write", "write_bytes_per_s", _rate),
            ("utilisation", "utilisation", _share),
        ),
    ),
    (
        "net.",
        "interface",
        (("receive", "receive_bytes_per_s", _rate), ("send", "send_bytes_per_s", _rate)),
    ),
    (
        "infiniband.",
        "InfiniBand",
        (("receive", "receive_bytes_per_s", _rate), ("send", "send_bytes_per_s", _rate)),
    ),
    ("nfs.", "NFS", (("read", "read_bytes_per_s", _rate), ("write", "write_bytes_per_s", _rate))),
    (
        "lustre.",
        "Lustre",
        (("read", "read_bytes_per_s", _rate), ("write", "write_bytes_per_s", _rate)),
    ),
)
"""Prefix of the columns, kind, and rows of every device that was used."""


def profile(document: Document) -> RenderableType:
    """Return mean and peak of the main figures of each host."""
    status = document.get("exit_status")
    ended = "" if status is None else f", exit status {status}"
    heading = Text(
        plain_line(f"{document['name']}: {duration(document['duration_s'])}{ended}"), style="bold"
    )
    tables = [_host(host, usage, len(document["hosts"])) for host, usage in _usage(document)]
    notes = [Text(plain(f"note: {note}")) for note in document.get("notes", ())]
    return Group(heading, *tables, *notes)


def _usage(document: Document) -> list[tuple[str, Mapping[str, Any]]]:
    usage = document.get("usage", {})
    return [(host, usage[host]) for host in document["hosts"] if host in usage]


def _host(host: str, usage: Mapping[str, Any], hosts: int) -> FittedTable:
    table = FittedTable(host if hosts > 1 else "", 2, ("", "figure", "mean", "peak"))
    for group, name, column, shown in ROWS:
        if column in usage:
            table.add_row(group, name, *_cells(usage[column], shown))
    for prefix, kind, rows in DEVICES:
        for device in _devices(usage, prefix, [column for _, column, _ in rows]):
            for number, (name, column, shown) in enumerate(rows):
                if (of_row := usage.get(f"{prefix}{device}.{column}")) is not None:
                    head = f"{kind} {device}" if number == 0 else ""
                    table.add_row(head, name, *_cells(of_row, shown))
    return table


def _devices(usage: Mapping[str, Any], prefix: str, columns: list[str]) -> list[str]:
    """Return the devices that were used at all."""
    used: dict[str, None] = {}
    for name, of_name in usage.items():
        device, _, column = name.removeprefix(prefix).rpartition(".")
        if name.startswith(prefix) and column in columns and of_name["peak"] > 0:
            used[device] = None
    return list(used)


def _cells(usage: Mapping[str, Any], shown: Format) -> tuple[str, str]:
    return shown(usage["mean"]), shown(usage["peak"])
