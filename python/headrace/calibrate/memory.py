"""Memory available for the page cache."""

import os
import platform
import re
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

from headrace.calibrate.cgroups import own_cgroups
from headrace.calibrate.mount import Mount
from headrace.calibrate.parameter import Parameter
from headrace.calibrate.sysfs import read_sysfs

KIB = 1024
MEMORY = "/proc/meminfo"


class Memory(NamedTuple):
    """Size of memory, and the part that is not page cache, in bytes."""

    size: int
    used: int
    source: str


def memory(mount: Mount) -> Iterator[Parameter]:
    """Yield the memory parameters of the tightest control group, or of the machine."""
    machine = machine_memory()
    tightest = min([machine, *_cgroup_memory()], key=lambda cache: cache.size)
    yield Parameter("machine.memory.size", (tightest.size,), "B", tightest.source)
    yield Parameter(
        "machine.memory.used", (tightest.used,), "B", f"{tightest.source}, minus page cache"
    )
    page = os.sysconf("SC_PAGE_SIZE")
    yield Parameter("machine.memory.page", (page,), "B", "sysconf(3)")
    yield Parameter("machine.memory.largest_folio", (_largest_folio(mount, page),), "B", FOLIOS)


def machine_memory() -> Memory:
    """Return the memory of the machine."""
    lines = Path(MEMORY).read_text(encoding="ascii").splitlines()
    known = {line.split(":")[0]: int(line.split()[1]) * KIB for line in lines}
    cache = known["MemFree"] + known["Buffers"] + known["Cached"] + known["SReclaimable"]
    return Memory(known["MemTotal"], known["MemTotal"] - cache, MEMORY)


def _cgroup_memory() -> Iterator[Memory]:
    for folder, version in own_cgroups("memory"):
        limit, used, cached = (
            ("memory.max", "memory.current", "file")
            if version == "2"
            else ("memory.limit_in_bytes", "memory.usage_in_bytes", "total_cache")
        )
        group = group_memory(folder, limit, used, cached)
        if group is not None:
            yield group


def group_memory(folder: Path, limit: str, used: str, cached: str) -> Memory | None:
    """Return the memory of a control group; None if it has no limit."""
    most, now = read_sysfs(folder / limit) or "max", read_sysfs(folder / used)
    if most == "max" or now is None:
        return None
    lines = (read_sysfs(folder / "memory.stat") or "").splitlines()
    cache = {key: int(value) for key, value in (line.split() for line in lines)}.get(cached, 0)
    return Memory(int(most), max(int(now) - cache, 0), str(folder / limit))


FOLIOS = "Linux: XFS has large folios since 5.18, ext4 since 6.16, not with data=journal"


def _largest_folio(mount: Mount, page: int) -> int:
    """Return the largest folio that the kernel version supports, in bytes. Calls of 1 MiB get
    folios of 1 MiB."""
    since = {"xfs": (5, 18), "ext4": (6, 16), "ext3": (6, 16), "ext2": (6, 16)}
    large = kernel() >= since[mount.kind] and mount.option("data") != "journal"
    return 1024 * KIB if large else page


def kernel() -> tuple[int, ...]:
    """Return the kernel's version, such as (6, 18)."""
    return tuple(int(part) for part in re.findall(r"\d+", platform.release())[:2])
