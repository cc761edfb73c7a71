"""Requests that agree with the counters of a log without DXT.

A record of Darshan counts the requests of one process on one file, or of all processes on one file.
It has their number, bytes, sizes by bin, the highest byte, and the times of the first and the last.
It also counts how many were sequential or consecutive. The requests made here have the same number,
bytes and sizes. Their order, offsets and times are assumed, as `ASSUMPTIONS` says.
"""

from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from headrace.trace.darshan.log import STREAMS, DarshanLog
from headrace.trace.darshan.request_sizes import BINS, SizeCounters, request_sizes

MOST_REQUESTS = 50_000_000
"""Limit on the requests of a synthesised trace: about 4 GB in memory."""

ASSUMPTIONS = {
    "times": "requests spread evenly from the first to the last of their kind",
    "durations": "every request takes the mean time of its kind",
    "sizes": "sizes within the bins of Darshan's histogram",
    "mean sizes": "the mean size, because the module has no histogram or none that fits",
    "offsets": "offsets from the counters of sequential and consecutive requests",
    "processes": "a record of all processes divided equally among them",
    "creation": "a file that was written first is created",
}
"""What is assumed, by a short name."""


@dataclass(frozen=True)
class Requests:
    """Operations of one process and kind on one file; arrays of equal length."""

    operation: str
    rank: int
    identifier: int
    start_s: np.ndarray[tuple[int], np.dtype[np.float64]]
    duration_s: float
    offset: np.ndarray[tuple[int], np.dtype[np.int64]]
    size: np.ndarray[tuple[int], np.dtype[np.int64]]


@dataclass(frozen=True)
class RecordCounters:
    """Counters of one record without the module's prefix; unknown ones are 0."""

    module: str
    identifier: int
    rank: int
    """-1 for all processes together."""
    values: Mapping[str, Any]

    def __getitem__(self, name: str) -> int:
        return int(self.values.get(name) or 0)

    def seconds(self, name: str) -> float:
        return float(self.values.get(name) or 0.0)

    def requests(self, direction: str) -> int:
        """Return the number of requests of a direction, "READ" or "WRITE"."""
        if self.module == "MPI-IO":
            return sum(self[f"{kind}_{direction}S"] for kind in ("INDEP", "COLL", "SPLIT", "NB"))
        return self[f"{direction}S"]

    def bytes(self, direction: str) -> int:
        """Return the bytes moved in a direction."""
        return self["BYTES_READ" if direction == "READ" else "BYTES_WRITTEN"]

    def sizes(self, direction: str) -> SizeCounters:
        """Return the counters of the sizes of a direction's requests."""
        histogram = [self[self._bin(direction, name)] for name, _, _ in BINS]
        return SizeCounters(
            requests=self.requests(direction),
            bytes=self.bytes(direction),
            histogram=histogram,
            common=list(self._common(direction, histogram)),
        )

    def _bin(self, direction: str, name: str) -> str:
        return f"SIZE_{direction}_{'AGG_' if self.module == 'MPI-IO' else ''}{name}"

    def _common(self, direction: str, histogram: list[int]) -> Iterator[tuple[int, int]]:
        """The common sizes of a direction. Darshan counts them for reads and writes together: each
        direction gets its share of the requests in the bin."""
        other = "WRITE" if direction == "READ" else "READ"
        for number in range(1, 5):
            size, count = self[f"ACCESS{number}_ACCESS"], self[f"ACCESS{number}_COUNT"]
            for here, (name, low, high) in zip(histogram, BINS, strict=True):
                if count and low <= size <= high and here:
                    there = self[self._bin(other, name)]
                    yield size, count if not there else count * here // (here + there)


def module_records(log: DarshanLog, module: str) -> Iterator[RecordCounters]:
    """Yield the records of a module with counters; none if the log lacks it."""
    frame = log.counters.get(module)
    if frame is None:
        return
    prefix = module.replace("-", "") + "_"
    plain = {name: name.removeprefix(prefix) for name in frame.columns}
    for row in frame.iter_rows(named=True):
        values = {plain[name]: value for name, value in row.items()}
        yield RecordCounters(module, row["id"], row["rank"], values)


