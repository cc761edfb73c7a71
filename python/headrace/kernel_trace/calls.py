"""This process's system calls on files."""

import re

import polars as pl

from headrace.kernel_trace.recording import Recording

SCHEMA = pl.Schema(
    {
        "thread": pl.Int32,
        "call": pl.String,
        "entered_ns": pl.Int64,
        "left_ns": pl.Int64,
        "result": pl.Int64,
    }
)
WORKER = re.compile(r"process \d+\.\d+")
"""Name pattern of the load engine's worker threads."""


def system_calls(recording: Recording) -> pl.DataFrame:
    """Return all calls that began and ended, in the order in which they ended. `result` is the
    kernel's: bytes, or an error below 0."""
    frames = [pl.DataFrame(schema=SCHEMA)]
    for event, left in recording.tables.items():
        if not event.startswith("sys_exit_") or not left.height:
            continue
        call = event.removeprefix("sys_exit_")
        entered = recording.of(f"sys_enter_{call}")
        if not entered.height:
            continue
        ends = left.select("thread", pl.col("time_ns").alias("left_ns"), pl.col("ret"))
        begins = entered.select("thread", pl.col("time_ns").alias("entered_ns"))
        pairs = ends.sort("left_ns").join_asof(
            begins.sort("entered_ns"),
            left_on="left_ns",
            right_on="entered_ns",
            by="thread",
            check_sortedness=False,
        )
        frames.append(
            pairs.drop_nulls("entered_ns").select(
                pl.col("thread").cast(pl.Int32),
                pl.lit(call).alias("call"),
                "entered_ns",
                "left_ns",
                pl.col("ret").cast(pl.Int64).alias("result"),
            )
        )
    return pl.concat(frames).sort("left_ns", maintain_order=True)


def timed(recording: Recording, seconds: float) -> pl.DataFrame:
    """The calls of the load engine's threads in a measurement that took so long: those before
    made its files ready."""
    renamed = recording.of("task_rename")
    if not renamed.height:
        return pl.DataFrame(schema=SCHEMA)
    workers = renamed.filter(
        pl.col("newcomm").str.contains(f"^{WORKER.pattern}$") & (pl.col("pid") == pl.col("thread"))
    )["pid"]
    calls = system_calls(recording).filter(pl.col("thread").is_in(workers.implode()))
    if not calls.height:
        return calls
    # The measurement ended with the last call that is not made to clean up; a microsecond for
    # reading the clock.
    last = calls.filter(pl.col("call") != "close")["left_ns"].to_numpy().max(initial=0)
    start = int(last) - round(seconds * 1e9) - 1000
    return calls.filter((pl.col("entered_ns") >= start) & (pl.col("left_ns") <= last))
