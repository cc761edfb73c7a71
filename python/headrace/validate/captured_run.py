"""The captured run of a program: calls that are simulated, and times that are taken as measured.

Calls on files outside the working directory are not simulated. Their durations and gaps become part
of the gap before the process's next simulated call. The time that the tracer added is removed from
these gaps.
"""

import math
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
import polars as pl

from headrace.profile.capture.overhead import TraceLines, TracerOverhead, read_lines
from headrace.profile.paced_trace import read_paced
from headrace.validate.program_run import ProcessorUse

MESSAGES = ("send", "receive", "pause")
"""Operations between processes, and their pauses, which no file has."""
IS_MESSAGE = pl.col("operation").cast(pl.String).is_in(MESSAGES)
STATE = ("seek", "lock", "unlock")
"""Operations that a local file system is not simulated for."""
DATA = ("read", "write")
QUANTILE = 1.645
"""Half the width of a 90 % interval of a normal distribution, in standard deviations."""
COUNTED_ERROR = 0.2
"""Relative standard error of the computing of a traced program. Declared: user times of a git clone
and of a build were 1.4 and 0.95 times those without strace, on two busy processors."""
LEAST_ERROR_S = 0.01
"""Standard error of a sum of processor times: the clock tick in which the kernel counts them."""


@dataclass(frozen=True)
class CapturedRun:
    """A captured run without the time of the tracer. Times are in seconds."""

    records: pl.DataFrame
    """Simulated calls with `gap_ns`, as `headrace.profile.paced_trace` has them."""
    tail_s: float
    """Time from the last simulated call to the exit of the program."""
    calls: int
    """All traced calls."""
    measured_calls_s: float
    """Durations of the calls that are taken as measured."""
    tracer_s: float
    """Time of the tracer that was removed from gaps, over all processes."""
    measured_half_width_s: float
    """Half the width of the 90 % interval of all time that is taken as measured."""
    programs: int
    """Processes that were started, without threads."""
    durations_s: dict[str, float]
    """Recorded durations of the simulated calls by operation, without the tracer."""

    @property
    def waits(self) -> bool:
        """True if the gaps of processes include waits for each other, which no message shows."""
        has_messages = self.simulated_calls < self.records.height
        return self.records["process"].n_unique() > 1 and not has_messages

    @property
    def simulated_calls(self) -> int:
        """Number of simulated calls on files."""
        return self.records.filter(~IS_MESSAGE).height

    @property
    def pauses_s(self) -> float:
        """Longest sum of the pauses of a process, whatever the speed of the processors."""
        pauses = self.records.filter(pl.col("operation").cast(pl.String) == "pause")
        longest = pauses.group_by("process").agg(pl.col("duration_ns").sum())["duration_ns"].max()
        return float(longest) / 1e9 if isinstance(longest, int) else 0.0

    @property
    def computing_s(self) -> float:
        """Gaps between the simulated calls, over all processes."""
        return int(self.records["gap_ns"].sum()) / 1e9


def read_captured(trace: Path, directory: Path, overhead: TracerOverhead) -> CapturedRun:
    """Read the captured run of a program.

    Parameters
    ----------
    trace
        The text of strace.
    directory
        Working directory of the program.
    overhead
        Time that the tracer adds.

    Raises
    ------
    OSError
        If the trace cannot be read.
    ValueError
        If it has no calls on files.
    """
    return split_run(read_paced(trace, messages=True), read_lines(trace), directory, overhead)