def synthesise(log: DarshanLog) -> tuple[list[Requests], Counter[str], Counter[str]]:
    """Operations of a log's modules POSIX and STDIO, the assumptions made, and what is left out.

    Assumptions are counted by their name in `ASSUMPTIONS`, in requests. Raises ValueError if there
    are more than `MOST_REQUESTS`.
    """
    made: list[Requests] = []
    assumed: Counter[str] = Counter()
    left_out: Counter[str] = Counter()
    records = [*module_records(log, "POSIX"), *module_records(log, "STDIO")]
    total = sum(record["READS"] + record["WRITES"] for record in records)
    if total > MOST_REQUESTS:
        raise ValueError(
            f"{log.path}: {total:,} requests without DXT: expected at most {MOST_REQUESTS:,}; "
            "`headrace trace workload` makes a workload of its counters instead"
        )
    for record in records:
        count_left_out(record, left_out)
        name = log.file_name(record.identifier)
        if record.module == "STDIO" and name in STREAMS:
            count = record["READS"] + record["WRITES"]
            left_out["read or write of a standard stream"] += count
            continue
        made.extend(_record_requests(record, log.header.processes, assumed))
    return made, assumed, left_out


LEFT_OUT = {
    "SEEKS": "seek, which changes the position only",
    "MMAPS": "mmap",
    "DUPS": "dup",
    "FILENOS": "fileno",
    "RENAME_SOURCES": "rename, whose other name is not known",
    "FLUSHES": "fflush",
}


def count_left_out(record: RecordCounters, left_out: Counter[str]) -> None:
    """Count the operations of a record that no trace record holds."""
    for name, text in LEFT_OUT.items():
        if record[name]:
            left_out[f"{record.module} {text}"] += record[name]


def _record_requests(
    record: RecordCounters, processes: int, assumed: Counter[str]
) -> Iterator[Requests]:
    ranks = range(processes) if record.rank < 0 else range(record.rank, record.rank + 1)
    writes_first = record["WRITES"] > 0 and (
        not record["READS"]
        or record.seconds("F_WRITE_START_TIMESTAMP") <= record.seconds("F_READ_START_TIMESTAMP")
    )
    if writes_first:
        assumed["creation"] += record["OPENS"]
    if record.rank < 0 and processes > 1:
        assumed["processes"] += record["READS"] + record["WRITES"]
    opened, closed = _span(record, "OPEN", "OPEN"), _span(record, "CLOSE", "CLOSE")
    mean = _mean_metadata_s(record)
    yield from _metadata(record, "create" if writes_first else "open", "OPENS", ranks, opened, mean)
    yield from _metadata(record, "stat", "STATS", ranks, opened, mean)
    for direction in ("READ", "WRITE"):
        yield from _data(record, direction, ranks, assumed)
    for name in ("FSYNCS", "FDSYNCS"):
        last = record.seconds("F_WRITE_END_TIMESTAMP")
        yield from _metadata(record, "sync", name, ranks, (last, last), 0.0)
    yield from _metadata(record, "close", "OPENS", ranks, closed, 0.0)


def _span(record: RecordCounters, first: str, last: str) -> tuple[float, float]:
    start = record.seconds(f"F_{first}_START_TIMESTAMP")
    return start, max(start, record.seconds(f"F_{last}_END_TIMESTAMP"))


def _mean_metadata_s(record: RecordCounters) -> float:
    count = record["OPENS"] * 2 + record["STATS"] + record["SEEKS"]
    return record.seconds("F_META_TIME") / count if count else 0.0


def _metadata(
    record: RecordCounters,
    operation: str,
    counter: str,
    ranks: range,
    span: tuple[float, float],
    mean_s: float,
) -> Iterator[Requests]:
    for rank, count in _shares(record[counter], ranks):
        zeros = np.zeros(count, np.int64)
        yield Requests(
            operation, rank, record.identifier, _times(count, span), mean_s, zeros, zeros
        )


def _shares(count: int, ranks: range) -> Iterator[tuple[int, int]]:
    """Divide a number among ranks; the first ones get one more."""
    each, more = divmod(count, len(ranks))
    for position, rank in enumerate(ranks):
        if share := each + (position < more):
            yield rank, share


