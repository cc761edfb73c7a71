"""Reader of Darshan logs in the common record.

A log with DXT gives its reads and writes as they were. A log without DXT gives requests that agree
with its counters. Not there: what Darshan does not record, which `skipped` counts.
"""

import json
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

import numpy as np

from headrace._core import TRACE_NO_FILE, TRACE_OPERATIONS
from headrace.trace.batches import Batch, Reader
from headrace.trace.darshan.log import DarshanLog, Segments, read_log
from headrace.trace.darshan.synthesis import (
    ASSUMPTIONS,
    Requests,
    count_above,
    count_left_out,
    count_unread,
    data_records,
    module_records,
    synthesise,
)

Reason = Literal["left_out", "assumed"]


@dataclass(frozen=True)
class _Records:
    """All records of a log in the order of time; arrays of equal length."""

    start_s: np.ndarray[tuple[int], np.dtype[np.float64]]
    duration_s: np.ndarray[tuple[int], np.dtype[np.float64]]
    rank: np.ndarray[tuple[int], np.dtype[np.int64]]
    operation: np.ndarray[tuple[int], np.dtype[np.uint8]]
    identifier: np.ndarray[tuple[int], np.dtype[np.uint64]]
    offset: np.ndarray[tuple[int], np.dtype[np.int64]]
    size: np.ndarray[tuple[int], np.dtype[np.int64]]


class DarshanReader(Reader):
    """Reads a Darshan log as a trace, batch by batch. The log is held in memory.

    Examples:
        >>> reader = hr.trace.DarshanReader("ior.darshan")
        >>> reader.is_synthesised, reader.log.header.processes
        (False, 4)
        >>> hr.trace.frame(reader)["size"].sum()
        8398304
    """

    def __init__(self, path: str | Path, log: DarshanLog | None = None) -> None:
        self._log = log or read_log(path)
        self._skipped: dict[tuple[str, Reason], int] = {}
        unread: Counter[str] = Counter()
        count_unread(self._log, unread)
        self._count_all(unread)
        records = self._traced() if self._log.segments else self._synthesised()
        self._identifiers, self._file = np.unique(records.identifier, return_inverse=True)
        self._ranks, self._process = np.unique(records.rank, return_inverse=True)
        self._records = records
        self._done = 0

    @property
    def log(self) -> DarshanLog:
        """The log that is read."""
        return self._log

    @property
    def is_synthesised(self) -> bool:
        """True if the requests are made from counters, because the log has no DXT."""
        return not self._log.segments

    def next_batch(self, max: int) -> Batch | None:
        records, part = self._records, slice(self._done, self._done + max)
        start = records.start_s[part]
        if not len(start):
            return None
        self._done += len(start)
        return {
            "time_ns": _nanoseconds(start),
            "process": self._process[part].astype(np.uint32),
            "operation": records.operation[part],
            "file": self._file[part].astype(np.uint32),
            "offset": records.offset[part].astype(np.uint64),
            "size": records.size[part].astype(np.uint64),
            "duration_ns": _nanoseconds(records.duration_s[part]),
            "flags": np.zeros(len(start), np.uint16),
            "other": np.full(len(start), TRACE_NO_FILE, np.uint32),
        }

    def file_names(self, numbers: Sequence[int]) -> list[str]:
        return [self._log.file_name(int(self._identifiers[number])) for number in numbers]

    def process_names(self, numbers: Sequence[int]) -> list[str]:
        return [str(self._ranks[number]) for number in numbers]

    def skipped(self) -> str:
        return json.dumps(
            [
                {"name": name, "reason": reason, "count": count, "examples": []}
                for (name, reason), count in self._skipped.items()
            ]
        )

    def cancel(self) -> None:
        pass

    def _count(self, name: str, reason: Reason, count: int) -> None:
        if count:
            key = (name, reason)
            self._skipped[key] = self._skipped.get(key, 0) + count

    def _count_all(self, left_out: Counter[str]) -> None:
        for name, count in left_out.items():
            self._count(name, "left_out", count)

    def _traced(self) -> _Records:
        """The segments of DXT. A file's calls of MPI-IO are left out if their POSIX calls were
        traced."""
        posix = self._log.segments.get("DXT_POSIX")
        mpiio = self._log.segments.get("DXT_MPIIO")
        parts = [] if posix is None else [posix]
        if mpiio is not None:
            traced = np.zeros(len(mpiio), bool)
            if posix is not None:
                traced = np.isin(mpiio.identifier, np.unique(posix.identifier))
            text = "call of MPI-IO whose calls below are records"
            self._count(text, "left_out", int(traced.sum()))
            parts.append(_where(mpiio, ~traced))
        joined = parts[0] if len(parts) == 1 else _merged(parts)
        self._count("offset that DXT did not record: 0", "assumed", int((joined.offset < 0).sum()))
        ended_early = joined.end_s < joined.start_s
        self._count("end before the start: duration 0", "assumed", int(ended_early.sum()))
        early = joined.start_s < 0
        self._count("start before the job: time 0", "assumed", int(early.sum()))
        self._count_untraced(joined)
        return _Records(
            start_s=np.maximum(joined.start_s, 0),
            duration_s=np.maximum(joined.end_s - joined.start_s, 0),
            rank=joined.rank,
            operation=np.where(joined.is_write, _number("write"), _number("read")).astype(np.uint8),
            identifier=joined.identifier,
            offset=np.maximum(joined.offset, 0),
            size=joined.length,
        )

    def _count_untraced(self, traced: Segments) -> None:
        """Count the operations that the counters have and DXT does not."""
        left_out: Counter[str] = Counter()
        reads = writes = 0
        for record in module_records(self._log, "POSIX"):
            reads += record["READS"]
            writes += record["WRITES"]
            left_out["POSIX open and close, which DXT does not trace"] += record["OPENS"]
            left_out["POSIX stat, which DXT does not trace"] += record["STATS"]
            syncs = record["FSYNCS"] + record["FDSYNCS"]
            left_out["POSIX sync, which DXT does not trace"] += syncs
            count_left_out(record, left_out)
        missing = reads + writes - len(traced)
        left_out["POSIX read or write that DXT did not trace"] += max(missing, 0)
        records = data_records(self._log)
        for record in records.streams:
            left_out["read or write of a standard stream"] += record.all_requests()
            count_left_out(record, left_out)
        for record in records.used:
            if record.module not in ("POSIX", "MPI-IO"):
                text = f"read or write of {record.module}, which DXT does not trace"
                left_out[text] += record.all_requests()
                count_left_out(record, left_out)
        traced_above = "MPI-IO" if "DXT_MPIIO" in self._log.segments else ""
        count_above([row for row in records.above if row.module != traced_above], left_out)
        self._count_all(left_out)

    def _synthesised(self) -> _Records:
        requests, assumed, left_out = synthesise(self._log)
        self._count_all(left_out)
        for name, text in ASSUMPTIONS.items():
            self._count(text, "assumed", assumed[name])
        return _in_order(requests)


