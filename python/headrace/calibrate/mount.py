"""The file system under a directory, and the block device below it."""

import os
from dataclasses import dataclass, replace
from os import PathLike
from pathlib import Path

from headrace._core import ScenarioError
from headrace.mountinfo import mounted

MODELLED = ("ext2", "ext3", "ext4", "xfs")
"""File systems that a simulation knows, by the names that the kernel gives them."""

SERVED = {"fuse.glusterfs": "glusterfs"}
"""File systems on servers that a simulation knows, and its systems."""


@dataclass(frozen=True)
class Mount:
    """A mounted file system."""

    kind: str
    """As ext4."""
    options: tuple[str, ...]
    device: str
    """Major and minor number, as 253:0."""

    def option(self, name: str) -> str | None:
        """The value of a mount option such as `data=ordered`; None if it is not given."""
        for option in self.options:
            key, _, value = option.partition("=")
            if key == name:
                return value
        return None

    @property
    def disk(self) -> Path:
        """Where the kernel tells of the device; of a partition, that of the whole."""
        device = (Path("/sys/dev/block") / self.device).resolve()
        return device if (device / "queue").is_dir() else device.parent


def mount_of(directory: str | PathLike[str]) -> Mount:
    """The file system of this machine under a directory.

    Raises OSError if there is no such directory, ScenarioError if its file system is none
    that a simulation knows.
    """
    found = _mount_of(directory)
    if found.kind in SERVED:
        raise ScenarioError(
            f"{os.fspath(directory)}: {found.kind} is under it, whose data is on servers: expected"
            " --server HOST:PORT, where one of them runs headrace bench net answer, with headrace"
            " calibrate"
        )
    if found.kind not in MODELLED:
        raise ScenarioError(
            f"{os.fspath(directory)}: {found.kind} is under it: expected one of"
            f" {', '.join(MODELLED)}, which a simulation knows"
        )
    return found


def served_mount_of(directory: str | PathLike[str]) -> Mount:
    """The file system on servers under a directory; its kind is that of a simulation.

    Raises OSError if there is no such directory, ScenarioError if its file system is none
    on servers that a simulation knows.
    """
    found = _mount_of(directory)
    if found.kind not in SERVED:
        raise ScenarioError(
            f"{os.fspath(directory)}: {found.kind} is under it: with --server expected one of"
            f" {', '.join(SERVED)}, whose data is on servers; else leave --server out"
        )
    return replace(found, kind=SERVED[found.kind])


def _mount_of(directory: str | PathLike[str]) -> Mount:
    number = os.stat(directory).st_dev
    device = f"{os.major(number)}:{os.minor(number)}"
    found = Mount("an unknown file system", (), device)
    for it in mounted():
        if it.device == device:
            found = Mount(it.kind, it.options, device)
    return found
