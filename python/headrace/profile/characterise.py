"""Characterise a trace: how a program uses its files.

Not counted: accesses to mapped memory; requests whose offset the trace does not give.
"""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import msgspec
import numpy as np

from headrace._core import TRACE_OPERATIONS
from headrace.profile.access_patterns import Access
from headrace.profile.characteristics import Characteristics, Operation, Quantiles, Syncs
from headrace.profile.trace_codes import (
    DATA_ONLY,
    DIRECT,
    FAILED,
    MAPS,
    MOVES,
    NO_DURATION,
    OPENS,
    SYNC,
    SYNCHRONOUS,
)
from headrace.profile.trace_timing import TimeHistogram, Timing
from headrace.progress_events import OnCount
from headrace.trace import BATCH, Batch, Reader, open_trace
from headrace.trace.batches import skipped_kinds

BURST_GAP_S = 0.1
"""Requests further apart belong to different bursts. Declared default: a program that computes for
a tenth of a second gives a device time to write back and to read ahead."""
BUSIEST_FILES = 20


def characterise(
    trace: str | Path,
    format: str | None = None,
    *,
    burst_gap_s: float = BURST_GAP_S,
    on_progress: OnCount | None = None,
) -> dict[str, Any]:
    """Return the characteristics of a trace as a document (`Characteristics`).

    The trace is read batch by batch. Memory grows with the number of files and processes alone.
    `on_progress` is called with the records read so far. Raises OSError if the trace cannot be
    read, ValueError if it is none.
    """
    reader = open_trace(trace, format)
    result = read_characteristics(reader, burst_gap_s=burst_gap_s, on_progress=on_progress)
    document: dict[str, Any] = msgspec.to_builtins(result)
    return document


def read_characteristics(
    reader: Reader, *, burst_gap_s: float = BURST_GAP_S, on_progress: OnCount | None = None
) -> Characteristics:
    """Return the characteristics of all that is left of a trace."""
    characteriser = Characteriser(burst_gap_s=burst_gap_s)
    done = 0
    while (batch := reader.next_batch(BATCH)) is not None:
        characteriser.add(batch)
        done += len(batch["time_ns"])
        if on_progress is not None:
            on_progress(done)
    return characteriser.finish(reader)


class CharacterisingReader:
    """Characterises a trace while another reads it: the trace is parsed once."""

    def __init__(self, reader: Reader) -> None:
        self._reader = reader
        self._characteriser = Characteriser()

    def next_batch(self, max: int) -> Batch | None:
        """Return up to `max` records; None at the end."""
        batch = self._reader.next_batch(max)
        if batch is not None:
            self._characteriser.add(batch)
        return batch

    def file_names(self, numbers: Sequence[int]) -> list[str]:
        """Return names of files met so far."""
        return self._reader.file_names(numbers)

    def process_names(self, numbers: Sequence[int]) -> list[str]:
        """Return names of processes met so far."""
        return self._reader.process_names(numbers)

    def skipped(self) -> str:
        """Return the skipped lines and assumptions so far, as JSON."""
        return self._reader.skipped()

    def cancel(self) -> None:
        """End a `next_batch` of another thread."""
        self._reader.cancel()

    def characteristics(self) -> Characteristics:
        """Return the characteristics of the records that were read."""
        return self._characteriser.finish(self._reader)