def _number(operation: str) -> int:
    return TRACE_OPERATIONS.index(operation)


def _nanoseconds(
    seconds: np.ndarray[tuple[int], np.dtype[np.float64]],
) -> np.ndarray[tuple[int], np.dtype[np.int64]]:
    return np.rint(seconds * 1e9).astype(np.int64)


def _where(segments: Segments, chosen: np.ndarray[tuple[int], np.dtype[np.bool_]]) -> Segments:
    return Segments(
        segments.identifier[chosen],
        segments.rank[chosen],
        segments.is_write[chosen],
        segments.offset[chosen],
        segments.length[chosen],
        segments.start_s[chosen],
        segments.end_s[chosen],
    )


def _merged(parts: Sequence[Segments]) -> Segments:
    """Segments of two modules in the order of time."""
    joined = Segments(
        np.concatenate([part.identifier for part in parts]),
        np.concatenate([part.rank for part in parts]),
        np.concatenate([part.is_write for part in parts]),
        np.concatenate([part.offset for part in parts]),
        np.concatenate([part.length for part in parts]),
        np.concatenate([part.start_s for part in parts]),
        np.concatenate([part.end_s for part in parts]),
    )
    order = np.argsort(joined.start_s, kind="stable")
    return _where(joined, order)  # type: ignore[arg-type]


def _in_order(parts: Sequence[Requests]) -> _Records:
    """Requests in the order of time; ties in the order of each process's calls."""
    counts = [len(part.start_s) for part in parts]

    def repeated(values: Sequence[float], kind: type[np.generic]) -> np.ndarray[tuple[int], Any]:
        return np.repeat(np.array(values, kind), counts)

    def joined(arrays: Sequence[np.ndarray[tuple[int], Any]]) -> np.ndarray[tuple[int], Any]:
        return np.concatenate(arrays) if arrays else np.zeros(0)

    start = joined([part.start_s for part in parts]).astype(np.float64)
    order = np.argsort(start, kind="stable")
    return _Records(
        start_s=start[order],
        duration_s=repeated([part.duration_s for part in parts], np.float64)[order],
        rank=repeated([part.rank for part in parts], np.int64)[order],
        operation=repeated([_number(part.operation) for part in parts], np.uint8)[order],
        identifier=np.repeat(np.array([one.identifier for one in parts], np.uint64), counts)[order],
        offset=joined([part.offset for part in parts]).astype(np.int64)[order],
        size=joined([part.size for part in parts]).astype(np.int64)[order],
    )
