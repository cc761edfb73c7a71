"""One large file instead of many small ones."""

import polars as pl

from headrace.profile.advice.change import Change, Changed, Context
from headrace.profile.paced_trace import keep
from headrace.profile.prediction import Case

CONTAINER = "container"


def _apply(case: Case, _: Context) -> Changed | None:
    operation = pl.col("operation").cast(pl.String)
    is_data = operation.is_in(["read", "write"]) & (pl.col("size") > 0)
    data = case.records.filter(is_data)
    if data.is_empty() or data["file"].n_unique() < 20:
        return None
    position = pl.col("size").cum_sum().over("process", "operation") - pl.col("size")
    is_sync = operation == "sync"
    # What the program syncs must be on stable storage in the end.
    is_last_sync = is_sync & (is_sync.cum_sum() == is_sync.sum()).over("process")
    changed = keep(case.records, is_data | is_last_sync).with_columns(
        file=pl.col("process") + pl.lit(f" {CONTAINER}"), offset=position
    )
    return Changed(
        case.with_records(changed),
        "keep the content of the small files in one file (an archive or a database)",
    )


CHANGE = Change(
    name="fewer-files",
    kind="software",
    verdicts=frozenset(("metadata", "latency")),
    apply=_apply,
    source="Hindman 2011, appendix B.10",
)