def _times(count: int, span: tuple[float, float]) -> np.ndarray[tuple[int], np.dtype[np.float64]]:
    start, end = span
    return start + (end - start) * np.arange(count, dtype=np.float64) / max(count, 1)


def _data(
    record: RecordCounters, direction: str, ranks: range, assumed: Counter[str]
) -> Iterator[Requests]:
    count = record[f"{direction}S"]
    if not count:
        return
    counters = record.sizes(direction)
    sizes, fits = request_sizes(counters)
    # One generator for each record and direction: the same log gives the same trace.
    random = np.random.default_rng([record.identifier, record.rank + 1, direction == "READ"])
    random.shuffle(sizes)
    assumed["sizes" if any(counters.histogram) and fits else "mean sizes"] += count
    assumed["times"] += count
    assumed["durations"] += count
    assumed["offsets"] += count
    span = _span(record, direction, direction)
    mean_s = record.seconds(f"F_{direction}_TIME") / count
    extent = extent_bytes(record, direction)
    begin = 0
    active = min(len(ranks), count)
    for position, (rank, share) in enumerate(_shares(count, ranks)):
        part = sizes[begin : begin + share]
        begin += share
        yield Requests(
            operation=direction.lower(),
            rank=rank,
            identifier=record.identifier,
            start_s=_times(share, span),
            duration_s=mean_s,
            offset=_offsets(record, direction, part, extent, position, active, random),
            size=part,
        )


def extent_bytes(record: RecordCounters, direction: str) -> int:
    """Bytes up to the last one that was read or written; at least one request."""
    return record["MAX_BYTE_READ" if direction == "READ" else "MAX_BYTE_WRITTEN"] + 1


def _offsets(
    record: RecordCounters,
    direction: str,
    sizes: np.ndarray[tuple[int], np.dtype[np.int64]],
    extent: int,
    position: int,
    active: int,
    random: np.random.Generator,
) -> np.ndarray[tuple[int], np.dtype[np.int64]]:
    """Offsets of one process's requests.

    Steps from one request to the next are consecutive, forward over a gap, or to a random place, in
    the recorded fractions. With gaps the processes that share a file interleave. Without them each
    has a region of its own, unless the file was moved more than once.
    """
    count = record[f"{direction}S"]
    consecutive = min(record[f"CONSEC_{direction}S"], count)
    sequential = min(max(record[f"SEQ_{direction}S"] - consecutive, 0), count - consecutive)
    if record.module == "STDIO":
        # The C library's streams are not classified: they are read and written in order.
        consecutive, sequential = count, 0
    steps = max(count - active, 1)
    kinds = random.random(len(sizes))
    is_consecutive = kinds < consecutive / steps
    is_gap = ~is_consecutive & (kinds < (consecutive + sequential) / steps)
    is_random = ~is_consecutive & ~is_gap
    is_random[:1] = False
    moved = record.bytes(direction)
    whole_each = active > 1 and moved > 1.5 * extent
    interleaved = active > 1 and sequential > consecutive
    region = extent if whole_each or interleaved or active == 1 else extent // active
    base = 0 if whole_each or active == 1 else extent * position // active
    if interleaved and not whole_each:
        # Slot n of process p is the n-th of every `active` slots.
        slots = np.arange(len(sizes), dtype=np.int64) * active + position
        stride = extent // max(count, 1)
        return np.minimum(slots * stride, np.maximum(extent - sizes, 0))
    free = max(region - int(sizes.sum()), 0)
    gaps = int(is_gap.sum())
    gap = free // gaps if gaps else 0
    step = np.concatenate([[0], sizes[:-1]]) + np.where(is_gap, gap, 0)
    places = np.cumsum(step)
    jumps = random.integers(0, max(region, 1), size=len(sizes))
    # Each random step starts a run of its own: a run is moved to its random place.
    run = np.cumsum(is_random)
    first = np.flatnonzero(is_random)
    shift = np.concatenate([[0], jumps[first] - places[first]])
    room = np.maximum(region - sizes, 0) + 1
    wrapped: np.ndarray[tuple[int], np.dtype[np.int64]] = base + (places + shift[run]) % room
    return wrapped