class Characteriser:
    """Takes in the batches of one trace."""

    def __init__(self, *, burst_gap_s: float = BURST_GAP_S) -> None:
        self._counts = np.zeros(len(TRACE_OPERATIONS), dtype=np.int64)
        self._bytes = np.zeros(len(TRACE_OPERATIONS), dtype=np.float64)
        self._latencies = [TimeHistogram() for _ in TRACE_OPERATIONS]
        self._failed = np.zeros(len(TRACE_OPERATIONS), dtype=np.int64)
        self._access = Access()
        self._timing = Timing(round(burst_gap_s * 1e9))
        self._burst_gap_s = burst_gap_s
        self._data_only_syncs = 0
        self._direct_opens = 0
        self._synchronous_opens = 0

    def add(self, batch: Batch) -> None:
        """Take in the next records of the trace."""
        operation = batch["operation"]
        kinds = len(TRACE_OPERATIONS)
        self._counts += np.bincount(operation, minlength=kinds)
        moves = np.isin(operation, MOVES)
        sizes = np.where(moves, batch["size"], 0).astype(np.float64)
        self._bytes += np.bincount(operation, weights=sizes, minlength=kinds)
        flags = batch["flags"]
        is_timed = (flags & NO_DURATION) == 0
        for code in np.unique(operation).tolist():
            times_ns = batch["duration_ns"][(operation == code) & is_timed]
            self._latencies[code].add(np.maximum(times_ns, 0))
        self._failed += np.bincount(operation[(flags & FAILED) != 0], minlength=kinds)
        self._data_only_syncs += int(
            np.count_nonzero((operation == SYNC) & (flags & DATA_ONLY > 0))
        )
        opens = np.isin(operation, OPENS)
        self._direct_opens += int(np.count_nonzero(opens & (flags & DIRECT > 0)))
        self._synchronous_opens += int(np.count_nonzero(opens & (flags & SYNCHRONOUS > 0)))
        self._access.add(batch)
        self._timing.add(batch)

    def _latency(self, code: int) -> Quantiles | None:
        """Return the durations of an operation; None if the trace tells none."""
        times = self._latencies[code].quantiles()
        return times if times.count or not self._counts[code] else None

    def finish(self, reader: Reader) -> Characteristics:
        """Return the characteristics; the reader names the files."""
        skipped = skipped_kinds(reader.skipped())
        records = int(self._counts.sum())
        span_s = self._timing.span_s()
        read, written = (float(self._bytes[way]) for way in MOVES)
        reads, writes = (int(self._counts[way]) for way in MOVES)
        files = self._access.files(reader, BUSIEST_FILES)
        only_read, only_written, both = self._access.files_by_use()
        syncs = int(self._counts[SYNC])
        latencies = [self._latency(code) for code in range(len(TRACE_OPERATIONS))]
        times_s = [None if times is None else times.total_s for times in latencies]
        return Characteristics(
            records=records,
            processes=self._timing.processes,
            moving_processes=self._timing.moving_processes,
            files=self._access.file_count,
            files_only_read=only_read,
            files_only_written=only_written,
            files_read_and_written=both,
            span_s=span_s,
            operations=[
                Operation(
                    operation=name,
                    count=int(self._counts[code]),
                    share=float(self._counts[code] / records),
                    bytes=int(self._bytes[code]),
                    time_s=times_s[code],
                    failed=int(self._failed[code]),
                    latency=latencies[code],
                )
                for code, name in enumerate(TRACE_OPERATIONS)
                if self._counts[code]
            ],
            bytes_read=int(read),
            bytes_written=int(written),
            read_share_of_bytes=_ratio(read, read + written),
            read_share_of_requests=_ratio(reads, reads + writes),
            request_sizes=self._access.size_classes(),
            common_sizes=self._access.common_sizes(),
            access=self._access.steps(),
            access_patterns=self._access.patterns(),
            file_lengths=self._access.lengths(),
            shared=self._access.shared(),
            heat=self._access.heat(),
            busiest_files=files,
            bursts=self._timing.bursts(self._burst_gap_s),
            think_times=self._timing.think_times(),
            concurrency=self._timing.concurrency(),
            syncs=Syncs(
                count=syncs,
                data_only=self._data_only_syncs,
                time_s=times_s[SYNC],
                bytes_written_per_sync=_ratio(written, syncs),
            ),
            direct_opens=self._direct_opens,
            synchronous_opens=self._synchronous_opens,
            mapped=sum(kind.count for kind in skipped if kind.name in MAPS),
            skipped=skipped,
        )


def _ratio(part: float, whole: float) -> float | None:
    return part / whole if whole else None
