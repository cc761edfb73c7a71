"""Separate devices for what is read and what is written."""

from dataclasses import replace

import polars as pl

from headrace.profile.advice.change import Change, Changed, Context
from headrace.profile.machine_model import is_local
from headrace.profile.prediction import Case


def _apply(case: Case, _: Context) -> Changed | None:
    operation = pl.col("operation").cast(pl.String)
    read = case.records.filter(operation == "read")["file"].unique()
    written = case.records.filter(operation == "write")["file"].unique()
    if read.is_empty() or not set(written) - set(read) or not is_local(case.machine):
        return None
    return Changed(replace(case, separate_output=True), "write to a second device of the same kind")


CHANGE = Change(
    name="separate-disks",
    kind="hardware",
    level="mount",
    verdicts=frozenset(("disk-read", "disk-write", "rewrite", "latency")),
    apply=_apply,
    source="Hindman 2011, section 5.4.2",
)
