"""A captured trace as operations and the gaps between them.

A gap is the time from the end of a process's operation to the start of its next one: the process
computed or waited. Changes of a program retain its gaps and change its operations. The gaps of
operations that disappear are added to the next one that stays, or to a pause at the end.
"""

from pathlib import Path
from typing import Literal

import polars as pl

from headrace.trace import Reader, frame, open_trace
from headrace.trace.frames import SCHEMA

MOST_RECORDS = 200_000
"""Largest number of operations of a phase that is simulated: its first ones. Each change is one
simulation, and this many take about a second."""


def read_paced(path: Path, *, messages: bool = False) -> pl.DataFrame:
    """Return a trace with its gaps, and with `messages` also what passes between processes.

    Returns the columns of `headrace.trace.SCHEMA`, sorted by process and time, and `gap_ns`. The
    first gap of a process begins with the trace. Reads and writes have the flags `direct` and
    `synchronous` of the last open of their file.

    Raises ValueError, OSError as `headrace.trace.open_trace`.
    """
    return paced(open_trace(path, messages=messages))


def paced(reader: Reader) -> pl.DataFrame:
    """Return all that is left of a trace with its gaps, as `read_paced` does."""
    return with_gaps(_with_open_flags(frame(reader)))


OPEN_FLAGS = ("direct", "synchronous")
"""Flags of an open that change each read and write of the file."""


def _with_open_flags(records: pl.DataFrame) -> pl.DataFrame:
    """Return records in order of time, with flags of opens at reads and writes.

    The last open of a file counts, by whichever process: a trace has no descriptors.
    """
    operation, flags = pl.col("operation").cast(pl.String), pl.col("flags").fill_null("")
    opens = operation.is_in(["open", "create"]) & ~flags.str.contains("failed")
    given = pl.when(opens).then(flags).forward_fill().over("file").fill_null("")
    added = pl.concat_str(
        [
            pl.when(given.str.split("|").list.contains(open_flag))
            .then(pl.lit(f"|{open_flag}"))
            .otherwise(pl.lit(""))
            for open_flag in OPEN_FLAGS
        ]
    )
    is_data = operation.is_in(["read", "write"])
    return records.sort("time_ns", maintain_order=True).with_columns(
        flags=pl.when(is_data).then((flags + added).str.strip_prefix("|")).otherwise("flags")
    )


def with_gaps(records: pl.DataFrame, start_ns: int = 0) -> pl.DataFrame:
    """Return records with `gap_ns`; the first gap of a process begins at `start_ns`.

    A process whose first record receives something begins when another one has made it: it has no
    first gap.
    """
    end = pl.col("time_ns") + pl.col("duration_ns")
    receives = pl.col("operation").cast(pl.String) == "receive"
    first = pl.when(receives).then("time_ns").otherwise(start_ns)
    previous = end.shift(1).over("process").fill_null(first)
    return records.sort("process", "time_ns", maintain_order=True).with_columns(
        gap_ns=(pl.col("time_ns") - previous).clip(lower_bound=0)
    )


def cut(records: pl.DataFrame, from_s: float, to_s: float) -> pl.DataFrame:
    """Return the operations that begin within a time span, with times since its start."""
    start = round(from_s * 1e9)
    inside = records.filter(pl.col("time_ns").is_between(start, round(to_s * 1e9), closed="left"))
    return with_gaps(inside.with_columns(pl.col("time_ns") - start))


def keep(records: pl.DataFrame, mask: pl.Expr) -> pl.DataFrame:
    """Return the records of a mask; the gaps of the others go to their process's next record."""
    return _with_all_gaps(_with_sums(records).filter(mask), records)


def _with_sums(records: pl.DataFrame) -> pl.DataFrame:
    """Return records with `_gaps`, the sum of their process's gaps up to each."""
    return records.with_columns(_gaps=pl.col("gap_ns").cum_sum().over("process"))


