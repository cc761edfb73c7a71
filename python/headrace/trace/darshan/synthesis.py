"""Requests that agree with the counters of a log without DXT.

A record of Darshan counts the requests of one process on one file, or of all processes on one file.
It has their number, bytes, sizes by bin, the highest byte, and the times of the first and the last.
It also counts how many were sequential or consecutive. The requests made here have the same number,
bytes and sizes. Their order, offsets and times are assumed, as `ASSUMPTIONS` says.
"""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from headrace.trace.darshan.log import STREAMS, DarshanLog
from headrace.trace.darshan.messages import COUNTERS, WITHOUT_REQUESTS
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


REQUESTS: Mapping[str, Mapping[str, tuple[str, ...]]] = {
    "MPI-IO": {
        "READ": ("INDEP_READS", "COLL_READS", "SPLIT_READS", "NB_READS"),
        "WRITE": ("INDEP_WRITES", "COLL_WRITES", "SPLIT_WRITES", "NB_WRITES"),
    },
    # Non-blocking calls are among them (darshan-util.txt).
    "DFS": {"READ": ("READS", "READXS"), "WRITE": ("WRITES", "WRITEXS")},
    "DAOS": {
        "READ": ("OBJ_FETCHES", "ARRAY_READS", "KV_GETS"),
        "WRITE": ("OBJ_UPDATES", "ARRAY_WRITES", "KV_PUTS"),
    },
    "PNETCDF_VAR": {
        "READ": ("INDEP_READS", "COLL_READS", "NB_READS"),
        "WRITE": ("INDEP_WRITES", "COLL_WRITES", "NB_WRITES"),
    },
}
"""Counters of requests by module and direction; others have READS and WRITES."""
OPENS = {
    "MPI-IO": ("INDEP_OPENS", "COLL_OPENS"),
    "DFS": ("OPENS", "GLOBAL_OPENS", "LOOKUPS"),
    "DAOS": ("OBJ_OPENS", "ARRAY_OPENS", "KV_OPENS"),
    "PNETCDF_FILE": ("CREATES", "OPENS"),
}
"""Counters of opens by module; others have OPENS."""
STATS = {"DFS": ("STATS", "GET_SIZES"), "DAOS": ("ARRAY_STATS", "ARRAY_GET_SIZES")}
"""Counters of requests for attributes by module; others have STATS."""
AGGREGATE = ("MPI-IO", "H5D", "PNETCDF_VAR")
"""Modules whose histogram has "AGG" in its names."""
LIBRARIES = ("H5F", "H5D", "PNETCDF_FILE", "PNETCDF_VAR")
"""Modules of libraries above MPI-IO and POSIX."""


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
    """Counters of one record without the module's prefix; unknown ones are 0.

    Examples:
        >>> record = hr.trace.data_records(hr.trace.read_log("ior.darshan")).used[0]
        >>> record.bytes("WRITE"), record.requests("WRITE"), record.all_requests()
        (4195800, 23, 59)
        >>> record.opens(), record.stats(), round(record.seconds("F_WRITE_TIME"), 3)
        (22, 4, 0.537)
        >>> record.sizes("WRITE").common[0]
        (262144, 16)
    """

    module: str
    identifier: int
    rank: int
    """-1 for all processes together."""
    values: Mapping[str, Any]

    def __getitem__(self, name: str) -> int:
        return int(self.values.get(name) or 0)

    def seconds(self, name: str) -> float:
        """Return a counter of times, such as "F_WRITE_TIME", in seconds."""
        return float(self.values.get(name) or 0.0)

    def requests(self, direction: str) -> int:
        """Return the number of requests of a direction, "READ" or "WRITE"."""
        counters = REQUESTS.get(self.module, {direction: (f"{direction}S",)})
        return sum(self[name] for name in counters[direction])

    def all_requests(self) -> int:
        """Return the number of reads and writes."""
        return self.requests("READ") + self.requests("WRITE")

    def opens(self) -> int:
        """Return the number of opens."""
        return sum(self[name] for name in OPENS.get(self.module, ("OPENS",)))

    def stats(self) -> int:
        """Return the number of requests for attributes."""
        return sum(self[name] for name in STATS.get(self.module, ("STATS",)))

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
        return f"SIZE_{direction}_{'AGG_' if self.module in AGGREGATE else ''}{name}"

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


