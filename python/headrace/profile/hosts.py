"""Recordings of several hosts: one clock, and one file of samples."""

import contextlib
import time
from pathlib import Path
from typing import NamedTuple

import msgspec

from headrace import ranks
from headrace.files import atomic_file
from headrace.profile.header import SAMPLES

AHEAD_S = 0.5
"""Seconds from the comparison of the clocks to time 0, so that all hosts are ready."""


class Begin(NamedTuple):
    """Time 0 of a recording."""

    monotonic_s: float
    """On this host's monotonic clock."""
    uncertainty_s: float
    """Of the clocks of the other hosts. Later drift is not included."""


def shared_begin() -> Begin:
    """Return a time 0 that is the same on all hosts. All ranks call it."""
    here = ranks.current()
    if here.total == 1:
        return Begin(time.monotonic(), 0.0)
    here.begin([])
    now = time.monotonic() + AHEAD_S
    begin, clocks = here.broadcast((now, [tuple(pair) for pair in here.clocks()]))
    return Begin(begin + clocks[here.number][0], max(pair[1] for pair in clocks))


def merge_hosts(directory: Path, part: Path | None) -> None:
    """Merge the samples of all hosts into one file in the order of their times, at the first rank.

    `part` is the file of this host; None on its other ranks. All ranks call it. The files of
    single hosts are removed.

    Raises OSError if a file cannot be read or written.
    """
    here = ranks.current()
    parts = here.gather(None if part is None else part.read_bytes())
    if parts is not None:
        lines = [line for text in parts if text for line in text.splitlines(keepends=True)]
        lines.sort(key=lambda line: float(msgspec.json.decode(line)["t"]))
        with atomic_file(directory / SAMPLES) as partial:
            partial.write_bytes(b"".join(lines))
    here.broadcast(None)
    if part is not None:
        part.unlink(missing_ok=True)
    if not here.first:
        # The directory of a host that does not share the first one's.
        with contextlib.suppress(OSError):
            directory.rmdir()
