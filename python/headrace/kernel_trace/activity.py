"""Write-back by the kernel, and its throttling of writers."""

import os
from typing import Any

import numpy as np
import polars as pl
from numpy.typing import NDArray

from headrace.kernel_trace.intervals import Intervals
from headrace.kernel_trace.recording import Recording

NEVER = Intervals.of([], [])


def commits(recording: Recording) -> Intervals:
    """Return the intervals in which the journal committed."""
    begun, ended = recording.of("jbd2_start_commit"), recording.of("jbd2_end_commit")
    if not begun.height or not ended.height:
        return NEVER
    starts = begun.select("transaction", "time_ns")
    both = starts.join(ended.select("transaction", pl.col("time_ns").alias("end")), "transaction")
    return Intervals.of(both["time_ns"].to_numpy(), both["end"].to_numpy())


def activity(recording: Recording) -> dict[str, Any]:
    """Counts and times of journal, write-back, pauses of writers, and merges of requests."""
    committed = commits(recording)
    pauses = recording.of("balance_dirty_pages")
    held = pauses.filter(pl.col("pause") > 0)["pause"] if pauses.height else pl.Series([0])[:0]
    checkpoints = recording.of("jbd2_checkpoint_stats")
    merges = ("block_bio_backmerge", "block_bio_frontmerge")
    return {
        "commits": len(committed.starts),
        "commit_seconds": [float(second) for second in (committed.ends - committed.starts) * 1e-9],
        "checkpoints": checkpoints.height,
        "checkpoint_seconds": _sum(checkpoints, "chp_time") * 1e-3,
        "write_backs": recording.of("writeback_written").height,
        "pauses": len(held),
        "pause_seconds": float(held.sum()) * 1e-3,
        "cached_bytes": int(folios(recording).sum()),
        "bios": recording.of("block_bio_queue").height,
        "merged": sum(recording.of(name).height for name in merges),
        "split": recording.of("block_split").height,
    }


def _sum(table: pl.DataFrame, column: str) -> float:
    return float(table[column].sum()) if column in table.columns else 0.0


def write_back(recording: Recording) -> Intervals:
    """Return the intervals in which the kernel wrote dirty pages back."""
    begun, ended = recording.of("writeback_start"), recording.of("writeback_written")
    if not begun.height or not ended.height:
        return NEVER
    # One thread writes back at a time; a start may be followed by several ends.
    starts = begun.select("thread", pl.col("time_ns").alias("start"))
    ends = ended.select("thread", "time_ns")
    both = ends.join_asof(
        starts, left_on="time_ns", right_on="start", by="thread", check_sortedness=False
    ).drop_nulls("start")
    return Intervals.of(both["start"].to_numpy(), both["time_ns"].to_numpy())


def folios(recording: Recording) -> NDArray[np.int64]:
    """Bytes of each folio that was brought into the page cache."""
    added = recording.of("mm_filemap_add_to_page_cache")
    if "order" not in added.columns:
        # Before Linux 5.18 each was a page.
        return np.full(added.height, PAGE, dtype=np.int64)
    sizes: NDArray[np.int64] = PAGE << added["order"].to_numpy().astype(np.int64)
    return sizes


PAGE = os.sysconf("SC_PAGE_SIZE")
