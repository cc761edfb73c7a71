"""The form in which traces travel: batches of records as columns."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Protocol, TypeAlias

import msgspec
import numpy as np

from headrace._core import TRACE_NO_FILE
from headrace.fields import decode_json

Batch: TypeAlias = dict[str, np.ndarray[tuple[int], np.dtype[Any]]]
"""Columns of equal length: time_ns, process, operation, file, offset, size,
duration_ns, flags, other. Operations are positions in TRACE_OPERATIONS; processes and
files are numbers of names, which the reader knows; `other` is TRACE_NO_FILE where there
is no second name."""

BATCH = 1 << 16
"""Records in a batch: some 3 MB."""


class SkippedLine(msgspec.Struct, frozen=True):
    """An example of a skipped line."""

    line: int
    """Number of the line, from 1."""
    text: str
    """Its beginning."""


class SkippedKind(msgspec.Struct, frozen=True):
    """Skipped lines, or assumptions, of one kind."""

    name: str
    reason: str
    """`not_understood`, `left_out` or `assumed`."""
    count: int
    examples: list[SkippedLine]
    """The first lines of the kind."""


def skipped_kinds(text: str) -> list[SkippedKind]:
    """Return the kinds that a reader or a writer gives as JSON."""
    return decode_json(text, list[SkippedKind])


class Reader(Protocol):
    """Source of a trace's records in batches.

    Examples:
        >>> reader: hr.trace.Reader = hr.trace.open_trace("tests/data/traces/copy.strace")
        >>> batch = reader.next_batch(hr.trace.BATCH)
        >>> reader.file_names(batch["file"][:2].tolist()), reader.process_names([0])
        (['/etc/ld.so.preload', '/etc/ld.so.cache'], ['8765'])
        >>> int(batch["size"].sum()), reader.skipped()[:30]
        (2978605, '[{"name":"call that changes de')
        >>> reader.cancel()
    """

    def next_batch(self, max: int) -> Batch | None:
        """Up to `max` records; none at the end."""

    def file_names(self, numbers: Sequence[int]) -> list[str]:
        """The names of files met so far."""

    def process_names(self, numbers: Sequence[int]) -> list[str]:
        """The names of processes met so far."""

    def skipped(self) -> str:
        """Return the skipped lines and assumptions so far, as JSON."""

    def cancel(self) -> None:
        """Make another thread's `next_batch` that waits for a pipe raise an error."""


@dataclass(frozen=True)
class NamedBatch:
    """A batch with its own names, so that the names of the whole trace need not be in memory."""

    columns: Batch
    """Processes and files are positions in the lists."""
    files: list[str]
    processes: list[str]


def named_batches(reader: Reader) -> Iterator[NamedBatch]:
    """All that is left of a trace."""
    while (batch := reader.next_batch(BATCH)) is not None:
        has_other = batch["other"] != TRACE_NO_FILE
        both = np.concatenate([batch["file"], batch["other"][has_other]])
        files, numbers = np.unique(both, return_inverse=True)
        file, others = np.split(numbers.astype(np.uint32), [len(batch["file"])])
        other = batch["other"].copy()
        other[has_other] = others
        processes, process = np.unique(batch["process"], return_inverse=True)
        columns = batch | {"file": file, "process": process.astype(np.uint32), "other": other}
        yield NamedBatch(
            columns, reader.file_names(files.tolist()), reader.process_names(processes.tolist())
        )
