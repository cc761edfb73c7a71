"""Memory and paging (proc(5), /proc/meminfo and /proc/vmstat)."""

import os
from collections import Counter

from headrace.profile.counters.source import (
    LARGEST,
    Columns,
    Raw,
    Read,
    Source,
    Watched,
    number_after,
    open_file,
    per_second,
)

NAME = "memory"
AMOUNTS = {
    "total": b"MemTotal:",
    "free": b"MemFree:",
    "available": b"MemAvailable:",
    "buffers": b"Buffers:",
    "cached": b"\nCached:",
    "reclaimable": b"SReclaimable:",
    "dirty": b"Dirty:",
    "write_back": b"Writeback:",
    "swap_total": b"SwapTotal:",
    "swap_free": b"SwapFree:",
}
"""Lines of /proc/meminfo, in KiB."""
PAGE = os.sysconf("SC_PAGE_SIZE")
PAGING = {
    "in": (b"\npgpgin ", 1024),
    "out": (b"\npgpgout ", 1024),
    "swap_in": (b"\npswpin ", PAGE),
    "swap_out": (b"\npswpout ", PAGE),
    # Pages read again after eviction (Linux 5.9, mm/workingset.c).
    "refault": (b"\nworkingset_refault_file ", PAGE),
    "major_faults": (b"\npgmajfault ", 1),
}
"""Lines of /proc/vmstat, and the bytes of their unit."""


def parse(meminfo: bytes, vmstat: bytes, left_out: Counter[str]) -> Raw:
    """Return amounts of memory and counters of paging, in bytes."""
    raw: Raw = {}
    for name, key in AMOUNTS.items():
        _add(raw, name, number_after(meminfo, key), 1024, left_out)
    for name, (key, unit) in PAGING.items():
        _add(raw, f"paging_{name}", number_after(vmstat, key), unit, left_out)
    return raw


def _add(raw: Raw, name: str, value: int | None, unit: int, left_out: Counter[str]) -> None:
    if value is None:
        return
    if 0 <= value * unit < LARGEST:
        raw[name] = value * unit
    else:
        left_out[NAME] += 1


def _open(watched: Watched) -> Read | None:
    amounts = open_file(watched.proc / "meminfo")
    paging = open_file(watched.proc / "vmstat")
    if amounts is None:
        return None
    return lambda: parse(amounts.read(), paging.read() if paging else b"", watched.left_out)


def rates(before: Raw, after: Raw, seconds: float) -> Columns:
    """Return the amounts at the end of the interval, and the rates of paging."""
    columns: Columns = {
        f"memory.{name}_bytes": after.get(name)
        for name in ("total", "available", "buffers", "cached", "dirty", "write_back")
    }
    if {"total", "free", "buffers", "cached"} <= after.keys():
        other = after["free"] + after["buffers"] + after["cached"] + after.get("reclaimable", 0)
        columns["memory.used_bytes"] = max(after["total"] - other, 0)
    else:
        columns["memory.used_bytes"] = None
    swap = {"swap_total", "swap_free"} <= after.keys()
    columns["memory.swap_used_bytes"] = after["swap_total"] - after["swap_free"] if swap else None
    for name in PAGING:
        key = f"paging_{name}"
        unit = "_per_s" if name == "major_faults" else "_bytes_per_s"
        known = key in before and key in after
        columns[f"paging.{name}{unit}"] = (
            per_second(before[key], after[key], seconds) if known else None
        )
    return columns


SOURCE = Source(NAME, _open, rates)
