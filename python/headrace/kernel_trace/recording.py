"""Recorded kernel events as tables, one for each event."""

from collections.abc import Mapping
from dataclasses import dataclass
from os import PathLike
from pathlib import Path

import polars as pl

from headrace.parquet import parquet_file

EMPTY = pl.Schema({"time_ns": pl.Int64, "processor": pl.Int32, "thread": pl.Int32})


@dataclass(frozen=True)
class Recording:
    """Events between two instants, each a table in the order of their times."""

    tables: Mapping[str, pl.DataFrame]
    """Tables by event name, such as block_rq_issue: `time_ns`, `processor`, `thread`, and the
    event's own fields."""
    lost: int = 0
    """Records for which there was no room."""

    def of(self, event: str) -> pl.DataFrame:
        """An event's table; an empty one if the kernel does not have it."""
        return self.tables.get(event, pl.DataFrame(schema=EMPTY))

    def merged_events(self) -> pl.DataFrame:
        """All events in one table, with the `event` in a column and nulls where it lacks one."""
        named = [
            table.select(pl.lit(name).alias("event"), pl.all())
            for name, table in self.tables.items()
            if table.height
        ]
        if not named:
            return pl.DataFrame(schema={"event": pl.String, **EMPTY})
        return pl.concat(named, how="diagonal_relaxed").sort("time_ns", maintain_order=True)


def save(recordings: Mapping[str, Recording], path: str | PathLike[str]) -> None:
    """Save recordings as one Parquet file, the name of each in the column `case`."""
    tables = [
        recording.merged_events().select(pl.lit(name).alias("case"), pl.all())
        for name, recording in recordings.items()
    ]
    together = pl.concat(tables, how="diagonal_relaxed") if tables else pl.DataFrame()
    with parquet_file(Path(path)) as file:
        together.write_parquet(file)
