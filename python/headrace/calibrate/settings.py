"""What the kernel tells of a machine: settings, sizes, limits."""

import os
import platform
import re
from collections.abc import Iterator
from pathlib import Path

from headrace.calibrate.limits import limits
from headrace.calibrate.mount import Mount
from headrace.calibrate.parameter import Parameter, Unit, Value
from headrace.calibrate.small_file import word

KIB = 1024


def settings(mount: Mount) -> list[Parameter]:
    """The parameters that are read rather than measured, in the order of the scenario."""
    return [
        *_processor(),
        *_caches(),
        *_memory(mount),
        *_write_back(),
        *_read_ahead(mount),
        *_journal(mount),
        *_queue(mount),
        *limits(mount),
    ]


def _read(field: str, value: Value, unit: Unit, path: str | Path) -> Parameter:
    return Parameter(field, (value,), unit, str(path))


def _processor() -> Iterator[Parameter]:
    cores = len(os.sched_getaffinity(0))
    yield _read("machine.cpu.cores", cores, "", "sched_getaffinity(2)")


def _caches() -> Iterator[Parameter]:
    """The second and third level of the first core."""
    for index in sorted(Path("/sys/devices/system/cpu/cpu0/cache").glob("index*")):
        level, size = word(index / "level"), word(index / "size")
        if level in ("2", "3") and size is not None and size.endswith("K"):
            yield _read(f"machine.copying.l{level}", int(size[:-1]) * KIB, "B", index / "size")


def _memory(mount: Mount) -> Iterator[Parameter]:
    path = "/proc/meminfo"
    lines = Path(path).read_text(encoding="ascii").splitlines()
    known = {line.split(":")[0]: int(line.split()[1]) * KIB for line in lines}
    total = known["MemTotal"]
    cache = known["MemFree"] + known["Buffers"] + known["Cached"] + known["SReclaimable"]
    yield _read("machine.memory.size", total, "B", path)
    yield _read("machine.memory.used", total - cache, "B", f"{path}: less free, buffers, cached")
    page = os.sysconf("SC_PAGE_SIZE")
    yield _read("machine.memory.page", page, "B", "sysconf(3)")
    yield _read("machine.memory.largest_folio", _largest_folio(mount, page), "B", FOLIOS)


FOLIOS = "Linux: XFS has large folios since 5.18, ext4 since 6.16, not with data=journal"


def _largest_folio(mount: Mount, page: int) -> int:
    """As the kernel's version has them; 1 MiB is what calls of 1 MiB get."""
    since = {"xfs": (5, 18), "ext4": (6, 16), "ext3": (6, 16), "ext2": (6, 16)}
    version = tuple(int(part) for part in re.findall(r"\d+", platform.release())[:2])
    large = version >= since[mount.kind] and mount.option("data") != "journal"
    return 1024 * KIB if large else page


def _write_back() -> Iterator[Parameter]:
    folder = Path("/proc/sys/vm")
    for field, name in (("background_", "dirty_background"), ("", "dirty")):
        # Of the two, the one that was set last holds; the other reads 0.
        size = int(word(folder / f"{name}_bytes") or 0)
        if size:
            yield _read(f"machine.write_back.{field}bytes", size, "B", folder / f"{name}_bytes")
        else:
            ratio = int(word(folder / f"{name}_ratio") or 0) / 100
            if 0 < ratio < 1:
                path = folder / f"{name}_ratio"
                yield _read(f"machine.write_back.{field}ratio", ratio, "", path)
    for field, name in (("expiry", "expire"), ("interval", "writeback")):
        path = folder / f"dirty_{name}_centisecs"
        yield _read(f"machine.write_back.{field}", int(word(path) or 0) / 100, "s", path)


def _read_ahead(mount: Mount) -> Iterator[Parameter]:
    path = Path("/sys/class/bdi") / mount.device / "read_ahead_kb"
    if not path.exists():
        path = mount.disk / "queue" / "read_ahead_kb"
    window = word(path)
    if window is not None:
        yield _read("machine.read_ahead.window", int(window) * KIB, "B", path)


def _journal(mount: Mount) -> Iterator[Parameter]:
    """The mode; ext3 and ext4 leave a default one out of the mount options."""
    field = "machine.file_system.journal"
    source = "/proc/self/mountinfo"
    if mount.kind in ("ext3", "ext4"):
        if not _has_journal(mount):
            yield _read(f"{field}.mode", "none", "word", JOURNALS)
            return
        yield _read(f"{field}.mode", mount.option("data") or "ordered", "word", source)
        commit = mount.option("commit")
        if commit is not None:
            yield _read(f"{field}.commit_interval", float(commit), "s", source)
        barriers = mount.option("nobarrier") is None and mount.option("barrier") != "0"
        yield _read(f"{field}.barriers", barriers, "", source)


JOURNALS = Path("/proc/fs/jbd2")
"""A folder for each journal in use, as vda1-8."""


def _has_journal(mount: Mount) -> bool:
    """Ext4 can be made without one, which its mount options do not say."""
    name = (Path("/sys/dev/block") / mount.device).resolve().name
    return mount.option("data") is not None or any(JOURNALS.glob(f"{name}-*"))


def _queue(mount: Mount) -> Iterator[Parameter]:
    queue = mount.disk / "queue"
    schedulers = word(queue / "scheduler") or ""
    chosen = re.search(r"\[([a-z-]+)\]", schedulers)
    kind = chosen.group(1) if chosen else "none"
    yield _read("machine.io_scheduler.kind", kind, "word", queue / "scheduler")
    size, requests = word(queue / "max_sectors_kb"), word(queue / "nr_requests")
    if size is not None:
        field = "machine.io_scheduler.largest_request"
        yield _read(field, int(size) * KIB, "B", queue / "max_sectors_kb")
    if requests is not None and kind != "none":
        yield _read("machine.io_scheduler.requests", int(requests), "", queue / "nr_requests")
