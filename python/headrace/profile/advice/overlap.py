"""Threads that read and write at the same time, with a ring of buffers between them."""

import polars as pl

from headrace.profile.advice.change import Change, Changed, Context
from headrace.profile.paced_trace import keep
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
    both = written["process"].unique().implode()
    to_writer = pl.col("process").is_in(both) & pl.col("file").is_in(
        written["file"].unique().implode()
    )
    reader = keep(case.records, ~to_writer)
    # The computing stays with the reading thread.
    writer = case.records.filter(to_writer).with_columns(
        process=pl.col("process") + " writer", gap_ns=pl.lit(0, pl.Int64)
    )
    return Changed(
        case.with_records(pl.concat([reader, writer])),
        "read and write in threads of their own, with a ring of buffers between them",
    )


CHANGE = Change(
    name="threads",
    kind="software",
    verdicts=frozenset(("cpu", "disk-read", "disk-write", "rewrite", "latency")),
    apply=_apply,
    source="Hindman 2011, section 5.4.3",
)
