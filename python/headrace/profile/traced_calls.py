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


@dataclass(frozen=True)
class TracedCalls:
    """File operations in a span of time."""

    span_s: float
    counts: Mapping[str, int]
    times_s: Mapping[str, float]
    """Total duration by operation, over all processes, in seconds."""

    def per_s(self, *operations: str) -> float:
        """Return the rate of operations."""
        return sum(self.counts.get(operation, 0) for operation in operations) / self.span_s

    def share(self, *operations: str) -> float:
        """Return their time as a share of the span, at most 1."""
        return min(sum(self.times_s.get(entry, 0.0) for entry in operations) / self.span_s, 1.0)

    @property
    def metadata_per_s(self) -> float:
        """Rate of metadata operations."""
        return self.per_s(*METADATA)

    @property
    def metadata_share(self) -> float:
        """Share of time in metadata operations."""
        return self.share(*METADATA)

    @property
    def sync_share(self) -> float:
        """Share of time in syncs."""
        return self.share("sync")


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
    return TracedCalls(
        to_s - from_s,
        dict(zip(words, by_operation["count"].to_list(), strict=True)),
        dict(zip(words, by_operation["time_s"].to_list(), strict=True)),
    )
