"""NFS mounts (Linux, net/sunrpc/stats.c and fs/nfs/super.c, /proc/self/mountstats)."""

import re
from collections import Counter

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
    ratio,
    with_prefix,
)

NAME = "nfs"
MOUNT = re.compile(rb"device .* mounted on (.*) with fstype (\S+)")
BYTES = 8
"""Numbers after `bytes:`: read and written by calls, by direct calls, and at the server; pages."""
SERVER_READ, SERVER_WRITTEN = 4, 5
FIELDS = 8
"""Numbers of an operation: calls, transmissions, time-outs, bytes sent and received, and the
milliseconds in the queue, of the round trip and of execution. Linux 5.3 added errors."""
CALLS, TRANSMISSIONS, QUEUE_MS, ROUND_TRIP_MS, EXECUTE_MS = 0, 1, 5, 6, 7
CHECKED = 10
"""Samples after which a host without NFS mounts is checked for one."""
NONE = [0] * FIELDS


def parse(text: bytes, left_out: Counter[str]) -> Raw | None:
    """Return bytes and operations of each NFS mount; None if there is none."""
    if b" with fstype nfs" not in text:
        return None
    raw: Raw = {}
    mount: Raw | None = None
    operations = False
    for line in text.splitlines():
        if line.startswith((b"device ", b"no device ")):
            mount, operations = None, False
            match = MOUNT.match(line)
            if match and match[2] in (b"nfs", b"nfs4"):
                mount = raw.setdefault(_path(match[1]), {"operations": {}})
            continue
        if mount is None:
            continue
        key, colon, rest = line.strip().partition(b":")
        if key == b"per-op statistics":
            operations = True
        elif key == b"bytes" and colon:
            values = naturals(rest.split())
            if values is None or len(values) < BYTES:
                left_out[NAME] += 1
            else:
                mount["bytes"] = values
        elif operations and colon:
            values = naturals(rest.split())
            if values is None or len(values) < FIELDS:
                left_out[NAME] += 1
            elif values[CALLS]:
                mount["operations"][as_text(key)] = values
    return raw


def _path(text: bytes) -> str:
    """Return a mount point; the kernel writes blanks as octal numbers."""
    return as_text(re.sub(rb"\\([0-7]{3})", lambda match: bytes([int(match[1], 8) & 255]), text))


class Mounts:
    """The NFS mounts of this host. Without one, the long list of mounts is read less often."""

    def __init__(self, file: CounterFile, left_out: Counter[str]) -> None:
        self._file = file
        self._left_out = left_out
        self._skipped = CHECKED

    def read(self) -> Raw | None:
        """Return the counters of each mount."""
        if self._skipped < CHECKED:
            self._skipped += 1
            return None
        raw = parse(self._file.read(), self._left_out)
        if raw is None:
            self._skipped = 0
        return raw


def _open(watched: Watched) -> Read | None:
    file = open_file(watched.proc / "self" / "mountstats")
    return None if file is None else Mounts(file, watched.left_out).read


def rates(before: Raw, after: Raw, seconds: float) -> Columns:
    """Return throughput, operations, and mean times of the operations of each mount."""
    columns: Columns = {}
    for path, now in after.items():
        if (then := before.get(path)) is not None:
            columns |= with_prefix(f"nfs.{path}", _mount(then, now, seconds))
    return columns


def _mount(before: Raw, after: Raw, seconds: float) -> Columns:
    def moved(field: int) -> float | None:
        if "bytes" not in before or "bytes" not in after:
            return None
        return per_second(before["bytes"][field], after["bytes"][field], seconds)

    def grown(names: list[str], field: int) -> float:
        pairs = ((before["operations"].get(key, NONE), after["operations"][key]) for key in names)
        # A mount that was made again at the same place starts at 0.
        return float(sum(max(b[field] - a[field], 0) for a, b in pairs))

    every = list(after["operations"])
    columns: Columns = {
        "read_bytes_per_s": moved(SERVER_READ),
        "write_bytes_per_s": moved(SERVER_WRITTEN),
    }
    for prefix, names in (
        ("", every),
        ("read_", [pair for pair in every if pair == "READ"]),
        ("write_", [pair for pair in every if pair == "WRITE"]),
    ):
        calls = grown(names, CALLS)
        columns[f"{prefix}calls_per_s"] = calls / seconds
        columns[f"{prefix}rtt_s"] = ratio(grown(names, ROUND_TRIP_MS) / 1e3, calls)
        columns[f"{prefix}execute_s"] = ratio(grown(names, EXECUTE_MS) / 1e3, calls)
    calls = grown(every, CALLS)
    columns["queue_s"] = ratio(grown(every, QUEUE_MS) / 1e3, calls)
    columns["retransmits_per_s"] = max(grown(every, TRANSMISSIONS) - calls, 0.0) / seconds
    return columns


SOURCE = Source(NAME, _open, rates)
