"""Several requests at a time: asynchronous I/O, or more threads."""

import polars as pl

from headrace.profile.advice.change import Change, Changed, Context
from headrace.profile.paced_trace import messages
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
    # Whole files stay with one process, unless there are few of them or one has many requests.
    # Writes of a log or database wait for the sync before.
    is_ordered = (operation == "sync").sum().over("file") > 1
    spread, lane = moves, pl.lit(0)
    if case.records["file"].n_unique() >= 10 * DEPTH:
        spread = moves & (moves.sum().over("file") >= 10 * DEPTH)
        lane = pl.col("file").rank("dense").cast(pl.Int64) % DEPTH
    by_request = moves.cum_sum().over("process") % DEPTH
    lane = pl.when(is_ordered).then(0).when(spread).then(by_request).otherwise(lane)
    rows = case.records.with_row_index("_row").with_columns(
        _program=pl.col("process"), process=pl.col("process") + "#" + lane.cast(pl.String)
    )
    # The program computes for one request at a time: the computing lane has its only token. A
    # channel starts with the messages that are received and never sent: the last process receives
    # the token at the end.
    token, ended = pl.col("_program") + " computes", pl.col("_program") + " ended"
    computing, no_gap = rows.filter(pl.col("gap_ns") > 0), pl.lit(0, pl.Int64)
    ends = rows.group_by("process", maintain_order=True).last().with_columns(gap_ns=no_gap)
    lanes = pl.col("size").sum().over("_program")
    join = messages(ends, "receive", ended).with_columns(process=ended, size=lanes)
    join = join.unique("process", maintain_order=True)
    parts = [
        messages(computing, "receive", token).with_columns(gap_ns=no_gap),
        messages(computing, "send", token),
        rows.with_columns(gap_ns=no_gap),
        messages(ends, "send", ended),
        join,
        messages(join, "receive", token),
    ]
    changed = pl.concat(
        (part.with_columns(_part=at) for at, part in enumerate(parts)), how="diagonal"
    )
    changed = changed.sort("process", "_row", "_part").select(case.records.columns)
    return Changed(
        case.with_records(changed),
        f"keep {DEPTH} requests in flight (asynchronous I/O or {DEPTH} threads), if none needs the "
        "answer of the one before",
    )


CHANGE = Change(
    name="parallel-requests",
    kind="software",
    level="program",
    verdicts=frozenset(("latency", "metadata", "disk-read")),
    apply=_apply,
    source="Hindman 2011, section 5.7",
)
