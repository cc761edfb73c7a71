"""Edited traces: readers that change the records of another reader."""

from collections.abc import Sequence

import numpy as np

from headrace._core import trace_flags_bits
from headrace.trace.batches import Batch, Reader

UNTIMED = trace_flags_bits("untimed") or 0


class Edit(Reader):
    """A reader that passes on another one's records; kinds of edits change `next_batch` or the
    names."""

    def __init__(self, source: Reader) -> None:
        self._source = source

    def next_batch(self, max: int) -> Batch | None:
        return self._source.next_batch(max)

    def file_names(self, numbers: Sequence[int]) -> list[str]:
        return self._source.file_names(numbers)

    def process_names(self, numbers: Sequence[int]) -> list[str]:
        return self._source.process_names(numbers)

    def skipped(self) -> str:
        return self._source.skipped()

    def cancel(self) -> None:
        self._source.cancel()


def check_timed(batch: Batch, need: str) -> None:
    """Raise ValueError if records have no times, but `need` needs them."""
    if np.any(batch["flags"] & UNTIMED):
        raise ValueError(
            f"the trace has no times: {need} needs a trace that was recorded with them"
        )
