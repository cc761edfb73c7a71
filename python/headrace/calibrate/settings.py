"""Read a machine's settings from the kernel."""

import os
import re
from collections.abc import Iterator
from pathlib import Path

from headrace import mountinfo
from headrace.calibrate.limits import limits
from headrace.calibrate.memory import kernel, machine_memory, memory
from headrace.calibrate.mount import Mount
from headrace.calibrate.parameter import Parameter
from headrace.calibrate.records import Unit, Value
from headrace.calibrate.sysfs import read_sysfs

KIB, MIB = 1024, 1024 * 1024


def settings(mount: Mount) -> list[Parameter]:
    """Return the parameters that are read, in the order of the scenario."""
    return [
        *_processor(),
        *_caches(),
        *memory(mount),
        *_write_back(mount),
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
    """Yield the second- and third-level caches of the first core."""
    for index in sorted(Path("/sys/devices/system/cpu/cpu0/cache").glob("index*")):
        level, size = read_sysfs(index / "level"), read_sysfs(index / "size")
        if read_sysfs(index / "type") == "Instruction":
            continue
        if level in ("2", "3") and size is not None and size.endswith("K"):
            yield _read(f"machine.copying.l{level}", int(size[:-1]) * KIB, "B", index / "size")


VM = Path("/proc/sys/vm")
MEANING_OF_ZERO = {"expiry": 0.0, "interval": 24 * 3600.0}
"""Seconds that a setting of 0 stands for. An interval of 0 disables periodic write-back (Linux
6.18, Documentation/admin-guide/sysctl/vm.rst); once a day has the same effect."""


def _write_back(mount: Mount) -> Iterator[Parameter]:
    background, most = (_dirty(VM, name) for name in ("dirty_background", "dirty"))
    own = device_limit(Path("/sys/class/bdi") / mount.device)
    if own is not None and own[0] < most[0]:
        # The same ratio as the machine's (Linux 6.18, mm/page-writeback.c: wb_dirty_limits).
        background = (round(background[0] * own[0] / most[0]), own[1])
        most = own
    for field, (size, path) in (("background_bytes", background), ("bytes", most)):
        yield _read(f"machine.write_back.{field}", size, "B", path)
    for field, name in (("expiry", "expire"), ("interval", "writeback")):
        path = VM / f"dirty_{name}_centisecs"
        seconds = int(read_sysfs(path) or 0) / 100
        yield _read(f"machine.write_back.{field}", seconds or MEANING_OF_ZERO[field], "s", path)


def _dirty(folder: Path, name: str) -> tuple[int, Path]:
    """Return a dirty limit of the machine in bytes, and its source. Two files set the limit: the
    one written last applies, and the other reads 0."""
    path = folder / f"{name}_bytes"
    size = int(read_sysfs(path) or 0)
    if not size:
        path = folder / f"{name}_ratio"
        # The ratio applies to the machine's memory, not to that of a control group.
        machine = machine_memory()
        size = round(int(read_sysfs(path) or 0) / 100 * (machine.size - machine.used))
    return size, path


def device_limit(folder: Path) -> tuple[int, Path] | None:
    """Return the dirty limit of a device in bytes, and its source.

    None without `strict_limit`: the limit then applies only near the machine's limits (Linux since
    6.2, Documentation/ABI/testing/sysfs-class-bdi).

    Parameters
    ----------
    folder
        Directory of the device in /sys/class/bdi.
    """
    if read_sysfs(folder / "strict_limit") != "1":
        return None
    size = read_sysfs(folder / "max_bytes")
    return None if size is None else (int(size), folder / "max_bytes")


def _read_ahead(mount: Mount) -> Iterator[Parameter]:
    path = Path("/sys/class/bdi") / mount.device / "read_ahead_kb"
    if not path.exists():
        path = mount.disk / "queue" / "read_ahead_kb"
    window = read_sysfs(path)
    if window is not None:
        yield _read("machine.read_ahead.window", int(window) * KIB, "B", path)


def _journal(mount: Mount) -> Iterator[Parameter]:
    """Yield the journal's settings. ext3 and ext4 omit the default mode from the mount options."""
    field = "machine.file_system.journal"
    source = mountinfo.SOURCE
    if mount.kind in ("ext3", "ext4"):
        if not has_journal(mount):
            yield _read(f"{field}.mode", "none", "word", JOURNALS)
            return
        yield _read(f"{field}.mode", mount.option("data") or "ordered", "word", source)
        commit = mount.option("commit")
        if commit is not None:
            yield _read(f"{field}.commit_interval", float(commit), "s", source)
        barriers = mount.option("nobarrier") is None and mount.option("barrier") != "0"
        yield _read(f"{field}.barriers", barriers, "", source)
        yield from _journal_size(mount, field)


def _journal_size(mount: Mount, field: str) -> Iterator[Parameter]:
    """Yield the journal's size from the largest transaction, which is a third of it (Linux 6.18,
    fs/jbd2/journal.c: jbd2_journal_get_max_txn_bufs). Older kernels report another share."""
    for folder in _journals(mount) if kernel() >= (6, 18) else []:
        blocks = re.search(r"each up to (\d+) blocks", read_sysfs(folder / "info") or "")
        if blocks is not None:
            size = 3 * int(blocks[1]) * BLOCK
            # The kernel rounds the third down; journals have whole MiB (mke2fs(8)).
            whole = -(-size // MIB) * MIB
            yield _read(f"{field}.size", whole, "B", folder / "info")
            if mount.option("data") == "journal":
                # Checkpoint when a largest transaction no longer fits (Linux 6.18,
                # fs/jbd2/checkpoint.c: __jbd2_log_wait_for_space).
                yield _read(f"{field}.checkpoint_at", 1 / 3, "", folder / "info")


BLOCK = 4096
"""Block size in bytes. mke2fs uses it except on very small file systems."""

JOURNALS = Path("/proc/fs/jbd2")
"""Has a directory for each journal in use, such as vda1-8."""


def has_journal(mount: Mount) -> bool:
    """Return True if the file system has a journal. The mount options of ext4 do not tell."""
    return mount.option("data") is not None or bool(_journals(mount))


def _journals(mount: Mount) -> list[Path]:
    name = (Path("/sys/dev/block") / mount.device).resolve().name
    return list(JOURNALS.glob(f"{name}-*"))


def _queue(mount: Mount) -> Iterator[Parameter]:
    queue = mount.disk / "queue"
    schedulers = read_sysfs(queue / "scheduler") or ""
    chosen = re.search(r"\[([a-z-]+)\]", schedulers)
    kind = chosen.group(1) if chosen else "none"
    yield _read("machine.io_scheduler.kind", kind, "word", queue / "scheduler")
    size, requests = read_sysfs(queue / "max_sectors_kb"), read_sysfs(queue / "nr_requests")
    if size is not None:
        field = "machine.io_scheduler.largest_request"
        yield _read(field, int(size) * KIB, "B", queue / "max_sectors_kb")
    if requests is not None and kind != "none":
        yield _read("machine.io_scheduler.requests", int(requests), "", queue / "nr_requests")
