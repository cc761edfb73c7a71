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

REPETITIONS = 3
"""Runs of each loop with and without capture, before and again after a program is captured."""
FEW = 2
"""Runs of the loop of calls for a profile, whose advice needs no interval."""
ROUNDS = 1000
"""Rounds of the loop of file calls. Each makes five calls."""
CALLS = 5 * ROUNDS
SIZE = 512
"""Bytes of each read and write of the loop. Its warm-up moves half of that."""
PROGRAM = "/bin/true"
"""The program that the loop of processes starts."""
PROCESSES = 40
"""Processes that the loop of processes starts."""
PREFIX = "headrace-tracer-"
LONGEST_S = 60.0
"""Longest time of one run of a loop, in seconds."""
COVERAGE = 0.9
"""Nominal coverage of the intervals, that of predictions."""

CALL_LOOP = """
import os, resource, sys, time
def loop(count, open_, read, write, stat, close, name, data):
    start = time.perf_counter_ns()
    for _ in range(count):
        descriptor = open_(name, os.O_RDWR)
        read(descriptor, len(data))
        write(descriptor, data)
        stat(name)
        close(descriptor)
    return time.perf_counter_ns() - start
calls = (os.open, os.read, os.write, os.stat, os.close)
name, count, size = sys.argv[1], int(sys.argv[2]), int(sys.argv[3])
loop(20, *calls, name, bytes(size // 2))
before = resource.getrusage(resource.RUSAGE_SELF)
seconds = loop(count, *calls, name, bytes(size))
after = resource.getrusage(resource.RUSAGE_SELF)
times = after.ru_utime - before.ru_utime, after.ru_stime - before.ru_stime
print(seconds, loop(count, *5 * ["".format], name, bytes(size)), *(round(1e9 * t) for t in times))
"""
"""Prints the nanoseconds of a loop of calls, those of the same loop with functions that make none,
and the user and system time of the first."""

PROCESS_LOOP = """
import os, resource, sys, time
count, program = int(sys.argv[1]), sys.argv[2]
def loop(count):
    start = time.perf_counter_ns()
    for _ in range(count):
        os.waitpid(os.posix_spawn(program, [program], {}), 0)
    return time.perf_counter_ns() - start
loop(2)
before = resource.getrusage(resource.RUSAGE_CHILDREN)
seconds = loop(count)
after = resource.getrusage(resource.RUSAGE_CHILDREN)
faults = after.ru_minflt - before.ru_minflt
print(seconds, round(1e9 * (after.ru_utime - before.ru_utime)), faults)
"""
"""Prints the nanoseconds of a loop that starts processes and waits for each, those in which the
processes computed, and the number of their page faults."""

FAULTS = 4096
"""Pages that the loop of page faults touches."""
FAULT_LOOP = """
import mmap, sys, time
pages = int(sys.argv[1])
def loop():
    memory = mmap.mmap(-1, 4096 * pages)
    memory.madvise(getattr(mmap, "MADV_NOHUGEPAGE", 15))
    ones = bytes(pages)
    start = time.perf_counter_ns()
    memory[::4096] = ones
    first = time.perf_counter_ns()
    memory[::4096] = ones
    return 2 * first - start - time.perf_counter_ns()
loop()
print(loop())
"""
"""Prints the nanoseconds of page faults: of touching new pages, less touching them again."""

Wrap: TypeAlias = Callable[[list[str], Path], list[str]]
"""Returns the command that captures a command in a file."""

LINE = re.compile(rb"^(?:(\d+) +)?(\d+\.\d+) (\+\+\+ exited|\+\+\+ killed|---|<\.\.\. )?")
"""A line of strace: the process, the time, and the beginning of a line that is no call."""


@dataclass(frozen=True)
class Estimate:
    """A mean, and half the width of the 90 % prediction interval for another run."""

    value: float
    half_width: float = 0.0


@dataclass(frozen=True)
class CallOverhead:
    """Time that a tracer adds to one call, in seconds."""

    gap_s: Estimate
    """Added to the gap between two calls."""
    duration_s: Estimate
    """Added to the recorded duration of a call."""
    user_s: Estimate
    """Added to the user time of the program: it finds its caches cold after each stop."""
    system_s: Estimate
    """Added to the system time of the program: the kernel stops it for the tracer."""
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
    own: "ProcessorCosts"
    launch_s: float
    """Time that this process takes to start a program, until the program's code runs."""


@dataclass(frozen=True)
class ProcessorCosts:
    """Time of the kernel for what no traced call shows, without a tracer, in seconds."""

    fault_s: float
    """A page fault."""
    process_s: float
    """Start and end of a process, without its page faults."""


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
    """Return the mean of two or more repetitions, and the interval for another run.

    The load of the processors changes between runs, and with it the time of the tracer. A captured
    program is another run.
    """
    from scipy import stats

    count = len(values)
    quantile = float(stats.t.ppf((1 + COVERAGE) / 2, count - 1))
    width = quantile * statistics.stdev(values) * math.sqrt(1 + 1 / count)
    return Estimate(statistics.fmean(values), width)


