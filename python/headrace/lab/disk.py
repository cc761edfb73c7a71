"""Disks of a host, from the scenario."""

from pathlib import Path

from headrace._core import ScenarioError
from headrace.lab.file_system import file_system_for
from headrace.lab.plan import Disk, Limits
from headrace.lab.values import Values

KIB, GIB = 1 << 10, 1 << 30
IMAGE = 16 * GIB
EXAMPLE = "1 GiB"

MODELS = ("simple", "throttled")
"""Device models that a loop device with limits can represent. Others seek, rotate or erase."""

RATES = ("read_rate", "write_rate", "read_operations", "write_operations")
KERNEL_SCHEDULERS = ("none", "mq-deadline", "kyber", "bfq")
"""Of Linux since 5.0 (block/)."""


def disks(values: Values, machine: str, count: int) -> tuple[Disk, ...]:
    """Return `count` equal disks of a machine.

    Parameters
    ----------
    values
        Values of the scenario.
    machine
        Section of the machine, such as `machine` or `servers`.
    count
        Number of disks.

    Raises
    ------
    ScenarioError
        If a loop device cannot represent them.
    """
    if values.has(f"{machine}.volume.0"):
        raise ScenarioError(
            f"{machine}.volume: a testbed has one file system per disk: expected no volumes"
        )
    image = values.amount("lab.image")
    size = IMAGE if image is None else int(image)
    if size == 0:
        raise ScenarioError(
            f'lab.image = "0 B": expected a size for a file system, such as "{EXAMPLE}"'
        )
    file_system = file_system_for(values, f"{machine}.file_system")
    limits = _limits(values, f"{machine}.device")
    queue = _queue(values, machine)
    write_back = _write_back(values, f"{machine}.write_back")
    kind, make, options, given = file_system
    return tuple(
        Disk(f"disk-{number}", size, limits, kind, make, options, given, queue, write_back)
        for number in range(count)
    )


def _limits(values: Values, device: str) -> Limits:
    kind = values.word(f"{device}.kind")
    if kind not in MODELS:
        raise ScenarioError(
            f'{device}.kind = "{kind}": a loop device has rate limits, but cannot imitate this'
            ' device: expected "throttled" or "simple"'
        )
    values.carried(f"{device}.kind", "a loop device with limits")
    for name in RATES:
        values.carried(f"{device}.{name}", "blk-throttle")
    for name in ("slice", "tick", "largest_request", "burst", "burst_operations"):
        values.dropped(f"{device}.{name}", "set by this kernel's blk-throttle")
    return Limits(*(values.amount(f"{device}.{name}") for name in RATES))


def _queue(values: Values, machine: str) -> dict[str, str]:
    """Return settings of the request queue by name in sysfs, in the order to apply them."""
    queue = {}
    scheduler = f"{machine}.io_scheduler"
    kind = values.word(f"{scheduler}.kind")
    if kind in KERNEL_SCHEDULERS:
        queue["scheduler"] = kind
        values.carried(f"{scheduler}.kind", "scheduler")
    elif kind is not None:
        queue["scheduler"] = "none"
        values.dropped(f"{scheduler}.kind", "removed from Linux in 5.0; none is used")
    options = []
    if kind in KERNEL_SCHEDULERS:
        options.append((f"{scheduler}.largest_request", "max_sectors_kb", KIB))
        if kind != "none":
            options.append((f"{scheduler}.requests", "nr_requests", 1))
    # Last, because the kernel resets it with the largest request.
    options.append((f"{machine}.read_ahead.window", "read_ahead_kb", KIB))
    for path, name, unit in options:
        whole = values.carried_whole(path, f"{name} = {{}}", unit)
        if whole is not None:
            queue[name] = whole
    return queue


def _write_back(values: Values, section: str) -> dict[str, str]:
    """Return a dirty limit for the disk, which replaces that of the machine.

    `strict_limit` applies the limit independently of other dirty data. Without `min_bytes` a disk
    that has written little gets a small share of it (Linux 6.18, mm/page-writeback.c:
    __wb_calc_thresh).
    """
    size = values.amount(f"{section}.bytes")
    if size is None:
        return {}
    if not any(Path("/sys/class/bdi").glob("*/max_bytes")):
        values.dropped(f"{section}.bytes", "dirty limits of a disk need Linux 6.2")
        return {}
    values.carried(f"{section}.bytes", "max_bytes, min_bytes and strict_limit of the disk")
    values.dropped(
        f"{section}.background_bytes",
        "the kernel uses the ratio of vm.dirty_background_* to vm.dirty_*",
    )
    limit = str(round(size))
    return {"strict_limit": "1", "max_bytes": limit, "min_bytes": limit}


def image(folder: Path, host: str, disk: Disk) -> Path:
    """Return the path of a disk's image."""
    return folder / f"{host}-{disk.name}.img"
