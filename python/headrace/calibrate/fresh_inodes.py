"""Directories in block groups without recently freed inodes.

Without a journal, ext4 skips inodes that were freed less than 60 s ago, and 300 s more if their
block is dirty. Every file creation scans all of them in its group (Linux 6.18, fs/ext4/ialloc.c:
find_inode_bit, recently_deleted). After 2,000 removals a creation took 2.7 ms instead of 75 us on
ext2, and 4.4 ms on ext4. A simulation starts without such inodes.
"""

import fcntl
import math
import os
import secrets
import signal
import struct
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from os import PathLike
from pathlib import Path

from headrace import _core
from headrace.calibrate.mount import mount_of
from headrace.calibrate.settings import has_journal
from headrace.interruption import defer_signals, record_signals
from headrace.measure.removal import remove_directory
from headrace.measure.report import ResultWarning

GET_FLAGS, SET_FLAGS = 0x80086601, 0x40086602
"""FS_IOC_GETFLAGS and FS_IOC_SETFLAGS (include/uapi/linux/fs.h), where a long has 64 bits."""
TOP_DIRECTORY = 0x00020000
"""FS_TOPDIR_FL, the attribute T of chattr(1)."""
MOST = 16
"""Upper limit of directories that are created to find an unused block group."""
RECENTLY_FREED_S = 360.0
"""Longest time for which freed inodes are skipped, in seconds (RECENTCY_MIN and RECENTCY_DIRTY)."""

CONDITION = "inodes-freed-lately"


@dataclass(frozen=True)
class Place:
    """Directory in which a metadata workload runs."""

    path: str | PathLike[str]
    warnings: list[ResultWarning] = field(default_factory=list)
    """Warnings for the document: no unused block group was left, or the directory could not be
    removed."""


class FreshInodes:
    """Allocate directories for metadata workloads, each in a block group that this program has not
    used."""

    def __init__(self, now: Callable[[], float] = time.monotonic) -> None:
        self._used: list[_Used] = []
        self._now = now

    @contextmanager
    def below(self, directory: str | PathLike[str]) -> Iterator[Place]:
        """Create a directory in an unused block group, and remove it at the end of the `with`
        block.

        The directory itself is used if its file system does not skip recently freed inodes.

        Raises
        ------
        OSError
            If nothing can be created in the directory. The error names it.
        """
        mount = mount_of(directory)
        if not mount.kind.startswith("ext") or has_journal(mount):
            yield Place(directory)
            return
        # The mark lets headrace bench clean find what a killed program leaves.
        top = None
        try:
            with defer_signals():
                top = _core.BenchmarkDirectory(Path(directory))
            _spread(top.path)
            try:
                place, used = self._unused(Path(top.path))
            except OSError as error:
                # The directory with the error is removed too, so name its parent.
                raise OSError(error.errno, error.strerror, os.fspath(directory)) from None
            try:
                yield place
            finally:
                used.at = self._now()
        except BaseException as error:
            left = None if top is None else remove_directory(top, interrupted=True)
            if left is not None:
                error.add_note(left.message)
            raise
        with record_signals() as came:
            left = remove_directory(top)
        if left is not None:
            place.warnings.append(left)
        if came:
            signal.raise_signal(came[0])

    def _unused(self, top: Path) -> tuple[Place, "_Used"]:
        """Create directories until one lies in a block group without recent removals.

        If all groups were used recently, choose the one used longest ago. The name decides where
        the file system starts its search (fs/ext4/ialloc.c: find_group_orlov). Names are random, so
        that another run does not lead to the groups it has used.
        """
        reach, now = _inodes_of_a_group(top), self._now()
        self._used = [inode for inode in self._used if now - inode.at < RECENTLY_FREED_S]
        every: dict[float, tuple[Path, os.stat_result]] = {}
        for _ in range(MOST):
            folder = top / f"hr-apart{secrets.randbelow(10**12)}"
            folder.mkdir()
            status = folder.stat()
            lately = [entry.at for entry in self._used if entry.within(status, reach)]
            every[max(lately, default=-math.inf)] = (folder, status)
            if not lately:
                break
        last = min(every)
        folder, status = every[last]
        used = _Used(status.st_dev, status.st_ino, now)
        self._used.append(used)
        return Place(folder, [] if last == -math.inf else [_warning(top, now - last)]), used


@dataclass
class _Used:
    """A block group in which files were removed."""

    device: int
    inode: int
    at: float
    """Time of the last removal, in seconds of the monotonic clock."""

    def within(self, other: os.stat_result, reach: float) -> bool:
        """Return True if a directory may lie in the same block group of `reach` inodes."""
        return other.st_dev == self.device and abs(other.st_ino - self.inode) < reach


def _warning(directory: Path, passed: float) -> ResultWarning:
    groups = math.ceil(os.statvfs(directory).f_files / _inodes_of_a_group(directory))
    message = (
        "the metadata workload ran in a block group where this program removed files"
        f" {passed:.0f} s before, because the file system has only {groups} groups: for"
        f" {RECENTLY_FREED_S / 60:.0f} minutes ext4 without a journal skips recently freed inodes,"
        " and creating files may take many times as long: use fewer rounds or a larger file system"
    )
    return ResultWarning(CONDITION, message)


def _spread(directory: str | PathLike[str]) -> None:
    """Mark a directory so that its subdirectories are spread over the block groups with fewest
    directories.

    Files are created in the group of their directory (fs/ext4/ialloc.c: find_group_orlov). Without
    support for the flag, nothing changes.
    """
    handle = os.open(directory, os.O_RDONLY | os.O_DIRECTORY)
    try:
        (flags,) = struct.unpack("i4x", fcntl.ioctl(handle, GET_FLAGS, bytes(8)))
        fcntl.ioctl(handle, SET_FLAGS, struct.pack("i4x", flags | TOP_DIRECTORY))
    except OSError:
        pass
    finally:
        os.close(handle)


def _inodes_of_a_group(directory: Path) -> float:
    """Return the number of inodes in a block group. A group has as many blocks as a block has bits;
    inodes are distributed evenly."""
    statistics = os.statvfs(directory)
    return statistics.f_files * 8 * statistics.f_bsize / max(statistics.f_blocks, 1)


FRESH_INODES = FreshInodes()
"""The allocator of this process."""
