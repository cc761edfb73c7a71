"""This process's system calls on files, and where their time went."""

import re
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import polars as pl
from numpy.typing import NDArray

from headrace.kernel_trace.intervals import Intervals
from headrace.kernel_trace.recording import Recording
from headrace.kernel_trace.requests import requests

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
"""What the load engine calls the threads that carry out a workload."""


def system_calls(recording: Recording) -> pl.DataFrame:
    """All that began and ended, in the order in which they ended. `result` is what the kernel
    gave back: bytes, or an error below 0."""
    found = [pl.DataFrame(schema=SCHEMA)]
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
        found.append(
            pairs.drop_nulls("entered_ns").select(
                pl.col("thread").cast(pl.Int32),
                pl.lit(call).alias("call"),
                "entered_ns",
                "left_ns",
                pl.col("ret").cast(pl.Int64).alias("result"),
            )
        )
    return pl.concat(found).sort("left_ns", maintain_order=True)


def timed(recording: Recording, seconds: float) -> pl.DataFrame:
    """The calls of the load engine's threads in a measurement that took so long: those before
    made its files ready."""
    renamed = recording.of("task_rename")
    if not renamed.height:
        return pl.DataFrame(schema=SCHEMA)
    workers = renamed.filter(
        pl.col("newcomm").str.contains(f"^{WORKER.pattern}$") & (pl.col("pid") == pl.col("thread"))
    )["pid"]
    made = system_calls(recording).filter(pl.col("thread").is_in(workers.implode()))
    if not made.height:
        return made
    # The measurement ended with the last call that is not made to clean up; a microsecond for
    # reading the clock.
    last = made.filter(pl.col("call") != "close")["left_ns"].to_numpy().max(initial=0)
    start = int(last) - round(seconds * 1e9) - 1000
    return made.filter((pl.col("entered_ns") >= start) & (pl.col("left_ns") <= last))


WAITS = ("dirty limit", "journal", "device", "I/O queue", "processor queue", "other waiting")
"""What a call can wait for. What holds for more than one is counted with the first of them."""
ON_PROCESSOR = "processor"
SYNCING = ("write", "pwrite64", "pwritev", "pwritev2", "fsync", "fdatasync", "sync_file_range")
"""Calls that may wait for a commit of the journal."""


@dataclass(frozen=True)
class _World:
    """What all calls may wait for."""

    commits: Intervals
    device: Intervals
    queue: Intervals


def breakdown(recording: Recording, made: pl.DataFrame) -> dict[str, float]:
    """Where the time of calls went, in seconds of all of them: on the processor, and waiting for
    each of `WAITS`. Together it is the time from entering to leaving them."""
    world = _World(commits(recording), *_device(recording))
    found = dict.fromkeys((ON_PROCESSOR, *WAITS), 0.0)
    switches = recording.of("sched_switch")
    for (thread,), of_thread in made.group_by("thread", maintain_order=True):
        number = int(str(thread))
        away, ready = _away(switches, recording.of("sched_waking"), number)
        pauses = _pauses(recording, number)
        for syncing in (False, True):
            chosen = of_thread.filter(pl.col("call").is_in(SYNCING) == syncing)
            inside = Intervals.of(chosen["entered_ns"].to_numpy(), chosen["left_ns"].to_numpy())
            waiting = inside.common(away)
            found[ON_PROCESSOR] += inside.seconds - waiting.seconds
            found["processor queue"] += waiting.common(ready).seconds
            left = waiting.without(ready)
            for name, when in (
                ("dirty limit", pauses),
                ("journal", world.commits if syncing else NEVER),
                ("device", world.device),
                ("I/O queue", world.queue),
            ):
                found[name] += left.common(when).seconds
                left = left.without(when)
            found["other waiting"] += left.seconds
    return found


NEVER = Intervals.of([], [])


def commits(recording: Recording) -> Intervals:
    """When the journal committed."""
    begun, ended = recording.of("jbd2_start_commit"), recording.of("jbd2_end_commit")
    if not begun.height or not ended.height:
        return NEVER
    starts = begun.select("transaction", "time_ns")
    both = starts.join(ended.select("transaction", pl.col("time_ns").alias("end")), "transaction")
    return Intervals.of(both["time_ns"].to_numpy(), both["end"].to_numpy())


def _device(recording: Recording) -> tuple[Intervals, Intervals]:
    """When the device had requests, and when requests were queued before it."""
    found = requests(recording)
    issued = found["issued_ns"].to_numpy()
    served = _nanoseconds(found["service_s"])
    queued = _nanoseconds(found["queued_s"].fill_null(0.0))
    return Intervals.of(issued, issued + served), Intervals.of(issued - queued, issued)


def _nanoseconds(seconds: pl.Series) -> NDArray[np.int64]:
    return np.rint(seconds.to_numpy() * 1e9).astype(np.int64)


def _away(
    switches: pl.DataFrame, wakings: pl.DataFrame, thread: int
) -> tuple[Intervals, Intervals]:
    """When a thread was not on a processor; and when of that it could have gone on, had one been
    free: after it was woken, or because another was preferred.

    Where the return of a thread to an idle processor is not told, as some virtual machines leave
    it out, it was back when it was woken.
    """
    if not switches.height:
        return NEVER, NEVER
    out = switches.filter(pl.col("prev_pid") == thread)
    gone = out["time_ns"].to_numpy()
    # The lowest bits say what it waits for; without any it is ready (Linux, include/linux/sched.h).
    preempted = (out["prev_state"].to_numpy() & 0xFF) == 0
    back = _next(switches.filter(pl.col("next_pid") == thread)["time_ns"].to_numpy(), gone)
    woken = back
    if wakings.height:
        woken = _next(wakings.filter(pl.col("pid") == thread)["time_ns"].to_numpy(), gone)
    again = np.append(gone[1:], LAST)
    back = np.where(back < again, back, np.where(woken < again, woken, gone))
    back = np.where(back == LAST, gone, back)
    ready = np.where(preempted, gone, np.minimum(woken, back))
    return Intervals.of(gone, back), Intervals.of(ready, back)


LAST = np.iinfo(np.int64).max
"""No such time."""


def _next(times: NDArray[np.int64], after: NDArray[np.int64]) -> NDArray[np.int64]:
    """The first of the times behind each instant; `LAST` if there is none."""
    padded = np.append(times, LAST)
    found: NDArray[np.int64] = padded[np.searchsorted(times, after, side="right")]
    return found


def _pauses(recording: Recording, thread: int) -> Intervals:
    """When a thread was to pause because too much was dirty; the kernel gives it in ms."""
    found = recording.of("balance_dirty_pages")
    if not found.height:
        return NEVER
    of_thread = found.filter((pl.col("thread") == thread) & (pl.col("pause") > 0))
    begins = of_thread["time_ns"].to_numpy()
    return Intervals.of(begins, begins + of_thread["pause"].to_numpy() * 1_000_000)


def in_device(recording: Recording, made: pl.DataFrame) -> Sequence[float]:
    """Of each call, the seconds in which the device had requests."""
    device, _ = _device(recording)
    order = made.sort("entered_ns")
    each = Intervals(order["entered_ns"].to_numpy(), order["left_ns"].to_numpy())
    return [float(it) for it in each.within(device)]
