"""Fewer syncs: one for several writes."""

import polars as pl

from headrace.profile.advice.change import Change, Changed, Context
from headrace.profile.paced_trace import keep
from headrace.profile.prediction import Case

EVERY = 10
"""Writes that one sync brings to stable storage: a declared example."""


def _apply(case: Case, _: Context) -> Changed | None:
    is_sync = pl.col("operation").cast(pl.String) == "sync"
    number = is_sync.cum_sum(reverse=True).over("process") - 1
    if case.records.select(is_sync.sum()).item() < 2 * EVERY:
        return None
    # The last one stays, so that all is on stable storage in the end.
    changed = keep(case.records, ~is_sync | (number % EVERY == 0))
    return Changed(
        case.with_records(changed),
        f"sync once for {EVERY} operations (group commit); a crash then loses up to {EVERY - 1}",
    )


CHANGE = Change(
    name="fewer-syncs",
    kind="software",
    level="program",
    verdicts=frozenset(("latency", "metadata", "disk-write")),
    apply=_apply,
    source="Hindman 2011, section 5.7",
)
