"""Threads that read and write at the same time, with two buffers between them."""

import polars as pl

from headrace.profile.advice.change import Change, Changed, Context
from headrace.profile.paced_trace import messages
from headrace.profile.prediction import Case

LEAST_READ = 0.1
"""Least bytes read, relative to those written: programs read libraries and settings at least."""


def _apply(case: Case, context: Context) -> Changed | None:
    if context.cores < 2 or case.records.is_empty():
        return None
    operation = pl.col("operation").cast(pl.String)
    is_read = operation == "read"
    is_write = operation.is_in(["write", "sync", "truncate", "allocate"])
    read_files = case.records.filter(is_read)["file"].unique()
    # Files that are only written have a thread of their own.
    written = case.records.filter(is_write & ~pl.col("file").is_in(read_files.implode()))
    if read_files.is_empty() or written.is_empty():
        return None
    moved = {
        way: float(case.records.filter(operation == way)["size"].sum()) for way in ("read", "write")
    }
    if moved["read"] < LEAST_READ * moved["write"]:
        return None
    to_writer = pl.col("process").is_in(written["process"].unique().implode()) & pl.col(
        "file"
    ).is_in(written["file"].unique().implode())
    rows = case.records.with_row_index("_row")
    handed = rows.filter(to_writer).with_columns(_left=(operation == "write").cast(pl.Int64))
    handed = handed.with_columns(
        # Writes from here on.
        _left=pl.col("_left") * pl.col("_left").cum_sum(reverse=True).over("process")
    )
    full, empty = pl.col("process") + " full", pl.col("process") + " empty"
    no_gap, writer = pl.lit(0, pl.Int64), pl.col("process") + " writer"
    # The computing that produces a request stays with the first thread, and precedes it. A write
    # frees its buffer: the first thread is at most one write ahead.
    first = [
        rows.filter(~to_writer),
        messages(handed, "send", full),
        messages(handed.filter(pl.col("_left") > 1), "receive", empty).with_columns(gap_ns=no_gap),
    ]
    second = [
        messages(handed, "receive", full),
        handed,
        messages(handed.filter(pl.col("_left") > 2), "send", empty),
    ]
    both = [part.with_columns(_part=at) for at, part in enumerate(first)] + [
        part.with_columns(process=writer, gap_ns=no_gap, _part=at) for at, part in enumerate(second)
    ]
    changed = pl.concat(both, how="diagonal_relaxed").sort("process", "_row", "_part")
    return Changed(
        case.with_records(changed.select(case.records.columns)),
        "read and write in threads of their own, with two buffers between them",
    )


CHANGE = Change(
    name="threads",
    kind="software",
    level="program",
    verdicts=frozenset(("cpu", "disk-read", "disk-write", "rewrite", "latency")),
    apply=_apply,
    source="Hindman 2011, section 5.4.3",
)
