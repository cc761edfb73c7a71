"""Time of system calls on the processor and in each kind of wait."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import polars as pl
from numpy.typing import NDArray

from headrace.kernel_trace.activity import NEVER, commits
from headrace.kernel_trace.intervals import Intervals
from headrace.kernel_trace.recording import Recording
from headrace.kernel_trace.requests import requests

WAITS = ("dirty limit", "journal", "device", "I/O queue", "processor queue", "other waiting")
"""Kinds of waits. Time that fits several kinds is counted with the first of them."""
ON_PROCESSOR = "processor"
SYNCING = ("write", "pwrite64", "pwritev", "pwritev2", "fsync", "fdatasync", "sync_file_range")
"""Calls that may wait for a commit of the journal."""


@dataclass(frozen=True)
class _World:
    """Intervals of waits that are common to all calls."""

    commits: Intervals
    device: Intervals
    queue: Intervals


def breakdown(recording: Recording, calls: pl.DataFrame) -> dict[str, float]:
    """Return the time of all calls in seconds: on the processor, and in each of `WAITS`. The sum is
    the time from entry to exit of the calls."""
    world = _World(commits(recording), *_device(recording))
    seconds = dict.fromkeys((ON_PROCESSOR, *WAITS), 0.0)
    switches = recording.of("sched_switch")
    for (thread,), of_thread in calls.group_by("thread", maintain_order=True):
        number = int(str(thread))
        away, ready = _away(switches, recording.of("sched_waking"), number)
        pauses = _pauses(recording, number)
        for syncing in (False, True):
            chosen = of_thread.filter(pl.col("call").is_in(SYNCING) == syncing)
            inside = Intervals.of(chosen["entered_ns"].to_numpy(), chosen["left_ns"].to_numpy())
            waiting = inside.common(away)
            seconds[ON_PROCESSOR] += inside.seconds - waiting.seconds
            seconds["processor queue"] += waiting.common(ready).seconds
            left = waiting.without(ready)
            for name, when in (
                ("dirty limit", pauses),
                ("journal", world.commits if syncing else NEVER),
                ("device", world.device),
                ("I/O queue", world.queue),
            ):
                seconds[name] += left.common(when).seconds
                left = left.without(when)
            seconds["other waiting"] += left.seconds
    return seconds


def _device(recording: Recording) -> tuple[Intervals, Intervals]:
    """Return the intervals in which the device had requests, and in which requests were queued."""
    rows = requests(recording)
    issued = rows["issued_ns"].to_numpy()
    served = _nanoseconds(rows["service_s"])
    queued = _nanoseconds(rows["queued_s"].fill_null(0.0))
    return Intervals.of(issued, issued + served), Intervals.of(issued - queued, issued)


def _nanoseconds(seconds: pl.Series) -> NDArray[np.int64]:
    return np.rint(seconds.to_numpy() * 1e9).astype(np.int64)


def _away(
    switches: pl.DataFrame, wakings: pl.DataFrame, thread: int
) -> tuple[Intervals, Intervals]:
    """Return the intervals in which a thread was off the processor, and those in which it was
    runnable meanwhile.

    A thread is runnable after it was woken, or if another thread preempted it.

    Some virtual machines do not record the return of a thread to an idle processor. The thread is
    then taken to run again when it was woken.
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
"""A time later than all others."""


def _next(times: NDArray[np.int64], after: NDArray[np.int64]) -> NDArray[np.int64]:
    """The first of the times behind each instant; `LAST` if there is none."""
    padded = np.append(times, LAST)
    following: NDArray[np.int64] = padded[np.searchsorted(times, after, side="right")]
    return following


def _pauses(recording: Recording, thread: int) -> Intervals:
    """Return the intervals in which the kernel paused a thread because of too many dirty pages. The
    kernel gives them in ms."""
    pauses = recording.of("balance_dirty_pages")
    if not pauses.height:
        return NEVER
    of_thread = pauses.filter((pl.col("thread") == thread) & (pl.col("pause") > 0))
    begins = of_thread["time_ns"].to_numpy()
    return Intervals.of(begins, begins + of_thread["pause"].to_numpy() * 1_000_000)


def in_device(recording: Recording, calls: pl.DataFrame) -> Sequence[float]:
    """Return, for each call, the seconds in which the device had requests."""
    device, _ = _device(recording)
    order = calls.sort("entered_ns")
    each = Intervals(order["entered_ns"].to_numpy(), order["left_ns"].to_numpy())
    return [float(time) for time in each.within(device)]
