"""Page-cache hit rate of a measurement."""

from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

import msgspec
from msgspec import UNSET, UnsetType

from headrace.fields import to_document
from headrace.intervals import means
from headrace.measure.report import CacheFigures, ClassifiedReads

LEAST = 1_000_000
"""Bytes read below which no hit rate is given: reading the counters itself takes some kilobytes."""


class Reads(NamedTuple):
    """Bytes that this process has read: by calls, and from devices."""

    asked: int
    from_device: int


def reads_now() -> Reads | None:
    """Return the bytes that this process has read so far (proc(5), /proc/pid/io: rchar and
    read_bytes). None if the kernel does not count them. read_bytes holds for file systems on block
    devices only."""
    try:
        lines = Path("/proc/self/io").read_text(encoding="ascii").splitlines()
    except OSError:
        return None
    counted = dict(line.split(": ", 1) for line in lines if ": " in line)
    try:
        return Reads(int(counted["rchar"]), int(counted["read_bytes"]))
    except (KeyError, ValueError):
        return None


def reads_since(before: Reads | None) -> Reads | None:
    """Return the bytes read since `before`; None if they are not counted."""
    after = reads_now()
    if before is None or after is None:
        return None
    return Reads(after.asked - before.asked, after.from_device - before.from_device)


def cache(
    read: Reads | None,
    device: str | None,
    pages: ClassifiedReads | None = None,
    *,
    apart: bool = True,
) -> CacheFigures:
    """Return the page-cache hit rate of reads.

    For a mix, `pages` are bytes that the engine classified read by read. Pages that were only read
    ahead are no hits, unless the engine cannot tell them `apart`. For other loads the rate is the
    share of bytes that no device read. Read-ahead then counts as a miss, and no rate is given if
    more was read ahead than requested.

    `hit_rate` is null, with a `note`, where it is unknown.
    """
    if pages is not None and pages.asked_bytes:
        return _by_pages(pages, read if device else None, apart=apart)
    if read is None:
        return CacheFigures(None, "the kernel does not count the bytes that processes read")
    if device is None:
        return CacheFigures(None, "there is no block device below the directory")
    asked, from_device = read
    rate: float | None = None
    note: str | UnsetType = UNSET
    if asked < LEAST:
        note = "too few bytes were read for a hit rate"
    elif from_device > asked:
        note = "more bytes were read ahead than requested"
    else:
        rate = 1.0 - from_device / asked
    return CacheFigures(rate, note, asked_bytes=asked, device_bytes=from_device)


def cache_of_all(several: Sequence[CacheFigures]) -> CacheFigures:
    """Merge the cache figures of several measurements of one load. Bytes are sums, or null if a
    measurement lacks them. The hit rate is the mean."""
    documents = [to_document(counts) for counts in several]
    combined = means(documents)
    for key in filter(lambda key: key.endswith("_bytes"), combined):
        # Bytes of a kind that one did not meet are none there, if it counted any.
        values = [saved.get(key, 0 if "asked_bytes" in saved else None) for saved in documents]
        combined[key] = None if None in values else sum(values)
    return msgspec.convert(combined, CacheFigures)


def _by_pages(pages: ClassifiedReads, read: Reads | None, *, apart: bool) -> CacheFigures:
    hits = pages.hit_bytes if apart else pages.hit_bytes + pages.read_ahead_bytes
    return CacheFigures(
        hits / pages.asked_bytes,
        UNSET
        if apart
        else "hits include read-ahead: a rank does not know what other ranks have read",
        asked_bytes=pages.asked_bytes,
        hit_bytes=hits,
        read_ahead_bytes=pages.read_ahead_bytes if apart else None,
        missed_bytes=pages.missed_bytes,
        device_bytes=None if read is None else read.from_device,
        unknown_bytes=pages.unknown_bytes or UNSET,
    )
