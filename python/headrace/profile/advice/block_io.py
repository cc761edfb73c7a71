"""Block I/O instead of character I/O: the computing of `fgetc` and `fputc` disappears."""

import polars as pl

from headrace.profile.advice.change import Change, Changed, Context
from headrace.profile.advice.larger_requests import BLOCK
from headrace.profile.paced_trace import merge
from headrace.profile.prediction import Case

LARGEST_BUFFER = 8 << 10
"""The C library's buffer is st_blksize, 4 KiB on local file systems: Hindman 2011, section 5.6."""
LEAST_SHARE = 0.3
"""Share of the computing that character calls must explain."""


def _apply(case: Case, context: Context) -> Changed | None:
    if case.gaps != "compute" or case.records.is_empty():
        return None
    operation = pl.col("operation").cast(pl.String)
    data = case.records.filter(operation.is_in(["read", "write"]) & (pl.col("size") > 0))
    small = data.filter(pl.col("size") <= LARGEST_BUFFER)
    if float(small["size"].sum()) <= 0.8 * float(data["size"].sum()):
        return None
    seconds = 0.0
    # Written characters include the fsync, as blocks do; read ones come during the calls.
    for name, figure, blocks in (
        ("read", "character-read", "cached-read"),
        ("write", "character-write", "block-write"),
    ):
        rate, block = context.baseline.get(figure), context.baseline.get(blocks)
        if rate is None:
            return None
        moved = float(small.filter(operation == name)["size"].sum())
        # The call that fills or empties the buffer stays.
        seconds += moved * max(1 / rate - (1 / block if block else 0.0), 0.0)
    computing = float(case.records["gap_ns"].sum()) / 1e9
    if computing <= 0 or seconds < LEAST_SHARE * computing:
        return None
    left = max(1 - seconds / computing, 0.0)
    changed = case.with_records(
        merge(
            case.records.with_columns(gap_ns=(pl.col("gap_ns") * left).round().cast(pl.Int64)),
            BLOCK,
        )
    )
    return Changed(
        changed,
        "read and write blocks of 1 MiB (fread, fwrite) instead of characters (fgetc, fputc)",
    )


CHANGE = Change(
    name="block-io",
    kind="software",
    level="program",
    verdicts=frozenset(("cpu",)),
    apply=_apply,
    source="Hindman 2011, section 5.4.1",
)