def _with_all_gaps(rest: pl.DataFrame, records: pl.DataFrame) -> pl.DataFrame:
    """Return records with `_gaps` with gaps that add up to those of all `records`.

    Where the first or last record of a process is gone, a pause without duration has its place. A
    process does not compute in its first gap, and nothing follows the last one.
    """
    pauses = []
    for first in (True, False):
        every, left = (
            table.group_by("process", maintain_order=True)
            for table in (_with_sums(records), rest.select("process", _left="_gaps"))
        )
        ends = every.first() if first else every.last()
        ends = ends.join(left.first() if first else left.last(), "process", how="left")
        is_gone = pl.col("_left").is_null() | (pl.col("_left") != pl.col("_gaps"))
        pauses.append(messages(ends.filter(is_gone), "pause", ""))
    return (
        pl.concat([pauses[0], rest, pauses[1]], how="diagonal")
        .with_columns(
            gap_ns=pl.col("_gaps") - pl.col("_gaps").shift(1).over("process").fill_null(0)
        )
        .select(records.columns)
    )


def messages(
    records: pl.DataFrame, operation: Literal["send", "receive", "pause"], channel: pl.Expr | str
) -> pl.DataFrame:
    """Return messages of one unit, or pauses without duration, in place of records.

    A process that receives from a channel waits until another one sends to it. A channel has at the
    start what is received and never sent.
    """
    zero = {name: pl.lit(0).cast(SCHEMA[name]) for name in ("offset", "duration_ns")}
    return records.with_columns(
        operation=pl.lit(operation, SCHEMA["operation"]),
        file=pl.lit(channel) if isinstance(channel, str) else channel,
        size=pl.lit(1, SCHEMA["size"]),
        flags=pl.lit(""),
        other=pl.lit(""),
        **zero,
    )


def merge(records: pl.DataFrame, size: int) -> pl.DataFrame:
    """Merge contiguous reads, and contiguous writes, of a process up to `size` bytes.

    A merged read takes the place of its first part (it reads ahead), a merged write that of its
    last part. Any other operation on the file ends a merge.
    """
    is_data = pl.col("operation").cast(pl.String).is_in(["read", "write"])
    stream = ["process", "file", "operation"]
    end = pl.col("offset") + pl.col("size")
    table = _with_sums(records.with_row_index("_row")).with_columns(
        # Syncs, closes and the like on the same file.
        _barrier=(~is_data).cum_sum().over("process", "file"),
    )
    data = table.filter(is_data & (pl.col("size") > 0)).with_columns(
        _follows=(pl.col("offset") == end.shift(1).over(stream)).fill_null(False)
        & (pl.col("_barrier") == pl.col("_barrier").shift(1).over(stream)).fill_null(False)
    )
    data = data.with_columns(_run=(~pl.col("_follows")).cum_sum().over(stream))
    run = [*stream, "_run"]
    data = data.with_columns(_part=(end - pl.col("offset").first().over(run) - 1) // max(size, 1))
    is_write = pl.col("operation").cast(pl.String) == "write"
    merged = (
        data.group_by([*run, "_part"], maintain_order=True)
        .agg(
            pl.col("_row").first().alias("_first"),
            pl.col("_row").last().alias("_last"),
            pl.col("time_ns").first(),
            pl.col("offset").first(),
            pl.col("size").sum(),
            pl.col("duration_ns").sum(),
            pl.col("flags").first(),
            pl.col("other").first(),
            pl.col("_gaps").first().alias("_gaps_first"),
            pl.col("_gaps").last().alias("_gaps_last"),
        )
        .with_columns(
            _row=pl.when(is_write).then("_last").otherwise("_first"),
            _gaps=pl.when(is_write).then("_gaps_last").otherwise("_gaps_first"),
        )
    )
    columns = [*(name for name in records.columns if name != "gap_ns"), "_row", "_gaps"]
    rest = table.filter(~is_data | (pl.col("size") == 0))
    together = pl.concat([merged.select(columns), rest.select(columns)]).sort("_row").drop("_row")
    return _with_all_gaps(together, records)


def write_paced(records: pl.DataFrame, path: Path) -> None:
    """Write operations and gaps as a trace in CSV for a paced replay."""
    gaps, spent = (pl.col(name).cum_sum().over("process") for name in ("gap_ns", "duration_ns"))
    times = records.with_columns(time_ns=gaps + spent - pl.col("duration_ns")).sort(
        "time_ns", maintain_order=True
    )
    times.select(
        time=pl.col("time_ns") / 1e9,
        process="process",
        operation="operation",
        file="file",
        offset="offset",
        size="size",
        # A replay refuses a trace without any duration.
        duration=pl.col("duration_ns").clip(lower_bound=1) / 1e9,
        flags="flags",
        other="other",
    ).write_csv(path, float_scientific=False, float_precision=9)
