"""Time that a tracer adds to a program: per traced call, and per process.

A child process makes known calls on a small cached file, with and without capture. A tracer stops a
process before and after each call. One part of its time is recorded in the duration of the call,
the other in the gap to the next one.
"""

import math
import os
import re
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TypeAlias

import polars as pl

from headrace.profile.paced_trace import read_paced

REPETITIONS = 5
"""Captured and uncaptured runs of each loop, interleaved."""
ROUNDS = 1000
"""Rounds of the loop of file calls. Each makes five calls."""
PROCESSES = 40
"""Processes that the loop of processes starts."""
LONGEST_S = 60.0
"""Longest time of one run of a loop, in seconds."""
CONFIDENCE = 0.9
"""Confidence of the intervals, that of predictions."""

CALL_LOOP = """
import os, sys, time
def loop(count, open_, read, write, stat, close, name, data):
    start = time.perf_counter_ns()
    for _ in range(count):
        descriptor = open_(name, os.O_RDWR)
        read(descriptor, 512)
        write(descriptor, data)
        stat(name)
        close(descriptor)
    return time.perf_counter_ns() - start
calls = (os.open, os.read, os.write, os.stat, os.close)
other, name, count = sys.argv[1], sys.argv[2], int(sys.argv[3])
loop(20, *calls, other, bytes(512))
seconds = loop(count, *calls, name, bytes(512))
print(seconds, loop(count, *5 * ["".format], name, bytes(512)))
"""
"""Prints the nanoseconds of a loop of calls, and of the same loop with functions that make none."""

PROCESS_LOOP = """
import os, sys, time
count, program = int(sys.argv[1]), sys.argv[2]
def loop(count):
    start = time.perf_counter_ns()
    for _ in range(count):
        os.waitpid(os.posix_spawn(program, [program], {}), 0)
    return time.perf_counter_ns() - start
loop(2)
print(loop(count))
"""
"""Prints the nanoseconds of a loop that starts processes and waits for each."""

Wrap: TypeAlias = Callable[[list[str], Path], list[str]]
"""Returns the command that captures a command in a file."""

LINE = re.compile(rb"^(?:(\d+) +)?(\d+\.\d+) (\+\+\+ exited|\+\+\+ killed|---|<\.\.\. )?")
"""A line of strace: the process, the time, and the beginning of a line that is no call."""


@dataclass(frozen=True)
class Estimate:
    """A mean and half the width of its 90 % confidence interval."""

    value: float
    half_width: float = 0.0


@dataclass(frozen=True)
class CallOverhead:
    """Time that a tracer adds to one call, in seconds."""

    gap_s: Estimate
    """Added to the gap between two calls."""
    duration_s: Estimate
    """Added to the recorded duration of a call."""
    speed_spread: float
    """Relative standard deviation of the uncaptured loop's time over the repetitions."""

    @property
    def total_s(self) -> float:
        """Time added to a call and its gap."""
        return self.gap_s.value + self.duration_s.value


@dataclass(frozen=True)
class TracerOverhead:
    """Time that strace adds to calls and processes, in seconds."""

    call: CallOverhead
    process_s: Estimate
    """Added to the start and end of a process, beyond its calls."""
    launch_s: float
    """Time that this process takes to start a program, until the program's code runs."""


@dataclass(frozen=True)
class TraceLines:
    """Calls and ends of processes in the text of strace, as times in nanoseconds."""

    calls: pl.DataFrame
    """`process` and `time_ns` of each traced call, in the order of the text."""
    ends: dict[str, int]
    """End of each process."""
    first: str
    """The process that strace started."""


def estimate(values: Sequence[float]) -> Estimate:
    """Return the mean of two or more repetitions and half the width of its confidence interval."""
    from scipy import stats

    quantile = float(stats.t.ppf((1 + CONFIDENCE) / 2, len(values) - 1))
    return Estimate(
        statistics.fmean(values), quantile * statistics.stdev(values) / math.sqrt(len(values))
    )


