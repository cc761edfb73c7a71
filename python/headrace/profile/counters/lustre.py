"""Lustre clients (Lustre Operations Manual, "Monitoring Client Activity": llite.*.stats)."""

import re
from collections import Counter
from pathlib import Path

from headrace.profile.counters.source import (
    Columns,
    CounterFile,
    Raw,
    Read,
    Source,
    Watched,
    as_text,
    naturals,
    open_file,
    per_second,
    with_prefix,
)

NAME = "lustre"
INSTANCE = re.compile(r"-[0-9a-f]{8,}$")
"""Address of a mount's instance after the name of its file system."""
DATA = ("read_bytes", "write_bytes")
IN_CACHE = frozenset({"osc_read", "osc_write", "brw_read", "brw_write", "ioctl", "seek", "mmap"})
"""Lines of data and of calls that the client answers itself; all others count as metadata."""


def parse(text: bytes, left_out: Counter[str]) -> Raw:
    """Return [calls, sum] of each line; the sum is in bytes or microseconds, or 0."""
    raw: Raw = {}
    for line in text.splitlines():
        words = line.split()
        if not words or words[0] in (b"snapshot_time", b"start_time", b"elapsed_time"):
            continue
        # name, calls, "samples", "[unit]", and for most units least, largest and sum.
        values = naturals([*words[1:2], *words[6:7]])
        if len(words) < 4 or words[2] != b"samples" or values is None:
            left_out[NAME] += 1
            continue
        raw[as_text(words[0])] = [values[0], values[1] if len(values) > 1 else 0]
    return raw


def _open(watched: Watched) -> Read | None:
    files: dict[str, CounterFile] = {}
    # Since Lustre 2.12 the file is in debugfs, which only root may read.
    for above in (watched.proc / "fs" / "lustre", watched.sys / "kernel" / "debug" / "lustre"):
        try:
            paths = sorted(above.glob("llite/*/stats"))
        except OSError:
            continue
        for path in paths:
            if (file := open_file(path)) is not None:
                files[_name(path, paths)] = file

    def read() -> Raw:
        return {name: parse(file.read(), watched.left_out) for name, file in files.items()}

    return read if files else None


def _name(path: Path, among: list[Path]) -> str:
    """Return the name of the file system; with the instance if it is mounted several times."""
    names = [INSTANCE.sub("", file.parent.name) for file in among]
    short = INSTANCE.sub("", path.parent.name)
    return short if names.count(short) == 1 else path.parent.name


def rates(before: Raw, after: Raw, seconds: float) -> Columns:
    """Return throughput, calls that move data, and metadata operations of each mount."""
    columns: Columns = {}
    for name, now in after.items():
        if (then := before.get(name)) is None:
            continue
        other = [it for it in now if it not in DATA and it not in IN_CACHE]
        metadata = [then.get(it, [0, 0])[0] for it in other], [now[it][0] for it in other]
        values: Columns = {}
        for key, calls in (("read_bytes", "reads_per_s"), ("write_bytes", "writes_per_s")):
            a, b = then.get(key, [0, 0]), now.get(key, [0, 0])
            values[f"{key}_per_s"] = per_second(a[1], b[1], seconds)
            values[calls] = per_second(a[0], b[0], seconds)
        values["metadata_per_s"] = per_second(sum(metadata[0]), sum(metadata[1]), seconds)
        columns |= with_prefix(f"lustre.{name}", values)
    return columns


SOURCE = Source(NAME, _open, rates)