def split_run(
    records: pl.DataFrame, lines: TraceLines, directory: Path, overhead: TracerOverhead
) -> CapturedRun:
    """Split a trace into simulated calls and measured time, and remove the time of the tracer.

    Parameters
    ----------
    records
        All calls on files with their gaps, as `read_paced` returns them.
    lines
        Times of all traced calls.
    directory, overhead
        As in `read_captured`.
    """
    mask = simulated(directory)
    call_ns = 1e9 * overhead.call.duration_s.value
    pauses = pl.when(pl.col("operation").cast(pl.String) == "pause").then(call_ns).otherwise(0.0)
    freed_pauses = (pl.col("duration_ns") - pauses).clip(lower_bound=0).round().cast(pl.Int64)
    records = records.with_columns(duration_ns=freed_pauses)
    chosen, last = _until_exit(_merge_others(records, mask), lines)
    removed_durations = pl.col("duration_ns") - call_ns
    others = records.filter(~mask).select(removed_durations.clip(lower_bound=0).sum()).item()
    counted = _with_costs(chosen, lines, overhead)
    gaps = int(counted["gap_ns"].sum())
    # The kept part of the gaps so far is the most by which they exceeded the costs so far: a cost
    # that exceeds its gap is a debt for the next ones.
    excess = (pl.col("gap_ns") - pl.col("_cost_ns")).cum_sum().clip(lower_bound=0).cum_max()
    freed = counted.with_columns(_kept=excess.over("process")).with_columns(
        gap_ns=(pl.col("_kept") - pl.col("_kept").shift(1).over("process").fill_null(0.0))
        .round()
        .cast(pl.Int64)
    )
    tail, tail_cost = _tail(lines, last, overhead)
    removed = (gaps - int(freed["gap_ns"].sum())) / 1e9 + tail_cost
    operation = pl.col("operation").cast(pl.String)
    durations = (
        chosen.group_by(operation.alias("name"))
        .agg(removed_durations.clip(lower_bound=0).sum() / 1e9)
        .sort("name")
    )
    return CapturedRun(
        freed.drop("_cost_ns", "_kept"),
        tail,
        lines.calls.height,
        float(others or 0.0) / 1e9,
        removed,
        removed * _relative_half_width(overhead),
        records.filter(~pl.col("process").str.contains("/"))["process"].n_unique(),
        dict(durations.iter_rows()),
    )


def with_processor_use(
    captured: CapturedRun, use: ProcessorUse, overhead: TracerOverhead
) -> CapturedRun:
    """Return a captured run whose computing agrees with the use of the processors.

    The time between simulated calls is known in two ways. Gaps, less the time of the tracer, are
    uncertain where calls are many and short. The sum of the program's computing, page faults,
    started processes and other calls is uncertain by a share. Each counts by the inverse of its
    variance. The gaps of several processes and threads contain waits for a processor as well, so
    the sum alone counts for them.

    Parameters
    ----------
    captured
        The captured run.
    use
        Use of the processors by the program.
    overhead
        Costs of page faults and processes.
    """
    gaps = captured.computing_s + captured.tail_s
    starts = (captured.programs - 1) * overhead.own.process_s
    user = max(use.user_s - captured.calls * overhead.call.user_s.value, 0.0)
    counted = user + use.faults * overhead.own.fault_s + starts + captured.measured_calls_s
    gap_error = captured.measured_half_width_s / QUANTILE
    counted_error = math.hypot(COUNTED_ERROR * counted, LEAST_ERROR_S)
    if gaps <= 0:
        return captured
    weight = counted_error**2 / (counted_error**2 + gap_error**2)
    if captured.records["process"].n_unique() > 1:
        weight, gap_error = 0.0, counted_error
    factor = weight + (1 - weight) * counted / gaps
    scaled = (pl.col("gap_ns") * factor).round().cast(pl.Int64)
    return replace(
        captured,
        records=captured.records.with_columns(gap_ns=scaled),
        tail_s=captured.tail_s * factor,
        measured_half_width_s=QUANTILE * min(gap_error, counted_error),
    )


def simulated(directory: Path) -> pl.Expr:
    """Return a mask of the calls that are simulated, for a working directory."""
    operation, flags = pl.col("operation").cast(pl.String), pl.col("flags").fill_null("")
    inside = _inside(pl.col("file"), directory) | _inside(pl.col("other").fill_null(""), directory)
    moves = ~operation.is_in(DATA) | (pl.col("size") > 0)
    words = flags.str.split("|")
    succeeded = ~words.list.contains("failed") & ~words.list.contains("range")
    return IS_MESSAGE | (inside & moves & succeeded & ~operation.is_in(STATE))


