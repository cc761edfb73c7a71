"""A directory whose files get inodes that nothing has had lately.

Without a journal, ext4 passes over inodes that were freed in the last 60 s, and over those of
blocks that are not written back yet for 300 s more: each file that is made looks at all of them
in its group first (Linux 6.18, fs/ext4/ialloc.c: find_inode_bit, recently_deleted). With 2,000
files removed before, one took 2.7 ms on ext2 that took 75 us without, and 4.4 ms on ext4. How
many others have removed is no property of a file system, and a simulation begins with none.
"""

import fcntl
import os
import secrets
import struct
from collections.abc import Iterator
from contextlib import contextmanager
from os import PathLike
from pathlib import Path

from headrace import _core
from headrace.calibrate.mount import mount_of
from headrace.calibrate.settings import has_journal

GET_FLAGS, SET_FLAGS = 0x80086601, 0x40086602
"""FS_IOC_GETFLAGS and FS_IOC_SETFLAGS (include/uapi/linux/fs.h), where a long has 64 bits."""
TOP_DIRECTORY = 0x00020000
"""FS_TOPDIR_FL, which chattr(1) calls T."""
MOST = 16
"""Directories that are made to find one in a group that has not been used."""


class FreshInodes:
    """Places for workloads of names, each in a group of inodes that no earlier one was in."""

    def __init__(self) -> None:
        self._used: list[tuple[int, int]] = []

    @contextmanager
    def below(self, directory: str | PathLike[str]) -> Iterator[str | PathLike[str]]:
        """A directory below this one, if the file system passes over inodes that were freed
        lately; it is removed again. Otherwise this one.

        Raises OSError if nothing can be made there.
        """
        mount = mount_of(directory)
        if not mount.kind.startswith("ext") or has_journal(mount):
            yield directory
            return
        # Marked as a benchmark's, so that headrace bench clean knows what a killed program leaves.
        top = _core.BenchmarkDirectory(Path(directory))
        try:
            _spread(top.path)
            yield self._unused(Path(top.path))
        finally:
            top.remove()

    def _unused(self, top: Path) -> Path:
        """One of some directories, which the file system makes in the groups that have fewest;
        the last one, if all lie in groups that were used. Where it begins to look for a group
        follows from the name (fs/ext4/ialloc.c: find_group_orlov), so names are drawn: another
        program's of some minutes ago must not lead to the groups that it has used."""
        reach = _inodes_of_a_group(top)
        for _ in range(MOST):
            made = top / f"hr-apart{secrets.randbelow(10**12)}"
            made.mkdir()
            found = made.stat()
            if all(
                device != found.st_dev or abs(inode - found.st_ino) >= reach
                for device, inode in self._used
            ):
                break
        self._used.append((found.st_dev, found.st_ino))
        return made


def _spread(directory: str | PathLike[str]) -> None:
    """Has directories that are made in this one spread over the groups of the file system, to
    where there are fewest (fs/ext4/ialloc.c: find_group_orlov); files are made in the groups of
    theirs. Where that cannot be asked for, nothing is changed."""
    handle = os.open(directory, os.O_RDONLY | os.O_DIRECTORY)
    try:
        (flags,) = struct.unpack("i4x", fcntl.ioctl(handle, GET_FLAGS, bytes(8)))
        fcntl.ioctl(handle, SET_FLAGS, struct.pack("i4x", flags | TOP_DIRECTORY))
    except OSError:
        pass
    finally:
        os.close(handle)


def _inodes_of_a_group(directory: Path) -> float:
    """A group has as many blocks as a block has bits; inodes are spread evenly over groups."""
    told = os.statvfs(directory)
    return told.f_files * 8 * told.f_bsize / max(told.f_blocks, 1)


FRESH_INODES = FreshInodes()
"""Those of this program."""
