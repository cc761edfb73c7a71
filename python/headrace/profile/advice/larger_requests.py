"""Larger requests: `fread` and `fwrite` of whole blocks, or `setvbuf`."""

import polars as pl

from headrace.profile.advice.change import Change, Changed, Context
from headrace.profile.paced_trace import merge
from headrace.profile.prediction import Case

BLOCK = 1 << 20
"""Sequential requests of 1 MB or more suit every file system: Hindman 2011, section 1.4."""


def _apply(case: Case, _: Context) -> Changed | None:
    sizes = case.records.filter(pl.col("size") > 0)["size"]
    if sizes.is_empty() or (median := float(sizes.median() or 0)) >= BLOCK / 2:  # type: ignore[arg-type]
        return None
    merged = merge(case.records, BLOCK)
    # Random requests stay as they are.
    if merged.height > 0.5 * case.records.height:
        return None
    description = (
        f"read and write 1 MiB at a time instead of {median / 1024:.3g} KiB "
        "(fread and fwrite of blocks, or setvbuf)"
    )
    return Changed(case.with_records(merged), description)


CHANGE = Change(
    name="larger-requests",
    kind="software",
    level="program",
    verdicts=frozenset(("cpu", "disk-read", "disk-write", "rewrite", "latency", "metadata")),
    apply=_apply,
    source="Hindman 2011, section 5.6",
)
