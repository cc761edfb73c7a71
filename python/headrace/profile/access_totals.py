"""Accesses of a program by file and process: the numbers that findings are made from.

They come from the counters of a Darshan log or from the records of any other trace. Rows of a trace
are added up batch by batch; memory grows with the pairs of process and file only.
"""

from dataclasses import dataclass, field
from pathlib import Path

import msgspec
import polars as pl

from headrace.progress_events import OnCount
from headrace.trace import (
    STREAMS,
    DarshanLog,
    DarshanReader,
    Reader,
    RecordCounters,
    data_records,
    extent_bytes,
    open_trace,
    record_batches,
)

DIRECTIONS = ("read", "write")
PAGE = 4096
"""Alignment of offsets that is looked for in a trace: the page of x86-64. Darshan's logs have the
block size of the file system."""

LONGEST_FILE = (1 << 62) - 1
"""Bytes to which offsets and sizes of a damaged trace are limited, so that a sum of two has 63
bits, as off_t has."""
DATA = ("read", "write")
LOCAL = ("close", "seek", "lock", "unlock", "sync")
"""Operations of a trace that are neither data nor metadata."""


class Access(msgspec.Struct, kw_only=True):
    """Accesses of one process, or of all together, to one file through one interface."""

    file: str
    process: str | None
    """None for all processes together."""
    interface: str
    """ "posix" or, in lower case, the module of a Darshan log."""
    is_lowest: bool = True
    """True unless its calls made others that are counted too."""
    requests: dict[str, int] = {}
    """By direction, as all dictionaries here."""
    bytes: dict[str, int] = {}
    small: dict[str, int] = {}
    """Requests below the size of a small request."""
    ordered: dict[str, int] = {}
    """Requests that begin where the last one ended, or after it."""
    first: dict[str, int] = {}
    """Requests without a predecessor."""
    extent: dict[str, int] = {}
    """Bytes up to the last one."""
    seconds: dict[str, float] = {}
    misaligned: int | None = None
    """Requests whose offset is not aligned to the file system's block; None if not known."""
    memory_misaligned: int | None = None
    """Requests whose buffer is not aligned; None if not known."""
    opens: int = 0
    metadata: int = 0
    """Metadata operations: opens, stats, renames and the like."""
    metadata_s: float = 0.0
    syncs: int = 0
    slowest_s: float | None = None
    """Time of the slowest process, if all are together; None if not known."""
    fastest_s: float | None = None
    slowest_bytes: int | None = None
    """Bytes of the slowest process."""
    fastest_bytes: int | None = None
    collective: dict[str, int] = {}
    """Collective calls of MPI-IO."""
    non_blocking: dict[str, int] = {}
    stripes: int | None = None
    """Stripe count on Lustre; None if not known."""
    targets: list[int] = []
    """Object storage targets on Lustre."""


@dataclass
class Accesses:
    """Accesses of a program."""

    source: str
    """ "counters" of a Darshan log, or "trace"."""
    processes: int
    rows: list[Access] = field(default_factory=list)
    unread_modules: list[str] = field(default_factory=list)
    """Modules of a log that are not read and may have requests."""
    incomplete_modules: list[str] = field(default_factory=list)
    """Modules of a log that lack records."""
    has_mpi_io: bool | None = None
    """Whether the program used MPI-IO; None if the source does not tell."""


def accesses(
    path: str | Path, format: str | None, small: int, on_progress: OnCount | None = None
) -> Accesses:
    """Read the accesses of a trace or log. `small` is the size in bytes below which a request is
    small. Raises as `open_trace`."""
    reader = open_trace(path, format)
    if isinstance(reader, DarshanReader):
        return of_log(reader.log, small)
    return of_trace(reader, small, on_progress)


def of_log(log: DarshanLog, small: int) -> Accesses:
    """Accesses from a log's counters."""
    data = data_records(log)
    mpiio = [record for record in data.above if record.module == "MPI-IO"]
    modules = log.header.modules
    return Accesses(
        "counters",
        log.header.processes,
        [
            *(_row(log, record, small, True) for record in [*data.used, *data.streams]),
            *(_row(log, record, small, False) for record in mpiio),
        ],
        unread_modules=[module.name for module in modules if module.may_lack_requests],
        incomplete_modules=[module.name for module in modules if module.incomplete],
        has_mpi_io=any(module.name == "MPI-IO" for module in modules),
    )


def _row(log: DarshanLog, record: RecordCounters, small: int, is_lowest: bool) -> Access:
    processes = log.header.processes
    row = Access(
        file=log.file_name(record.identifier),
        process=None if record.rank < 0 else str(record.rank),
        interface=record.module.lower(),
        is_lowest=is_lowest,
        opens=record.opens(),
        metadata=record.opens() + record.stats() + record["RENAME_SOURCES"],
        metadata_s=record.seconds("F_META_TIME"),
        syncs=record["FSYNCS"] + record["FDSYNCS"],
    )
    for direction in DIRECTIONS:
        name = direction.upper()
        sizes = record.sizes(name)
        requests = sizes.requests
        if record.module == "MPI-IO":
            row.collective[direction] = record[f"COLL_{name}S"]
            row.non_blocking[direction] = record[f"NB_{name}S"] + record[f"SPLIT_{name}S"]
        row.requests[direction] = requests
        row.bytes[direction] = sizes.bytes
        row.small[direction] = sizes.below(small)
        row.extent[direction] = extent_bytes(record, name)
        row.seconds[direction] = record.seconds(f"F_{name}_TIME")
        row.ordered[direction] = record[f"SEQ_{name}S"]
        # Each process has a first request, and those in order are not.
        most = 1 if record.rank >= 0 else processes
        row.first[direction] = min(max(requests - record[f"SEQ_{name}S"], 0), most)
        if record.module not in ("POSIX", "STDIO", "MPI-IO"):
            # Its order is not recorded.
            row.first[direction] = requests
    if record.module == "POSIX":
        row.misaligned = record["FILE_NOT_ALIGNED"]
        row.memory_misaligned = record["MEM_NOT_ALIGNED"]
    if record.rank < 0 and processes > 1:
        row.slowest_s = record.seconds("F_SLOWEST_RANK_TIME")
        row.fastest_s = record.seconds("F_FASTEST_RANK_TIME")
        row.slowest_bytes = record["SLOWEST_RANK_BYTES"]
        row.fastest_bytes = record["FASTEST_RANK_BYTES"]
    if stripes := log.stripes.get(record.identifier):
        row.stripes, row.targets = stripes.count, stripes.targets
    return row