def _inside(name: pl.Expr, directory: Path) -> pl.Expr:
    return (name == str(directory)) | name.str.starts_with(f"{directory}/")


def _merge_others(records: pl.DataFrame, mask: pl.Expr) -> pl.DataFrame:
    """Return the records of a mask; times of the others are added to the gap before the process's
    next one."""
    others = pl.when(mask).then(0).otherwise(pl.col("duration_ns"))
    before = (pl.col("gap_ns") + others).cum_sum().over("process")
    kept = records.with_columns(_before=before).filter(mask)
    previous = pl.col("_before").shift(1).over("process").fill_null(0)
    return kept.with_columns(gap_ns=pl.col("_before") - previous).drop("_before")


def _until_exit(records: pl.DataFrame, lines: TraceLines) -> tuple[pl.DataFrame, int]:
    """Return the records up to the exit of the program, and the end of the last one in nanoseconds:
    the simulation ends there, too. Other processes may outlive the program."""
    before = records.filter(pl.col("time_ns") <= lines.ends.get(lines.first, math.inf))
    end = before.select((pl.col("time_ns") + pl.col("duration_ns")).max()).item()
    return before, int(end or 0)


def _with_costs(records: pl.DataFrame, lines: TraceLines, overhead: TracerOverhead) -> pl.DataFrame:
    """Return records with the time that the tracer added before each, `_cost_ns`."""
    gap, call = 1e9 * overhead.call.gap_s.value, 1e9 * overhead.call.duration_s.value
    every = np.sort(lines.calls["time_ns"].to_numpy())
    calls = {
        process: np.sort(own["time_ns"].to_numpy())
        for (process,), own in lines.calls.group_by("process")
    }
    starts = np.sort([times[0] for times in calls.values()])
    none = np.zeros(0, dtype=np.int64)
    parts = []
    for (process,), own in records.group_by("process", maintain_order=True):
        times = calls.get(process, none)
        # Calls of the process up to and including each record.
        passed = np.searchsorted(times, own["time_ns"].to_numpy(), side="right")
        new = np.diff(passed, prepend=0)
        # The record's own duration is simulated.
        costs = new * gap + np.maximum(new - 1, 0) * call
        if process != lines.first and str(own["operation"][0]) == "receive":
            # It begins when its parent has started it.
            costs[0] += 1e9 * max(overhead.process_s.value, 0.0)
        elif process != lines.first and len(times):
            # Its first gap began with the trace: the tracer delayed its start, too.
            before = np.searchsorted(every, times[0], side="left")
            started = np.searchsorted(starts, times[0], side="right") - 1
            costs[0] += before * (gap + call) + started * 1e9 * max(overhead.process_s.value, 0.0)
        parts.append(own.with_columns(_cost_ns=pl.Series(costs.astype(float))))
    return pl.concat(parts) if parts else records.with_columns(_cost_ns=pl.lit(0.0))


def _tail(lines: TraceLines, last_ns: int, overhead: TracerOverhead) -> tuple[float, float]:
    """Return the time from the last simulated call to the program's exit, and the tracer's time
    that was removed from it, in seconds."""
    end = lines.ends.get(lines.first, last_ns)
    whole = max(end - last_ns, 0) / 1e9
    inside = lines.calls.filter(pl.col("time_ns").is_between(last_ns, end, closed="right"))
    starts = lines.calls.group_by("process").agg(pl.col("time_ns").min())
    new = starts.filter(pl.col("time_ns").is_between(last_ns, end, closed="right")).height
    cost = min(
        inside.height * overhead.call.total_s + new * max(overhead.process_s.value, 0.0), whole
    )
    return whole - cost, cost


def _relative_half_width(overhead: TracerOverhead) -> float:
    """Return half the width of the interval of the cost per call, as a share of it."""
    call = overhead.call
    width = float(np.hypot(call.gap_s.half_width, call.duration_s.half_width))
    return width / call.total_s if call.total_s > 0 else 0.0
