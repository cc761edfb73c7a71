"""A directory whose files get inodes that nothing has had lately.

Without a journal, ext4 passes over inodes that were freed in the last 60 s, and over those of
blocks that are not written back yet for 300 s more: each file that is made looks at all of them
in its group first (Linux 6.18, fs/ext4/ialloc.c: find_inode_bit, recently_deleted). With 2,000
files removed before, one took 2.7 ms on ext2 that took 75 us without, and 4.4 ms on ext4. How
many others have removed is no property of a file system, and a simulation begins with none.
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

GET_FLAGS, SET_FLAGS = 0x80086601, 0x40086602
"""FS_IOC_GETFLAGS and FS_IOC_SETFLAGS (include/uapi/linux/fs.h), where a long has 64 bits."""
TOP_DIRECTORY = 0x00020000
"""FS_TOPDIR_FL, which chattr(1) calls T."""
MOST = 16
"""Directories that are made to find one in a group that has not been used."""
LATELY_S = 360.0
"""How long inodes are passed over at the most (RECENTCY_MIN and RECENTCY_DIRTY there)."""

CONDITION = "inodes-freed-lately"


@dataclass(frozen=True)
class Place:
    """Where a workload of names is carried out."""

    path: str | PathLike[str]
    warnings: list[dict[str, str]] = field(default_factory=list)
    """As documents have them: if no group of inodes was left that this program had not used, and,
    later, if the directory could not be removed."""


class FreshInodes:
    """Places for workloads of names, each in a group of inodes that no earlier one was in."""

    def __init__(self, now: Callable[[], float] = time.monotonic) -> None:
        self._used: list[_Used] = []
        self._now = now

    @contextmanager
    def below(self, directory: str | PathLike[str]) -> Iterator[Place]:
        """A directory below this one, if the file system passes over inodes that were freed
        lately; it is removed again. Otherwise this one.

        Raises OSError, which names the directory, if nothing can be made there.
        """
        mount = mount_of(directory)
        if not mount.kind.startswith("ext") or has_journal(mount):
            yield Place(directory)
            return
        # Marked as a benchmark's, so that headrace bench clean knows what a killed program leaves.
        top = None
        try:
            with defer_signals():
                top = _core.BenchmarkDirectory(Path(directory))
            _spread(top.path)
            try:
                place, used = self._unused(Path(top.path))
            except OSError as error:
                # Where it was to be is gone with it.
                raise OSError(error.errno, error.strerror, os.fspath(directory)) from None
            try:
                yield place
            finally:
                used.at = self._now()
        except BaseException as error:
            left = None if top is None else remove_directory(top, interrupted=True)
            if left is not None:
                error.add_note(left["message"])
            raise
        with record_signals() as came:
            left = remove_directory(top)
        if left is not None:
            place.warnings.append(left)
        if came:
            signal.raise_signal(came[0])

    def _unused(self, top: Path) -> tuple[Place, "_Used"]:
        """One of some directories, which the file system makes in the groups that have fewest;
        if all lie in groups that were used lately, that of which this is the longest ago. Where
        the file system begins to look for a group follows from the name (fs/ext4/ialloc.c:
        find_group_orlov), so names are drawn: another program's of some minutes ago must not
        lead to the groups that it has used."""
        reach, now = _inodes_of_a_group(top), self._now()
        self._used = [it for it in self._used if now - it.at < LATELY_S]
        every: dict[float, tuple[Path, os.stat_result]] = {}
        for _ in range(MOST):
            made = top / f"hr-apart{secrets.randbelow(10**12)}"
            made.mkdir()
            found = made.stat()
            lately = [it.at for it in self._used if it.within(found, reach)]
            every[max(lately, default=-math.inf)] = (made, found)
            if not lately:
                break
        last = min(every)
        made, found = every[last]
        used = _Used(found.st_dev, found.st_ino, now)
        self._used.append(used)
        return Place(made, [] if last == -math.inf else [_warning(top, now - last)]), used


@dataclass
class _Used:
    """Where names were removed."""

    device: int
    inode: int
    at: float
    """When the last ones were."""

    def within(self, other: os.stat_result, reach: float) -> bool:
        """Whether a directory may lie in the same group of so many inodes."""
        return other.st_dev == self.device and abs(other.st_ino - self.inode) < reach


def _warning(directory: Path, passed: float) -> dict[str, str]:
    groups = math.ceil(os.statvfs(directory).f_files / _inodes_of_a_group(directory))
    message = (
        f"names were measured in a group of inodes where this program removed others {passed:.0f} s"
        f" before, as the file system has {groups} groups: making files may take many times as"
        f" long there for {LATELY_S / 60:.0f} minutes, since ext4 without a journal passes such"
        " inodes over: take fewer rounds, or a larger file system"
    )
    return {"condition": CONDITION, "message": message}


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
