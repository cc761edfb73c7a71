"""Parser of the kernel's ring buffer as `trace_pipe_raw` returns it (Linux,
include/linux/ring_buffer.h and Documentation/trace/ring-buffer-map.rst).

A page begins with a time and the number of bytes used. Each record begins with a word: 5 bits of
type or length, and 27 bits of time since the record before. The kernel's text format has
microseconds only and takes longer to produce.
"""

import struct
import sys
from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from headrace.tracefs import KernelTraceError

TYPE_BITS, DELTA_BITS = 5, 27
PADDING, TIME_EXTEND, TIME_STAMP = 29, 30, 31
"""Types; of others it is the length in words, 0 if that follows."""
USED = (1 << 27) - 1
"""Bits of a page's second word that hold the number of bytes used; higher bits are flags."""
HIGH_TIME = 0xF8 << 56
"""Bits that an absolute time does not have."""


@dataclass(frozen=True)
class Records:
    """Records in the pages of one processor."""

    data: NDArray[np.uint8]
    """All pages, one behind another."""
    times: NDArray[np.uint64]
    """Time of each record, in ns of the trace's clock."""
    offsets: NDArray[np.int64]
    """Offset of each record in the data."""
    sizes: NDArray[np.int64]
    """Bytes of each, at the most."""


@dataclass(frozen=True)
class PageHeader:
    """Header of a page of the ring buffer."""

    data: int
    """The first byte of records."""
    word: int
    """Bytes of the word with the number of bytes used; records follow it."""


def records(pages: Iterable[bytes], header: PageHeader) -> Records:
    """Find the records. Raises KernelTraceError if pages are none."""
    times: list[int] = []
    offsets: list[int] = []
    sizes: list[int] = []
    whole = bytearray()
    for page in pages:
        _page(page, header, len(whole), times, offsets, sizes)
        whole += page
    return Records(
        np.frombuffer(bytes(whole), dtype=np.uint8),
        np.array(times, dtype=np.uint64),
        np.array(offsets, dtype=np.int64),
        np.array(sizes, dtype=np.int64),
    )


def _page(
    page: bytes,
    header: PageHeader,
    start: int,
    times: list[int],
    offsets: list[int],
    sizes: list[int],
) -> None:
    """Add the records of a page that begins at `start` of all data."""
    if len(page) < header.data:
        raise KernelTraceError(f"a page of the trace has {len(page)} bytes, less than its header")
    (time,) = struct.unpack_from("=Q", page, 0)
    word = "=Q" if header.word == 8 else "=I"
    used = struct.unpack_from(word, page, header.data - header.word)[0] & USED
    at, end = header.data, header.data + used
    if end > len(page):
        raise KernelTraceError(
            f"a page of the trace has {len(page)} bytes, and says that {end} are used"
        )
    while at + 4 <= end:
        kind, delta = _first_word(page, at)
        if kind in (PADDING, TIME_EXTEND, TIME_STAMP) or kind == 0:
            if kind == PADDING and delta == 0:
                return
            if at + 8 > end:
                raise KernelTraceError("a record of the trace ends behind its page")
            (more,) = struct.unpack_from("=I", page, at + 4)
            if kind == TIME_EXTEND:
                time += (more << DELTA_BITS) + delta
                at += 8
                continue
            if kind == TIME_STAMP:
                time = (time & HIGH_TIME) | ((more << DELTA_BITS) + delta)
                at += 8
                continue
            size, data = more + 4, at + 8
        else:
            size, data = 4 * kind + 4, at + 4
        if at + size > end or size < 8:
            raise KernelTraceError("a record of the trace ends behind its page")
        time += delta
        if kind != PADDING:
            times.append(time & 0xFFFF_FFFF_FFFF_FFFF)
            offsets.append(start + data)
            sizes.append(at + size - data)
        at += size


def _first_word(page: bytes, at: int) -> tuple[int, int]:
    """Type or length, and the time since the record before."""
    (word,) = struct.unpack_from("=I", page, at)
    if sys.byteorder == "little":
        return word & ((1 << TYPE_BITS) - 1), word >> TYPE_BITS
    return word >> DELTA_BITS, word & ((1 << DELTA_BITS) - 1)
