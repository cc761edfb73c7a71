"""Records of an event as a table."""

from collections.abc import Sequence

import numpy as np
import polars as pl
from numpy.typing import NDArray

from headrace.kernel_trace.formats import Field, Format
from headrace.kernel_trace.ring_buffer import Records
from headrace.tracefs import KernelTraceError

COMMON = ("common_type", "common_flags", "common_preempt_count", "common_pid")
"""Fields of every record; the thread becomes the column `thread`."""


def table(event: Format, processors: Sequence[Records]) -> pl.DataFrame:
    """All records of an event, in the order of their times: `time_ns`, `processor`, `thread`,
    and the event's own fields.

    Raises KernelTraceError if a record is shorter than the event's.
    """
    frames = [_of_one(event, number, records) for number, records in enumerate(processors)]
    return pl.concat(frames).sort("time_ns", maintain_order=True) if frames else pl.DataFrame()


def _of_one(event: Format, processor: int, records: Records) -> pl.DataFrame:
    if np.any(records.sizes < 2):
        raise KernelTraceError("a record of the trace has no type")
    kinds = _numbers(records.data, records.offsets, Field("type", 0, 2, "unsigned"))
    chosen = kinds == event.number
    offsets = records.offsets[chosen]
    if np.any(records.sizes[chosen] < event.size):
        raise KernelTraceError(f"a record of {event.name} is shorter than its format says")
    columns: dict[str, pl.Series] = {
        "time_ns": pl.Series(records.times[chosen].astype(np.int64)),
        "processor": pl.Series(np.full(len(offsets), processor, dtype=np.int32)),
    }
    for field in event.fields:
        if field.name == "common_pid":
            columns["thread"] = pl.Series(_numbers(records.data, offsets, field))
        elif field.name in COMMON:
            continue
        elif field.kind == "text":
            columns[field.name] = _texts(records.data, offsets, field)
        else:
            columns[field.name] = pl.Series(_numbers(records.data, offsets, field))
    return pl.DataFrame(columns)


def _bytes(data: NDArray[np.uint8], offsets: NDArray[np.int64], field: Field) -> NDArray[np.uint8]:
    """A row of bytes for each record."""
    places = offsets[:, None] + np.arange(field.offset, field.end)
    return np.ascontiguousarray(data[places])


def _numbers(
    data: NDArray[np.uint8], offsets: NDArray[np.int64], field: Field
) -> NDArray[np.integer]:
    letter = "i" if field.kind == "signed" else "u"
    rows = _bytes(data, offsets, field)
    numbers: NDArray[np.integer] = rows.view(np.dtype(f"={letter}{field.size}")).reshape(-1)
    return numbers


def _texts(data: NDArray[np.uint8], offsets: NDArray[np.int64], field: Field) -> pl.Series:
    """Return the text before the first zero byte of each value. There are few different ones."""
    rows = _bytes(data, offsets, field).view(f"S{field.size}").reshape(-1)
    different, which = np.unique(rows, return_inverse=True)
    words = [bytes(text).split(b"\0")[0].decode("utf-8", "replace") for text in different]
    series = pl.Series(words, dtype=pl.String)
    return series.gather(which) if words else series
