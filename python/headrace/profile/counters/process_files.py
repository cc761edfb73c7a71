"""Files of one process (proc(5), /proc/PID/stat, io, status, schedstat, task)."""

import os
import resource
from typing import NamedTuple

from headrace.profile.counters.source import LARGEST, as_text, naturals

TICKS = os.sysconf("SC_CLK_TCK")
PAGE = os.sysconf("SC_PAGE_SIZE")
TEXT = 4096
"""Bytes that hold each of these files; a longer one is cut."""
CHILD_ENDED = 1 << 16
"""Bit of SIGCHLD in a mask of signals."""


class Stat(NamedTuple):
    """The fields of /proc/PID/stat that are used."""

    name: str
    state: str
    parent: int
    threads: int
    started: int
    """Ticks since the system started. With the process number it identifies a process."""
    resident: int
    """Pages."""
    io_wait: int
    times: list[int]
    """User and system time in ticks, minor and major faults."""
    children: list[int]
    """The same of children that it waited for."""


def parse_stat(text: bytes) -> Stat | None:
    """Return the fields; None if the text is damaged."""
    # The name may contain blanks and brackets.
    before, bracket, after = text.rpartition(b")")
    words = after.split()
    try:
        state, *values = words[0], *map(int, words[1:])
        if not bracket or len(values) < 22 or max(values) >= LARGEST:
            return None
    except (ValueError, IndexError):
        return None
    # `values` begins with field 4 of proc(5). Delay accounting came with field 42 in 2.6.18.
    io_wait = values[38] if len(values) > 38 else 0
    minor, of_children_minor, major, of_children_major = values[6:10]
    user, system, of_children_user, of_children_system = values[10:14]
    return Stat(
        as_text(before.partition(b"(")[2]),
        as_text(state),
        *(values[0], values[16], values[18], values[20], io_wait),
        [user, system, minor, major],
        [of_children_user, of_children_system, of_children_minor, of_children_major],
    )


def parse_io(text: bytes) -> list[int] | None:
    """Return rchar, wchar, syscr, syscw, read_bytes and write_bytes; None if one is missing."""
    values = naturals(text.split()[1:12:2])
    return values if values is not None and len(values) == 6 else None


def parse_switches(text: bytes) -> list[int] | None:
    """Return the voluntary and the involuntary context switches in a status file."""
    at = text.rfind(b"\nvoluntary_ctxt_switches:")
    values = naturals(text[at:].split()[1:4:2]) if at >= 0 else None
    return values if values is not None and len(values) == 2 else None


def ignores_children(text: bytes) -> bool:
    """Return whether a status file says that SIGCHLD is ignored. The kernel then does not add the
    time of ended children to the process (wait(2))."""
    _, separator, rest = text.partition(b"\nSigIgn:")
    try:
        return bool(separator and int(rest.split(None, 1)[0], 16) & CHILD_ENDED)
    except (ValueError, IndexError):
        return False


class OpenFiles:
    """Files that stay open while there are descriptors enough."""

    def __init__(self) -> None:
        soft, _ = resource.getrlimit(resource.RLIMIT_NOFILE)
        # The rest is for the recording, the program's start and the store.
        self._free = max(soft // 2, 0)
        self._open: dict[str, int] = {}

    def read(self, path: str, size: int = TEXT) -> bytes:
        """Return the beginning of a file. Raises OSError."""
        descriptor = self._open.get(path)
        if descriptor is not None:
            return os.pread(descriptor, size, 0)
        descriptor = os.open(path, os.O_RDONLY | os.O_CLOEXEC)
        try:
            text = os.pread(descriptor, size, 0)
        except OSError:
            os.close(descriptor)
            raise
        if self._free > 0:
            self._free -= 1
            self._open[path] = descriptor
        else:
            os.close(descriptor)
        return text

    def close(self, path: str) -> None:
        """Close a file if it is open."""
        if (descriptor := self._open.pop(path, None)) is not None:
            os.close(descriptor)
            self._free += 1
