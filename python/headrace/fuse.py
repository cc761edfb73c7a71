"""File systems in user space (fuse(4))."""

import os
import shutil
from pathlib import Path

DEVICE = Path("/dev/fuse")


def refusal() -> str | None:
    """Return why nothing can be mounted and what to do; None if no reason is known.

    A mount needs /dev/fuse, and either the rights of root or fusermount3.
    """
    if not DEVICE.exists():
        return f"there is no {DEVICE}: load the kernel module fuse, or give the container {DEVICE}"
    if not os.access(DEVICE, os.R_OK | os.W_OK):
        return f"{DEVICE} is not accessible: run as root"
    if os.geteuid() != 0 and shutil.which("fusermount3") is None:
        return "fusermount3 is not installed: install the package fuse3"
    return None
