"""Sizes, positions and files of a trace's reads and writes."""

from collections import Counter
from typing import TypeVar

import numpy as np
from numpy.typing import NDArray

from headrace.profile.characteristics import (
    CommonSize,
    File,
    Heat,
    LengthClass,
    Pattern,
    SharedFiles,
    SizeClass,
    Steps,
)
from headrace.profile.trace_codes import FAILED, MOVES, OPENS, WRITE
from headrace.trace import Batch, Reader

STEPS = ("first", "consecutive", "backward", "strided", "forward", "jump")
"""Classes of `Steps`; the first that fits counts."""
MOST_SIZES = 10_000
"""Exact sizes counted at most, so that memory is bounded."""
SHOWN_SIZES = 64
SEVERAL = -1
"""User of a file that several processes use."""
TABLES = ("_bytes", "_requests", "_records", "_times_ns", "_length", "_user", "_steps")
"""Tables with a row for each file."""
POWERS = np.array([1 << bit for bit in range(64)], dtype=np.uint64)

SEQUENTIAL, REPEATED, MONOTONIC = 0.9, 0.5, 0.95
"""Shares of a file's following requests that make its pattern. Declared defaults."""


class Access:
    """Takes in the batches of one trace.

    Memory: some 100 bytes for each file, and 200 for each process and file that it reads or writes.
    """

    def __init__(self) -> None:
        self._sizes = np.zeros((65, 2), dtype=np.int64)
        self._exact: Counter[tuple[int, int]] = Counter()
        # By file: bytes and requests, read and written; all records and their time; length; steps.
        self._bytes = np.zeros((0, 2))
        self._requests = np.zeros((0, 2), dtype=np.int64)
        self._records = np.zeros(0, dtype=np.int64)
        self._times_ns = np.zeros(0)
        self._length = np.zeros(0, dtype=np.uint64)
        # The process that uses it, plus 1; 0 if none does, and SEVERAL.
        self._user = np.zeros(0, dtype=np.int64)
        self._steps = np.zeros((0, len(STEPS)), dtype=np.int64)
        # By process and file: start, end and step of the last request; absent after an open.
        self._last: dict[int, tuple[int, int, int | None]] = {}

    def add(self, batch: Batch) -> None:
        """Take in the next records of the trace."""
        self._grow(int(batch["file"].max()) + 1)
        files = len(self._records)
        self._records += np.bincount(batch["file"], minlength=files)
        self._times_ns += np.bincount(batch["file"], batch["duration_ns"], files)
        works = (batch["flags"] & FAILED) == 0
        moves = np.isin(batch["operation"], MOVES) & works
        opens = np.isin(batch["operation"], OPENS) & works
        if np.any(moves):
            self._add_sizes(batch, moves)
        if np.any(moves | opens):
            self._add_steps(batch, moves, opens)

    def _grow(self, files: int) -> None:
        more = max(files, 2 * len(self._records)) - len(self._records)
        if files > len(self._records):
            for name in TABLES:
                table = getattr(self, name)
                padding = [(0, more)] + [(0, 0)] * (table.ndim - 1)
                setattr(self, name, np.pad(table, padding))

    def _add_sizes(self, batch: Batch, moves: NDArray[np.bool_]) -> None:
        file, size = batch["file"][moves], batch["size"][moves]
        written = (batch["operation"][moves] == WRITE).astype(np.int64)
        bits = np.searchsorted(POWERS, size, side="right")
        np.add.at(self._sizes, (bits, written), 1)
        np.add.at(self._bytes, (file, written), size.astype(np.float64))
        np.add.at(self._requests, (file, written), 1)
        self._add_users(file, batch["process"][moves])
        offset = batch["offset"][moves]
        np.maximum.at(self._length, file, offset + np.minimum(size, LARGEST - offset))
        for direction in (0, 1):
            distinct, counts = np.unique(size[written == direction], return_counts=True)
            for value, count in zip(distinct.tolist(), counts.tolist(), strict=True):
                if len(self._exact) < MOST_SIZES or (direction, value) in self._exact:
                    self._exact[direction, value] += count

    def _add_users(self, file: NDArray[np.uint32], process: NDArray[np.uint32]) -> None:
        pairs = np.unique(np.stack((file, process.astype(np.int64) + 1)), axis=1)
        files, users = pairs
        known = self._user[files]
        self._user[files] = np.where((known == 0) | (known == users), users, SEVERAL)
        distinct, counts = np.unique(files, return_counts=True)
        self._user[distinct[counts > 1]] = SEVERAL

    def _add_steps(self, batch: Batch, moves: NDArray[np.bool_], opens: NDArray[np.bool_]) -> None:
        rows = np.flatnonzero(moves | opens)
        key = batch["process"][rows].astype(np.uint64) << np.uint64(32) | batch["file"][rows]
        order = np.argsort(key, kind="stable")
        rows, key = rows[order], key[order]
        is_move = moves[rows]
        # As signed numbers: their differences matter. No file has 2^63 bytes.
        start = batch["offset"][rows].astype(np.int64)
        end = start + batch["size"][rows].astype(np.int64)
        begins = np.concatenate(([True], key[1:] != key[:-1]))
        follows = np.concatenate(([False], is_move[:-1])) & ~begins & is_move
        before_start, before_end = _shifted(start), _shifted(end)
        firsts = np.flatnonzero(begins)
        groups = key[firsts].tolist()
        before_step = np.zeros(len(rows), dtype=np.int64)
        has_step = np.zeros(len(rows), dtype=np.bool_)
        for row, group in zip(firsts.tolist(), groups, strict=True):
            last = self._last.get(group)
            if last is not None and is_move[row]:
                follows[row] = True
                before_start[row], before_end[row] = last[0], last[1]
                if last[2] is not None:
                    before_step[row], has_step[row] = last[2], True
        step = start - before_start
        inner = ~begins & _shifted(follows)
        before_step[inner], has_step[inner] = _shifted(step)[inner], True
        classes = np.select(
            [
                ~follows,
                start == before_end,
                (end == before_start) & (end > start),
                has_step & (step == before_step) & (step != 0),
                start > before_end,
            ],
            [np.int64(number) for number in range(5)],
            np.int64(5),
        )
        lasts = np.concatenate((firsts[1:] - 1, [len(rows) - 1]))
        for row, group in zip(lasts.tolist(), groups, strict=True):
            if is_move[row]:
                known = int(step[row]) if follows[row] else None
                self._last[group] = (int(start[row]), int(end[row]), known)
            else:
                self._last.pop(group, None)
        np.add.at(self._steps, (batch["file"][rows][is_move], classes[is_move]), 1)

    @property
    def file_count(self) -> int:
        """Number of files in records."""
        return int(np.count_nonzero(self._records))

    def files_by_use(self) -> tuple[int, int, int]:
        """Return the numbers of files that are only read, only written, and both."""
        reads, writes = self._requests.T > 0
        kinds = (reads & ~writes, writes & ~reads, reads & writes)
        only_read, only_written, both = map(np.count_nonzero, kinds)
        return int(only_read), int(only_written), int(both)

    def size_classes(self) -> list[SizeClass]:
        """Return the numbers of requests by size, without empty classes."""
        return [
            SizeClass(
                from_bytes=1 << bits >> 1,
                to_bytes=(1 << bits) - 1,
                reads=int(reads),
                writes=int(writes),
            )
            for bits, (reads, writes) in enumerate(self._sizes)
            if reads or writes
        ]

    def common_sizes(self) -> list[CommonSize]:
        """Return the exact sizes of most requests."""
        return [
            CommonSize(operation=("read", "write")[direction], bytes=size, count=count)
            for (direction, size), count in sorted(
                self._exact.items(), key=lambda pair: (-pair[1], pair[0])
            )[:SHOWN_SIZES]
        ]

    def steps(self) -> Steps:
        """Return the steps of all requests."""
        return _steps(self._steps.sum(axis=0))

    def patterns(self) -> dict[str, int]:
        """Return the requests in files of each pattern."""
        counts: Counter[str] = Counter()
        used = self._requests.sum(axis=1)
        for number in np.flatnonzero(used).tolist():
            counts[pattern(_steps(self._steps[number]))] += int(used[number])
        return dict(counts.most_common())

    def shared(self) -> SharedFiles:
        """Return the use of files that several processes read or write."""
        is_shared = self._user == SEVERAL
        reads, writes = self._requests[is_shared].sum(axis=0).tolist()
        steps = self._steps[is_shared]
        return SharedFiles(
            files=int(np.count_nonzero(is_shared)),
            reads=reads,
            writes=writes,
            following=int(steps[:, 1:].sum()),
            consecutive=int(steps[:, STEPS.index("consecutive")].sum()),
        )

    def lengths(self) -> list[LengthClass]:
        """Return the numbers of files by length, and how their requests follow each other."""
        used = self._requests.sum(axis=1) > 0
        lengths, steps = self._length[used], self._steps[used]
        bits = np.searchsorted(POWERS, lengths, side="right")
        return [
            LengthClass(
                to_bytes=(1 << bit) - 1,
                files=int(np.count_nonzero(bits == bit)),
                mean_bytes=float(lengths[bits == bit].mean(dtype=np.float64)),
                following=int(steps[bits == bit, 1:].sum()),
                consecutive=int(steps[bits == bit, STEPS.index("consecutive")].sum()),
            )
            for bit in np.unique(bits).tolist()
        ]

    def heat(self) -> Heat:
        """Return how unequally the files are used."""
        used = self._requests.sum(axis=1) > 0
        sizes = np.sort(self._bytes[used].sum(axis=1))
        count = len(sizes)
        total = float(sizes.sum())
        gini = None
        if total:
            ranks = np.arange(1, count + 1)
            gini = float(2 * np.sum(ranks * sizes) / (count * total) - (count + 1) / count)
        return Heat(
            files=count,
            top_tenth_bytes=_top_tenth(sizes),
            top_tenth_requests=_top_tenth(np.sort(self._requests[used].sum(axis=1))),
            gini_bytes=gini,
        )

    def files(self, reader: Reader, most: int) -> list[File]:
        """Return `most` files with most time in calls, and as many with most bytes."""
        traffic = self._bytes.sum(axis=1)
        by_time = np.lexsort((-self._records, -traffic, -self._times_ns))
        by_bytes = np.lexsort((-self._records, -traffic))[:most]
        shown = np.isin(by_time, [*by_time[:most], *by_bytes])
        numbers = [number for number in by_time[shown].tolist() if self._records[number]]
        names = reader.file_names(numbers)
        return [
            self._file(number, name, float(traffic.sum()))
            for number, name in zip(numbers, names, strict=True)
        ]

    def _file(self, number: int, name: str, traffic: float) -> File:
        read, written = self._bytes[number]
        steps = _steps(self._steps[number])
        return File(
            file=name,
            bytes_read=int(read),
            bytes_written=int(written),
            reads=int(self._requests[number, 0]),
            writes=int(self._requests[number, 1]),
            operations=int(self._records[number]),
            share_of_bytes=float(read + written) / traffic if traffic else None,
            share_of_operations=float(self._records[number] / self._records.sum()),
            length=int(self._length[number]),
            pattern=pattern(steps),
            steps=steps,
            time_s=float(self._times_ns[number]) * 1e-9,
        )


Kind = TypeVar("Kind", bound=np.generic)
LARGEST = np.uint64(2**64 - 1)


def pattern(steps: Steps) -> Pattern:
    """Return the pattern that most of a file's requests follow."""
    following = steps.consecutive + steps.forward + steps.backward + steps.strided + steps.jump
    if not following:
        return "single"
    if steps.consecutive >= SEQUENTIAL * following:
        return "sequential"
    if steps.strided >= REPEATED * following:
        return "strided"
    if steps.backward >= REPEATED * following:
        return "backward"
    if steps.consecutive + steps.strided + steps.forward >= MONOTONIC * following:
        return "monotonic"
    return "random"


def _steps(counts: NDArray[np.int64]) -> Steps:
    return Steps(**dict(zip(STEPS, counts.tolist(), strict=True)))


def _shifted(values: NDArray[Kind]) -> NDArray[Kind]:
    return np.concatenate((values[:1], values[:-1]))


def _top_tenth(ascending: NDArray[np.float64] | NDArray[np.int64]) -> float | None:
    total = float(ascending.sum())
    tenth = -(-len(ascending) // 10)
    return float(ascending[len(ascending) - tenth :].sum()) / total if total else None