@dataclass(frozen=True)
class DataRecords:
    """Records of a log in which each byte counts once."""

    used: list[RecordCounters]
    """Records at the lowest level that Darshan recorded; none of a standard stream."""
    streams: list[RecordCounters]
    """Records of standard streams."""
    above: list[RecordCounters]
    """Records of libraries whose calls made those of `used`, and those that DFS made of DAOS."""


def data_records(log: DarshanLog) -> DataRecords:
    """Choose the records of which each byte counts once.

    These are POSIX, STDIO, and DFS or, if it has no request, DAOS. Records of MPI-IO are used for
    files on which none of these has a request. Other libraries count if no other module has one.

    Examples:
        >>> records = hr.trace.data_records(hr.trace.read_log("ior.darshan"))
        >>> sum(record.bytes("WRITE") for record in records.used), len(records.streams)
        (4195800, 1)
    """
    by_module = {name: list(module_records(log, name)) for name in COUNTERS}
    streams: list[RecordCounters] = []
    files: list[RecordCounters] = []
    for record in by_module["STDIO"]:
        is_stream = log.file_name(record.identifier) in STREAMS
        (streams if is_stream else files).append(record)
    has_dfs = any(record.all_requests() for record in by_module["DFS"])
    daos = by_module["DFS" if has_dfs else "DAOS"]
    used = [*by_module["POSIX"], *files, *daos]
    above = [*by_module["DAOS" if has_dfs else "DFS"]]
    below = {record.identifier for record in by_module["POSIX"] if record.all_requests()}
    on_daos = any(record.all_requests() for record in daos)
    for record in by_module["MPI-IO"]:
        is_used = not on_daos and record.identifier not in below
        (used if is_used else above).append(record)
    libraries = [record for name in LIBRARIES for record in by_module[name]]
    none_below = not any(record.all_requests() for record in used)
    (used if none_below else above).extend(libraries)
    return DataRecords(used, streams, above)


def count_unread(log: DarshanLog, left_out: Counter[str]) -> None:
    """Count the modules of a log that are not read, or only in part."""
    for module in log.header.modules:
        if module.incomplete:
            text = f"module {module.name}, which is incomplete: Darshan ran out of memory"
            left_out[text] += 1
        if module.may_lack_requests:
            left_out[f"module {module.name}, which is not read"] += 1
        elif not module.is_read:
            left_out[f"module {module.name}: {WITHOUT_REQUESTS[module.name]}"] += 1


def count_above(records: Sequence[RecordCounters], left_out: Counter[str]) -> None:
    """Count the calls of libraries whose own calls are records."""
    for record in records:
        if calls := record.all_requests() + record.opens():
            left_out[f"call of {record.module} whose calls below are records"] += calls


def synthesise(log: DarshanLog) -> tuple[list[Requests], Counter[str], Counter[str]]:
    """Operations of a log's records, the assumptions made, and the operations left out.

    Assumptions are counted by their name in `ASSUMPTIONS`, in requests. Raises ValueError if there
    are more than `MOST_REQUESTS`.
    """
    requests: list[Requests] = []
    assumed: Counter[str] = Counter()
    left_out: Counter[str] = Counter()
    records = data_records(log)
    total = sum(record.all_requests() for record in records.used)
    if total > MOST_REQUESTS:
        raise ValueError(
            f"{log.path}: {total:,} requests without DXT: expected at most {MOST_REQUESTS:,}; "
            "`headrace trace workload` makes a workload of its counters instead"
        )
    for record in records.streams:
        count_left_out(record, left_out)
        left_out["read or write of a standard stream"] += record.all_requests()
    count_above(records.above, left_out)
    for record in records.used:
        count_left_out(record, left_out)
        requests.extend(_record_requests(record, log.header.processes, assumed))
    return requests, assumed, left_out


