"""Several requests at a time: asynchronous I/O, or more threads."""

import polars as pl

from headrace.profile.advice.change import Change, Changed, Context
from headrace.profile.prediction import Case

DEPTH = 4
"""Requests at a time: a declared example, twice the queue of a single disk."""


def _apply(case: Case, _: Context) -> Changed | None:
    operation = pl.col("operation").cast(pl.String)
    moves = operation.is_in(["read", "write", "stat", "unlink", "mkdir"])
    if case.records.filter(moves).height < 10 * DEPTH:
        return None
    if case.records["process"].n_unique() >= DEPTH:
        return None
    # Whole files stay with one process, unless there are few of them.
    if case.records["file"].n_unique() >= 10 * DEPTH:
        lane = pl.col("file").rank("dense").cast(pl.Int64) % DEPTH
    else:
        lane = pl.when(moves).then(moves.cum_sum().over("process") % DEPTH).otherwise(0)
    table = case.records.with_row_index("_row").with_columns(
        process=pl.col("process") + "#" + lane.cast(pl.String)
    )
    changed = table.sort("process", "_row").drop("_row")
    return Changed(
        case.with_records(changed),
        f"keep {DEPTH} requests in flight (asynchronous I/O or {DEPTH} threads)",
    )


CHANGE = Change(
    name="parallel-requests",
    kind="software",
    verdicts=frozenset(("latency", "metadata", "disk-read")),
    apply=_apply,
    source="Hindman 2011, section 5.7",
)
