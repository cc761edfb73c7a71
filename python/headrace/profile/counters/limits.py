"""Limits of the program's control group: processor quota and memory (Linux,
Documentation/admin-guide/cgroup-v2.rst and cgroup-v1/).

The group is that of the program, as /proc/PID/cgroup names it at each sample. The nearest group
with a limit counts: this one, or one above it.
"""

import os
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

from headrace.mountinfo import mounted
from headrace.profile.counters.source import (
    Columns,
    Raw,
    Read,
    Source,
    Watched,
    number_after,
    per_second,
    ratio,
    with_prefix,
)

NAME = "limits"
UNLIMITED = 2**60
"""Limits of memory from here on are none: version 1 reports the largest multiple of a page."""


class _Files(NamedTuple):
    """Names of a version's files, and the units of its times."""

    quota: str
    limit: str
    usage: str
    throttled: bytes
    seconds: float


VERSION_1 = _Files(
    "cpu.cfs_quota_us", "memory.limit_in_bytes", "memory.usage_in_bytes", b"throttled_time ", 1e-9
)
VERSION_2 = _Files("cpu.max", "memory.max", "memory.current", b"throttled_usec ", 1e-6)


class GroupLimits:
    """Reads the limits of a process's control groups."""

    def __init__(self, watched: Watched) -> None:
        self._watched = watched
        self._roots = {name: root for root, names in _hierarchies() for name in names}

    def read(self) -> Raw | None:
        """Return quota and memory with their counters; None without a process."""
        assert self._watched.roots is not None
        process = next(iter(self._watched.roots()), None)
        if process is None:
            return None
        process = _child_of_tracer(process, self._watched)
        # A path may be no UTF-8.
        lines = os.fsdecode(_text(self._watched.proc / str(process) / "cgroup")).splitlines()
        raw: Raw = {}
        for directory, files in self._groups(lines, "cpu"):
            if (quota := _quota(directory, files)) is not None:
                stat = _text(directory / "cpu.stat")
                raw["quota"] = quota
                raw["periods"] = number_after(stat, b"nr_periods ")
                raw["throttled"] = number_after(stat, b"nr_throttled ")
                raw["throttled_s"] = (number_after(stat, files.throttled) or 0) * files.seconds
                break
        for directory, files in self._groups(lines, "memory"):
            limit = _number(directory / files.limit)
            if limit is not None and limit < UNLIMITED:
                stat = _text(directory / "memory.stat")
                raw["memory_limit"] = limit
                raw["memory"] = _number(directory / files.usage)
                raw["refaults"] = sum(
                    max(number_after(stat, key) or 0, 0)
                    for key in (b"workingset_refault_file ", b"workingset_refault_anon ")
                )
                raw["major_faults"] = number_after(stat, b"\npgmajfault ")
                break
        return raw

    def _groups(self, lines: Sequence[str], controller: str) -> list[tuple[Path, _Files]]:
        """Return the groups in /proc/PID/cgroup for a controller, the nearest one first."""
        for line in lines:
            number, controllers, path = line.split(":", 2)
            is_second = number == "0"
            if not is_second and controller not in controllers.split(","):
                continue
            root = self._roots.get("" if is_second else controller)
            if root is None:
                continue
            files = VERSION_2 if is_second else VERSION_1
            directory = root / path.lstrip("/")
            parents = [directory, *directory.parents]
            within = parents[: len(directory.parts) - len(root.parts) + 1]
            if not is_second or (root / f"{controller}.stat").exists():
                return [(parent, files) for parent in within]
        return []


def _hierarchies() -> list[tuple[Path, list[str]]]:
    """Return the mounted hierarchies with their controllers; "" is version 2."""
    try:
        mounts = [mount for mount in mounted() if mount.kind in ("cgroup", "cgroup2")]
    except (OSError, ValueError):
        return []
    # A hierarchy of version 1 is mounted by the names of its controllers.
    return [
        (mount.at, [""] if mount.kind == "cgroup2" else mount.at.name.split(","))
        for mount in mounts
    ]


def _child_of_tracer(process: int, watched: Watched) -> int:
    """Return the process, or the program that it traces."""
    if process != watched.tracer:
        return process
    children = _text(watched.proc / f"{process}/task/{process}/children").split()
    return int(children[0]) if children else process


def _quota(directory: Path, files: _Files) -> float | None:
    """Return the quota of a group in processors; None if it has none."""
    words = _text(directory / files.quota).split()
    if files is VERSION_1:
        words += _text(directory / "cpu.cfs_period_us").split()
    try:
        quota, period = map(int, words)
    except ValueError:
        return None
    return quota / period if quota > 0 and period > 0 else None


def _number(path: Path) -> int | None:
    text = _text(path).strip()
    return int(text) if text.isdigit() else None


def _text(path: Path) -> bytes:
    try:
        return path.read_bytes()
    except OSError:
        return b""


def _open(watched: Watched) -> Read | None:
    return None if watched.roots is None else GroupLimits(watched).read


def rates(before: Raw, after: Raw, seconds: float) -> Columns:
    """Return the quota in processors, throttling, and memory against its limit."""
    columns: Columns = {
        "quota": after.get("quota"),
        "throttled_periods": ratio(
            _grown(before, after, "throttled", 1.0), _grown(before, after, "periods", 1.0)
        ),
        "throttled": _grown(before, after, "throttled_s", seconds),
        "memory_limit_bytes": after.get("memory_limit"),
        "memory_share": ratio(after.get("memory"), after.get("memory_limit")),
        "refault_pages_per_s": _grown(before, after, "refaults", seconds),
        "major_faults_per_s": _grown(before, after, "major_faults", seconds),
    }
    return with_prefix(NAME, {name: value for name, value in columns.items() if value is not None})


def _grown(before: Mapping[str, float], after: Raw, name: str, seconds: float) -> float | None:
    then, now = before.get(name), after.get(name)
    return None if then is None or now is None else per_second(then, now, seconds)


SOURCE = Source(NAME, _open, rates)