LEFT_OUT = {
    "SEEKS": "seek, which changes the position only",
    "MMAPS": "mmap",
    "DUPS": "dup",
    "FILENOS": "fileno",
    "RENAME_SOURCES": "rename, whose other name is not known",
    "FLUSHES": "flush",
    "PUNCHES": "punch",
    "REMOVES": "remove",
    "OBJ_PUNCHES": "punch of an object",
    "OBJ_DKEY_PUNCHES": "punch of a distribution key",
    "OBJ_AKEY_PUNCHES": "punch of an attribute key",
    "OBJ_DKEY_LISTS": "list of distribution keys",
    "OBJ_AKEY_LISTS": "list of attribute keys",
    "OBJ_RECX_LISTS": "list of extents",
    "ARRAY_SET_SIZES": "change of an array's size",
    "ARRAY_PUNCHES": "punch of an array",
    "ARRAY_DESTROYS": "destruction of an array",
    "KV_REMOVES": "remove of a key",
    "KV_LISTS": "list of keys",
    "KV_DESTROYS": "destruction of keys",
    "SYNCS": "sync of PnetCDF",
    "REDEFS": "redefinition",
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
    writes_first = record.requests("WRITE") > 0 and (
        not record.requests("READ")
        or record.seconds("F_WRITE_START_TIMESTAMP") <= record.seconds("F_READ_START_TIMESTAMP")
    )
    if writes_first:
        assumed["creation"] += record.opens()
    if record.rank < 0 and processes > 1:
        assumed["processes"] += record.all_requests()
    opened, closed = _span(record, "OPEN", "OPEN"), _span(record, "CLOSE", "CLOSE")
    mean = _mean_metadata_s(record)
    opens, creates = record.opens(), "create" if writes_first else "open"
    yield from _metadata(record, creates, opens, ranks, opened, mean)
    yield from _metadata(record, "stat", record.stats(), ranks, opened, mean)
    for direction in ("READ", "WRITE"):
        yield from _data(record, direction, ranks, assumed)
    for name in ("FSYNCS", "FDSYNCS"):
        last = record.seconds("F_WRITE_END_TIMESTAMP")
        yield from _metadata(record, "sync", record[name], ranks, (last, last), 0.0)
    yield from _metadata(record, "close", opens, ranks, closed, 0.0)


def _span(record: RecordCounters, first: str, last: str) -> tuple[float, float]:
    start = record.seconds(f"F_{first}_START_TIMESTAMP")
    return start, max(start, record.seconds(f"F_{last}_END_TIMESTAMP"))


def _mean_metadata_s(record: RecordCounters) -> float:
    count = record.opens() * 2 + record.stats() + record["SEEKS"]
    return record.seconds("F_META_TIME") / count if count else 0.0


def _metadata(
    record: RecordCounters,
    operation: str,
    total: int,
    ranks: range,
    span: tuple[float, float],
    mean_s: float,
) -> Iterator[Requests]:
    for rank, count in _shares(total, ranks):
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
    count = record.requests(direction)
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
    """Bytes up to the last one that was read or written; at least one request.

    A module that does not record the last byte moved each byte once.

    Examples:
        >>> record = hr.trace.data_records(hr.trace.read_log("ior.darshan")).used[0]
        >>> hr.trace.extent_bytes(record, "WRITE")
        4196352
    """
    if record.module not in ("POSIX", "STDIO"):
        return max(record.bytes(direction), 1)
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
    count = record.requests(direction)
    consecutive = min(record[f"CONSEC_{direction}S"], count)
    sequential = min(max(record[f"SEQ_{direction}S"] - consecutive, 0), count - consecutive)
    if record.module != "POSIX":
        # Only POSIX requests are classified: others are read and written in order.
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