class OverheadMeasurement:
    """Measures the time that a capture method adds, in interleaved runs with and without it."""

    def __init__(self, wrap: Wrap, directory: Path | None = None) -> None:
        """Prepare the measurement.

        Parameters
        ----------
        wrap
            Returns the command that captures a command in a file.
        directory
            Directory in which the loop's file is made; by default one for temporary files.
        """
        self._wrap = wrap
        self._directory = directory
        self._gaps: list[float] = []
        self._durations: list[float] = []
        self._users: list[float] = []
        self._systems: list[float] = []
        self._plain: list[float] = []
        self._processes: list[tuple[float, float]] = []
        self._faults: list[float] = []
        self._starts: list[float] = []
        self._launches: list[float] = []

    def measure_calls(self, repetitions: int) -> None:
        """Run the loop of calls with and without capture.

        Raises
        ------
        OSError, ValueError, subprocess.SubprocessError
            If the loop or its capture fails.
        """
        with tempfile.TemporaryDirectory(prefix=PREFIX, dir=self._directory) as folder:
            file, trace = (Path(folder).resolve() / name for name in ("file", "trace"))
            file.write_bytes(bytes(4096))
            command = [*_python(CALL_LOOP), str(file), str(ROUNDS), str(SIZE)]
            for _ in range(repetitions):
                plain, own, user, system = _output(command)
                captured_user, captured_system = _output(self._wrap(command, trace))[2:]
                calls = _loop_calls(read_paced(trace))
                # The first gap began before the loop.
                in_gaps = int(calls["gap_ns"][1:].sum()) / (calls.height - 1)
                in_calls = int(calls["duration_ns"].sum()) / calls.height
                self._plain.append(plain)
                self._users.append((captured_user - user) / CALLS / 1e9)
                self._systems.append((captured_system - system) / CALLS / 1e9)
                self._gaps.append((in_gaps - own / CALLS) / 1e9)
                self._durations.append((in_calls - (plain - own) / CALLS) / 1e9)

    def measure_processes(self, repetitions: int) -> None:
        """Run the loop of processes with and without strace, and that of page faults.

        Raises as `measure_calls`.
        """
        command = [*_python(PROCESS_LOOP), str(PROCESSES), PROGRAM]
        with tempfile.TemporaryDirectory(prefix=PREFIX) as folder:
            trace = Path(folder) / "trace"
            for _ in range(repetitions):
                plain, computing, faults = _output(command)
                captured, *_ = _output(self._wrap(command, trace))
                (touched,) = _output([*_python(FAULT_LOOP), str(FAULTS)])
                fault_s = max(touched, 0) / FAULTS / 1e9
                started = (plain - computing) / 1e9 - faults * fault_s
                self._faults.append(fault_s)
                self._starts.append(max(started, 0.0) / PROCESSES)
                per_process = (captured - plain) / PROCESSES / 1e9
                self._processes.append((per_process, _calls_per_process(trace)))
                start = time.perf_counter()
                with subprocess.Popen([PROGRAM], start_new_session=True):
                    # The constructor returns when the program has replaced its copy of this
                    # process.
                    self._launches.append(time.perf_counter() - start)

    def call_overhead(self) -> CallOverhead:
        """Return the time per call, after two or more runs of the loop of calls."""
        spread = statistics.stdev(self._plain) / statistics.fmean(self._plain)
        gap, duration, user, system = map(
            estimate, (self._gaps, self._durations, self._users, self._systems)
        )
        return CallOverhead(gap, duration, user, system, spread)

    def overhead(self) -> TracerOverhead:
        """Return the time per call and process, after two or more runs of both loops."""
        call = self.call_overhead()
        added = [seconds - calls * call.total_s for seconds, calls in self._processes]
        own = ProcessorCosts(statistics.median(self._faults), statistics.median(self._starts))
        return TracerOverhead(call, estimate(added), own, statistics.median(self._launches))


def tracer_cost(wrap: Wrap) -> CallOverhead | None:
    """Return the time that a capture method adds to a call, after a few runs of the loop.

    None if it cannot be measured. `wrap` returns the command that captures a command in a file.
    """
    measurement = OverheadMeasurement(wrap)
    try:
        measurement.measure_calls(FEW)
    except (OSError, ValueError, subprocess.SubprocessError):
        return None
    return measurement.call_overhead()


def _python(script: str) -> list[str]:
    return [sys.executable, "-I", "-S", "-c", script]


def _loop_calls(records: pl.DataFrame) -> pl.DataFrame:
    """Return the records of a captured loop, from its first read to its last write.

    Raises ValueError if they are too few.
    """
    is_data = pl.col("operation").cast(pl.String).is_in(["read", "write"])
    numbered = records.with_row_index("_row")
    rows = numbered.filter(is_data & (pl.col("size") == SIZE))["_row"]
    if len(rows) < ROUNDS:
        raise ValueError(f"{len(rows)} captured reads and writes: expected {2 * ROUNDS}")
    return records.slice(int(rows[0]), int(rows[-1]) - int(rows[0]) + 1)


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
    return list(map(int, done.stdout.split()))


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
