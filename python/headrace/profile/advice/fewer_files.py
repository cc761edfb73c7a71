"""One large file instead of many small ones."""

import polars as pl

from headrace.profile.advice.change import Change, Changed, Context
from headrace.profile.paced_trace import keep
from headrace.profile.prediction import Case

LEAST_FILES = 20
"""Least number of files of one kind (declared)."""
LARGEST = 1 << 20
"""Largest size of a small file, in bytes: requests of more are no larger in one file."""


def _apply(case: Case, _: Context) -> Changed | None:
    operation = pl.col("operation").cast(pl.String)
    is_data = operation.is_in(["read", "write"]) & (pl.col("size") > 0)
    files = (
        case.records.group_by("file", maintain_order=True)
        .agg(
            is_once=(operation.filter(is_data).n_unique() == 1)
            & (operation.is_in(["open", "create"]).sum() <= 1)
            & ~operation.is_in(["rename", "truncate", "lock"]).any()
            # No byte twice.
            & (pl.col("size").filter(is_data).sum() == _end().filter(is_data).max()),
            end=_end().filter(is_data).max(),
        )
        .filter(pl.col("is_once") & (pl.col("end") <= LARGEST))
        .with_columns(kind=_kind())
        .filter(pl.len().over("kind") >= LEAST_FILES)
    )
    if files.is_empty():
        return None
    is_small = pl.col("file").is_in(files["file"].implode())
    is_sync = (operation == "sync") & is_small
    # What the program syncs must be on stable storage in the end.
    is_last_sync = is_sync & (is_sync.cum_sum() == is_sync.sum()).over("process")
    kept = keep(case.records, ~is_small | is_data | is_last_sync)
    place = ["process", "operation", _kind()]
    position = (pl.col("size").cum_sum() - pl.col("size")).over(place)
    container = pl.concat_str("process", pl.lit(" "), _kind())
    changed = kept.with_columns(
        file=pl.when(is_small).then(container).otherwise("file"),
        offset=pl.when(is_small).then(position).otherwise("offset"),
    )
    kinds = ", ".join(files["kind"].unique(maintain_order=True))
    return Changed(
        case.with_records(changed),
        f"keep the content of the {files.height} small files {kinds} in one file (an archive)",
    )


def _end() -> pl.Expr:
    return pl.col("offset") + pl.col("size")


def _kind() -> pl.Expr:
    """Directory and extension, as a pattern of the names."""
    extension = pl.col("file").str.extract(r"[^/](\.[^./]*)$").fill_null("")
    return pl.col("file").str.replace(r"[^/]*$", "") + "*" + extension


CHANGE = Change(
    name="fewer-files",
    kind="software",
    level="program",
    verdicts=frozenset(("metadata", "latency")),
    apply=_apply,
    source="Hindman 2011, appendix B.10",
)