def of_trace(reader: Reader, small: int, on_progress: OnCount | None = None) -> Accesses:
    """Accesses from the records of a trace."""
    totals: list[pl.DataFrame] = []
    last: pl.DataFrame | None = None
    done = 0
    for frame in record_batches(reader):
        done += frame.height
        if on_progress is not None:
            on_progress(done)
        rows = frame.filter(~pl.col("flags").str.contains("failed"))
        data = rows.filter(pl.col("operation").is_in(DATA))
        data = data.select("process", "file", "operation", "offset", "size", "duration_ns")
        data = data.with_columns(
            pl.col("operation").cast(pl.String),
            pl.col("offset", "size").clip(upper_bound=LONGEST_FILE),
            is_new=pl.lit(True),
        )
        if last is not None:
            data = pl.concat([last, data])
        end = (pl.col("offset") + pl.col("size")).shift(1).over("process", "file", "operation")
        data = data.with_columns(before=end)
        keys = ["process", "file", "operation"]
        last = data.group_by(keys, maintain_order=True).last()
        last = last.with_columns(is_new=pl.lit(False)).drop("before").select(data.columns[:-1])
        totals.append(_totals(data.filter("is_new"), rows, small))
        if len(totals) == 16:
            totals = [_added(totals)]
    return _accesses(_added(totals) if totals else None)


def _totals(data: pl.DataFrame, rows: pl.DataFrame, small: int) -> pl.DataFrame:
    """Totals of one batch by process, file and kind: "read", "write" or "metadata"."""
    moved = data.group_by("process", "file", kind=pl.col("operation")).agg(
        requests=pl.len().cast(pl.Int64),
        # Exact up to 2^53 bytes. A sum of integers would wrap in a damaged trace.
        bytes=pl.col("size").cast(pl.Float64).sum().clip(upper_bound=LONGEST_FILE).cast(pl.Int64),
        small=(pl.col("size") < small).sum().cast(pl.Int64),
        ordered=(pl.col("offset") >= pl.col("before")).sum().cast(pl.Int64),
        first=pl.col("before").is_null().sum().cast(pl.Int64),
        misaligned=(pl.col("offset") % PAGE != 0).sum().cast(pl.Int64),
        extent=(pl.col("offset") + pl.col("size")).max().cast(pl.Int64),
        seconds=pl.col("duration_ns").sum() * 1e-9,
        opens=pl.lit(0, pl.Int64),
        syncs=pl.lit(0, pl.Int64),
    )
    operation = pl.col("operation").cast(pl.String)
    is_open = operation.is_in(["open", "create"])
    is_metadata = ~operation.is_in([*DATA, *LOCAL])
    other = (
        rows.filter(~operation.is_in(DATA))
        .group_by("process", "file")
        .agg(
            kind=pl.lit("metadata"),
            requests=is_metadata.sum().cast(pl.Int64),
            bytes=pl.lit(0, pl.Int64),
            small=pl.lit(0, pl.Int64),
            ordered=pl.lit(0, pl.Int64),
            first=pl.lit(0, pl.Int64),
            misaligned=pl.lit(0, pl.Int64),
            extent=pl.lit(0, pl.Int64),
            seconds=pl.col("duration_ns").filter(is_metadata).sum() * 1e-9,
            opens=is_open.sum().cast(pl.Int64),
            syncs=(operation == "sync").sum().cast(pl.Int64),
        )
    )
    return pl.concat([moved, other.select(moved.columns)])


def _added(totals: list[pl.DataFrame]) -> pl.DataFrame:
    keys = ("process", "file", "kind")
    added = [name for name in totals[0].columns if name not in (*keys, "extent")]
    return pl.concat(totals).group_by(keys).agg(pl.col(added).sum(), pl.col("extent").max())


def _accesses(totals: pl.DataFrame | None) -> Accesses:
    if totals is None:
        return Accesses("trace", 0)
    rows: dict[tuple[str, str], Access] = {}
    for total in totals.sort("process", "file", "kind").iter_rows(named=True):
        key = (total["process"], total["file"])
        row = rows.setdefault(
            key, Access(file=key[1], process=key[0], interface="posix", misaligned=0)
        )
        if total["kind"] == "metadata":
            row.opens, row.metadata = total["opens"], total["requests"]
            row.metadata_s, row.syncs = total["seconds"], total["syncs"]
            continue
        direction = total["kind"]
        for name in ("requests", "bytes", "small", "ordered", "first", "extent", "seconds"):
            getattr(row, name)[direction] = total[name]
        row.misaligned = (row.misaligned or 0) + total["misaligned"]
    processes = totals["process"].n_unique()
    return Accesses("trace", processes, list(rows.values()))


def is_stream(access: Access) -> bool:
    """Return whether it is a standard stream rather than a file."""
    return access.interface == "stdio" and access.file in STREAMS
