"""The block device below a directory, by the numbers that events have."""

import os
from dataclasses import dataclass
from os import PathLike
from pathlib import Path

from headrace.tracefs import KernelTraceError

MINOR_BITS = 20
"""Bits of the minor number within the kernel's device number (Linux, include/linux/kdev_t.h)."""


@dataclass(frozen=True)
class Device:
    """A file system's device."""

    name: str
    """Device number such as 254:1, by which the kernel also names its write-back."""
    file_system: int
    """The number that events of the file system have."""
    disk: int
    """Device number of the requests; for a partition, that of its disk."""


def device_of(directory: str | PathLike[str]) -> Device:
    """Raise KernelTraceError if the directory's file system is on no block device, OSError if
    there is no such directory."""
    number = os.stat(directory).st_dev
    name = f"{os.major(number)}:{os.minor(number)}"
    folder = (Path("/sys/dev/block") / name).resolve()
    if not folder.is_dir():
        raise KernelTraceError(
            f"{os.fspath(directory)}: no block device below"
            " it: expected a directory on a local disk"
        )
    whole = folder.parent if (folder / "partition").exists() else folder
    return Device(name, _number(name), _number((whole / "dev").read_text(encoding="ascii")))


def _number(name: str) -> int:
    major, minor = map(int, name.split(":"))
    return major << MINOR_BITS | minor
