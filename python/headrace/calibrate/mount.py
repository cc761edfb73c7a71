"""The file system under a directory, and its block device."""

import os
from dataclasses import dataclass, replace
from os import PathLike
from pathlib import Path

from headrace._core import ScenarioError
from headrace.mountinfo import mounted

MODELLED = ("ext2", "ext3", "ext4", "xfs")
"""Types of file systems that simulations support, as the kernel names them."""

SERVED = {"fuse.glusterfs": "glusterfs"}
"""Types of network file systems that simulations support, and their system names."""


@dataclass(frozen=True)
class Mount:
    """A mounted file system."""

    kind: str
    """Type of the file system, such as ext4."""
    options: tuple[str, ...]
    device: str
    """Major and minor number, such as 253:0."""

    def option(self, name: str) -> str | None:
        """Return the value of a mount option such as `data=ordered`; None if it is not set."""
        for option in self.options:
            key, _, value = option.partition("=")
            if key == name:
                return value
        return None

    @property
    def disk(self) -> Path:
        """Directory of the device in sysfs; for a partition, that of the whole disk."""
        device = (Path("/sys/dev/block") / self.device).resolve()
        return device if (device / "queue").is_dir() else device.parent


def mount_of(directory: str | PathLike[str]) -> Mount:
    """Return the local file system under a directory.

    Raises
    ------
    OSError
        If the directory does not exist.
    ScenarioError
        If simulations do not support its file system.
    """
    mount = _mount_of(directory)
    if mount.kind in SERVED:
        raise ScenarioError(
            f"{os.fspath(directory)}: {mount.kind} is a network file system: use headrace calibrate"
            " --server HOST:PORT, and run headrace bench net answer on that server"
        )
    if mount.kind not in MODELLED:
        raise ScenarioError(
            f"{os.fspath(directory)}: the file system {mount.kind} cannot be simulated: expected"
            f" one of {', '.join(MODELLED)}"
        )
    return mount


def served_mount_of(directory: str | PathLike[str]) -> Mount:
    """Return the network file system under a directory; `kind` is the name of its system.

    Raises
    ------
    OSError
        If the directory does not exist.
    ScenarioError
        If simulations do not support its file system, or the file system is local.
    """
    mount = _mount_of(directory)
    if mount.kind not in SERVED:
        raise ScenarioError(
            f"{os.fspath(directory)}: {mount.kind} cannot be calibrated with --server: expected one"
            f" of {', '.join(SERVED)}; for a local file system omit --server"
        )
    return replace(mount, kind=SERVED[mount.kind])


def _mount_of(directory: str | PathLike[str]) -> Mount:
    number = os.stat(directory).st_dev
    device = f"{os.major(number)}:{os.minor(number)}"
    path = Path(directory).resolve()
    mount, above = Mount("unknown", (), device), None
    for entry in mounted():
        if entry.device == device:
            mount = Mount(entry.kind, entry.options, device)
        # The last mount at a path hides those before it.
        if path.is_relative_to(entry.at) and (above is None or entry.at.is_relative_to(above.at)):
            above = entry
    if mount.kind == "unknown" and above is not None:
        # Files of btrfs have device numbers of their subvolumes, which the list of mounts lacks.
        return Mount(above.kind, above.options, device)
    return mount
