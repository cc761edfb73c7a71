"""Counts and times of the file operations of a phase, from a captured trace."""

from collections.abc import Mapping
from dataclasses import dataclass

import polars as pl

from headrace._core import TRACE_GROUPS, TRACE_OPERATIONS

_GROUPS = dict(zip(TRACE_OPERATIONS, TRACE_GROUPS, strict=True))
METADATA = frozenset(
    {operation for operation, group in _GROUPS.items() if group == "metadata"} - {"lock", "unlock"}
) | {"truncate"}
"""Operations on names and attributes. A lock waits for other processes, and is none; a truncation
moves no data, and is one."""

ON_FILES = METADATA | {"read", "write", "sync"}


@dataclass(frozen=True)
class TracedCalls:
    """File operations in a span of time."""

    span_s: float
    counts: Mapping[str, int]
    times_s: Mapping[str, float]
    """Total duration by operation, over all processes, in seconds."""

    union_s: float = 0.0
    """Time in which a process is in an operation on a file."""

    quick_s: float = 0.0
    """Duration below which a quarter of the calls are."""

    @property
    def kind_s(self) -> dict[str, float]:
        """Total duration by kind of wait for storage."""
        return self._by_kind(self.times_s)

    @property
    def kind_counts(self) -> dict[str, float]:
        """Number of operations by kind of wait for storage."""
        return self._by_kind(self.counts)

    @staticmethod
    def _by_kind(values: Mapping[str, float]) -> dict[str, float]:
        kinds = {"read": ("read",), "write": ("write",), "sync": ("sync",), "metadata": METADATA}
        return {
            kind: float(sum(values.get(name, 0) for name in names)) for kind, names in kinds.items()
        }

    def per_s(self, *operations: str) -> float:
        """Return the rate of operations."""
        return sum(self.counts.get(operation, 0) for operation in operations) / self.span_s

    @property
    def metadata_per_s(self) -> float:
        """Rate of metadata operations."""
        return self.per_s(*METADATA)


def traced_calls(trace: pl.DataFrame, from_s: float, to_s: float) -> TracedCalls:
    """Return the operations that start in a span.

    Parameters
    ----------
    trace
        Frame of `headrace.trace.frame`: `time_ns`, `operation`, `duration_ns` and others.
    from_s, to_s
        Span in seconds since the start of the trace.
    """
    inside = trace.filter(
        (pl.col("time_ns") >= round(from_s * 1e9)) & (pl.col("time_ns") < round(to_s * 1e9))
    )
    by_operation = inside.group_by("operation").agg(
        pl.len().alias("count"), (pl.col("duration_ns").sum() / 1e9).alias("time_s")
    )
    words = by_operation["operation"].cast(pl.String).to_list()
    on_files = inside.filter(pl.col("operation").cast(pl.String).is_in(list(ON_FILES)))
    return TracedCalls(
        to_s - from_s,
        dict(zip(words, by_operation["count"].to_list(), strict=True)),
        dict(zip(words, by_operation["time_s"].to_list(), strict=True)),
        _union_s(on_files, round(to_s * 1e9)),
        float(inside["duration_ns"].quantile(0.25) or 0) / 1e9,
    )


def _union_s(records: pl.DataFrame, end_ns: int) -> float:
    """Return the time in which at least one of the operations goes on."""
    ordered = records.sort("time_ns").select(
        begin=pl.col("time_ns"),
        end=pl.min_horizontal(pl.col("time_ns") + pl.col("duration_ns"), pl.lit(end_ns)),
    )
    before = pl.col("end").cum_max().shift(1).fill_null(0)
    added = (pl.col("end") - pl.max_horizontal("begin", before)).clip(lower_bound=0)
    return float(ordered.select(added.sum()).item() or 0) / 1e9
