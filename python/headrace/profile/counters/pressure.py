"""Pressure stall information (Linux, Documentation/accounting/psi.rst, /proc/pressure)."""

from collections import Counter

from headrace.profile.counters.source import (
    Columns,
    Raw,
    Read,
    Source,
    Watched,
    number_after,
    open_file,
    per_second,
)

NAME = "pressure"
RESOURCES = ("cpu", "memory", "io")
KINDS = {b"some ": "some", b"full ": "full"}


def parse(text: bytes, left_out: Counter[str]) -> dict[str, int]:
    """Return the stalled time of "some" and "full", in microseconds."""
    totals: dict[str, int] = {}
    for line in text.split(b"\n"):
        if not line:
            continue
        value = number_after(line, b" total=")
        kind = KINDS.get(line[:5])
        if kind is None or value is None or value < 0:
            left_out[NAME] += 1
        else:
            totals[kind] = value
    return totals


def _open(watched: Watched) -> Read | None:
    files = {name: open_file(watched.proc / "pressure" / name) for name in RESOURCES}
    there = {name: file for name, file in files.items() if file is not None}

    def read() -> Raw:
        return {name: parse(file.read(), watched.left_out) for name, file in there.items()}

    return read if there else None


def rates(before: Raw, after: Raw, seconds: float) -> Columns:
    """Return the share of time in which at least one task was stalled."""
    columns: Columns = {}
    for name in RESOURCES:
        then, now = (side.get(name, {}).get("some") for side in (before, after))
        known = then is not None and now is not None
        share = per_second(then, now, 1e6 * seconds) if known else None
        columns[f"pressure.{name}"] = None if share is None else min(share, 1.0)
    return columns


SOURCE = Source(NAME, _open, rates)