def call_overhead(
    wrap: Wrap, directory: Path | None = None, repetitions: int = REPETITIONS
) -> CallOverhead:
    """Measure the time that a capture method adds to one call.

    Parameters
    ----------
    wrap
        Returns the command that captures a command in a file.
    directory
        Directory in which the loop's two files are made; by default one for temporary files.
    repetitions
        Number of captured and of uncaptured runs, 2 or more.

    Raises
    ------
    OSError, ValueError, subprocess.SubprocessError
        If the loop or its capture fails.
    """
    gaps, durations, plain_times = [], [], []
    with tempfile.TemporaryDirectory(prefix="headrace-tracer-", dir=directory) as folder:
        place = Path(folder).resolve()
        other, file, trace = (place / it for it in ("other", "file", "trace"))
        for path in (other, file):
            path.write_bytes(bytes(4096))
        command = [*_python(CALL_LOOP), str(other), str(file), str(ROUNDS)]
        for _ in range(repetitions):
            plain, own = _output(command)
            _output(wrap(command, trace))
            records = read_paced(trace).filter(pl.col("file") == str(file))
            in_gaps, in_calls = (int(records[it].sum()) for it in ("gap_ns", "duration_ns"))
            # The first gap began before the loop.
            in_gaps -= int(records["gap_ns"][0])
            plain_times.append(plain)
            gaps.append((in_gaps - own) / records.height / 1e9)
            durations.append((in_calls - (plain - own)) / records.height / 1e9)
    spread = statistics.stdev(plain_times) / statistics.fmean(plain_times)
    return CallOverhead(estimate(gaps), estimate(durations), spread)


def tracer_overhead(wrap: Wrap, directory: Path, repetitions: int = REPETITIONS) -> TracerOverhead:
    """Measure the time that strace adds to calls and processes.

    Parameters, Raises: as `call_overhead`.
    """
    call = call_overhead(wrap, directory, repetitions)
    program = "/bin/true"
    command = [*_python(PROCESS_LOOP), str(PROCESSES), program]
    added, launches = [], []
    with tempfile.TemporaryDirectory(prefix="headrace-tracer-") as folder:
        trace = Path(folder) / "trace"
        for _ in range(repetitions):
            (plain,) = _output(command)
            (captured,) = _output(wrap(command, trace))
            per_process = (captured - plain) / PROCESSES / 1e9
            added.append(per_process - _calls_per_process(trace) * call.total_s)
            start = time.perf_counter()
            with subprocess.Popen([program], start_new_session=True):
                # The constructor returns when the program has replaced its copy of this process.
                launches.append(time.perf_counter() - start)
    return TracerOverhead(call, estimate(added), statistics.median(launches))


def _python(script: str) -> list[str]:
    return [sys.executable, "-I", "-S", "-c", script]


def _output(command: Sequence[str]) -> list[int]:
    """Run a loop and return the numbers that it prints."""
    done = subprocess.run(
        command,
        check=True,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        timeout=LONGEST_S,
        env={**os.environ, "LC_ALL": "C"},
    )
    return [int(it) for it in done.stdout.split()]


def _calls_per_process(trace: Path) -> float:
    """Return the traced calls of a started process, with those of its parent that start it."""
    lines = read_lines(trace)
    by_process = lines.calls.group_by("process").agg(pl.len(), pl.col("time_ns").min())
    started = by_process.filter(pl.col("process") != lines.first)
    own = lines.calls.filter(
        (pl.col("process") == lines.first) & (pl.col("time_ns") >= started["time_ns"].min())
    )
    return (int(started["len"].sum()) + own.height) / max(started.height, 1)


def read_lines(path: Path) -> TraceLines:
    """Return the calls and ends of processes in the text of strace with times since the epoch.

    Times are in nanoseconds since the first line, as those of records. A call in two lines counts
    once.

    Raises
    ------
    OSError
        If the file cannot be read.
    ValueError
        If it has no line with a time.
    """
    processes, times = [], []
    ends: dict[str, int] = {}
    first, start = None, 0
    with path.open("rb") as file:
        for line in file:
            parts = LINE.match(line)
            if parts is None:
                continue
            process = (parts[1] or b"").decode()
            seconds, _, fraction = parts[2].partition(b".")
            at = int(seconds) * 10**9 + int(fraction.ljust(9, b"0")[:9])
            if first is None:
                first, start = process, at
            if parts[3] is None:
                processes.append(process)
                times.append(at - start)
            elif parts[3].startswith(b"+++"):
                ends[process] = at - start
    if first is None:
        raise ValueError(f"{path}: expected lines of strace with times since the epoch")
    calls = pl.DataFrame(
        {"process": processes, "time_ns": times},
        schema={"process": pl.String(), "time_ns": pl.Int64()},
    )
    return TraceLines(calls, ends, first)
