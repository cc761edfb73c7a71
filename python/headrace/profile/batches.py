"""The form in which traces travel: batches of records as columns."""

from collections.abc import Iterator
from typing import Any, Protocol, TypeAlias

import numpy as np

Batch: TypeAlias = dict[str, np.ndarray[tuple[int], np.dtype[Any]]]
"""Columns of equal length: time_ns, process, operation, file, offset, size,
duration_ns. Operations are positions in TRACE_OPERATIONS; processes and files
are numbers of names, which the reader knows."""

BATCH = 1 << 16
"""Records in a batch: some 3 MB."""


class Reader(Protocol):
    """What gives a trace's records in batches."""

    def next_batch(self, max: int) -> Batch | None:
        """Up to `max` records; none at the end."""

    def files(self, first: int = 0) -> list[str]:
        """The names of the files met so far, from number `first` on."""

    def processes(self, first: int = 0) -> list[str]:
        """The names of the processes met so far, from number `first` on."""

    def skipped(self) -> str:
        """What was skipped or assumed so far, as JSON."""


class NamedBatches:
    """A reader's batches, with the names known up to each."""

    def __init__(self, reader: Reader) -> None:
        self.reader = reader
        self.files: list[str] = []
        self.processes: list[str] = []

    def __iter__(self) -> Iterator[Batch]:
        while (batch := self.reader.next_batch(BATCH)) is not None:
            self.files += self.reader.files(len(self.files))
            self.processes += self.reader.processes(len(self.processes))
            yield batch
