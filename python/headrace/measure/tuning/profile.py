"""Protocol operations that each file operation causes, measured one after the other."""

import contextlib
import signal
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import NamedTuple

import numpy as np

from headrace import RunError, _core
from headrace.interruption import defer_signals, record_signals
from headrace.measure.measurement import EngineResult
from headrace.measure.space import space_limit
from headrace.measure.tuning.profilers import Watched
from headrace.measure.tuning.search import Matrix, Vector
from headrace.measure.workload import load

LEAST_SHARE = 1e-6
"""Least share of a file operation that is run in a mix."""


class Refused(ValueError):
    """A file system could not carry a mix out."""


class Counted(NamedTuple):
    """Counts of the protocol during one step."""

    completed: int
    """File operations that were completed."""
    counts: Mapping[str, int]
    """Protocol operations by name."""


@dataclass(frozen=True)
class Profile:
    """Protocol operations of each file operation."""

    operations: Sequence[str]
    """File operations, by row."""
    protocol: Sequence[str]
    """Protocol operations, by column."""
    counts: Matrix
    """Protocol operations that one file operation causes, its preparation included."""
    left_out: Mapping[str, str] = field(default_factory=dict)
    """File operations that the file system refused, and why."""

    def wanted(self, target: Mapping[str, float]) -> Vector:
        """A wanted mix by column. Raises ValueError if the protocol never saw one of its
        operations, whatever was done."""
        never = [name for name, share in target.items() if share and name not in self.protocol]
        if never:
            raise ValueError(
                f"no file operation causes {', '.join(never)}: remove it from the target"
            )
        return self.vector(target)

    def vector(self, shares: Mapping[str, float]) -> Vector:
        """Shares by column."""
        return np.array([shares.get(name, 0.0) for name in self.protocol])

    def corrected(self, shares: Vector, caused: Vector) -> "Profile":
        """Return the profile that would have predicted the counts of a mix. `caused` has the
        protocol operations for each file operation of a mix with these shares. All operations
        of the mix that cause a protocol operation have their counts scaled by the same factor.
        The reason is that operations share cached state and preparation. Operations outside the
        mix are unchanged."""
        predicted = shares @ self.counts
        seen = (predicted > 0) & (caused > 0)
        factors = np.divide(caused, predicted, out=np.ones_like(predicted), where=seen)
        is_used = (shares > LEAST_SHARE)[:, np.newaxis]
        return replace(self, counts=np.where(is_used, self.counts * factors, self.counts))


@dataclass(frozen=True)
class Amount:
    """Number of operations and files of a tuning."""

    alone: int = 500
    """Number of operations when one is measured alone."""
    mixed: int = 50_000
    """Number of operations of a mix. The standard deviation of a share of 27 % is then 0.2
    percentage points (binomial)."""
    files: int = 10
    """Number of files. A process keeps 64 open, in up to four modes each: with more files, reads
    and writes would cost a lookup each."""
    processes: int = 1
    time_s: float | None = None
    """Longest duration of a step; None is no limit."""


def workload(weights: Mapping[str, float], number: int, amount: Amount, seed: int = 1) -> str:
    """Return a mix of file operations as a scenario."""
    table = ", ".join(f'"{name}" = {weight!r}' for name, weight in weights.items() if weight > 0)
    stop = "" if amount.time_s is None else f'stop.time = "{amount.time_s} s"\n'
    return (
        f"[clients]\nprocesses = {amount.processes}\n[run]\nseed = {seed}\n{stop}"
        f'[[workload]]\nkind = "operation-mix"\nweights = {{ {table} }}\n'
        f'amount = {number}\nfiles = {amount.files}\nfile_sizes = {{ "64 KiB" = 1 }}\n'
    )


def count_requests(
    watched: Watched, weights: Mapping[str, float], number: int, amount: Amount, seed: int = 1
) -> Counted:
    """Count protocol operations while a mix runs for a number of operations, or until the time
    limit. Creating and removing the files is not counted.

    Raises ValueError if the profiler cannot be read, RunError if it has ended, Refused if the mix
    fails, KeyboardInterrupt if it was interrupted.
    """
    before: dict[str, int] | None = None
    failed: ValueError | RunError | None = None

    def begins(
        preparing: bool, _seconds: float, _done: Sequence[tuple[int, int]], _made: tuple[int, int]
    ) -> None:
        nonlocal before, failed
        if not preparing and before is None:
            try:
                before = dict(watched.profiler())
            except (ValueError, RunError) as error:
                # An exception here only ends the measurement.
                failed = error
                raise

    loaded = load(workload(weights, number, amount, seed))
    with contextlib.ExitStack() as undo, record_signals() as came:
        with defer_signals(), _blaming(watched):
            directory = _core.BenchmarkDirectory(watched.below)
            undo.callback(_remove, directory, watched)
        with _blaming(watched):
            result = _core.measure(loaded, directory, progress=begins, space=space_limit())
        if failed is not None:
            raise failed
        after = dict(watched.profiler())
    if came:
        # All of this was done by then, and nothing more is wanted.
        signal.raise_signal(came[0])
    report = EngineResult(**result).engine_report()
    if report.stop.reason == "interrupted":
        raise KeyboardInterrupt
    if report.error is not None:
        raise Refused(report.error)
    start = before or {}
    counts = {name: count - start.get(name, 0) for name, count in after.items()}
    return Counted(
        sum(operation.count for operation in report.operations.values()),
        {name: count for name, count in counts.items() if count > 0},
    )


@contextlib.contextmanager
def _blaming(watched: Watched) -> Iterator[None]:
    """Raise the profiler's own error if the profiler has ended."""
    try:
        yield
    except (OSError, RunError):
        watched.profiler()
        raise


def _remove(directory: _core.BenchmarkDirectory, watched: Watched) -> None:
    """Remove it, from behind the profiler if that has ended; signals wait so long."""
    with defer_signals():
        try:
            directory.remove()
        except OSError:
            if watched.original is not None:
                with contextlib.suppress(OSError):
                    _core.clean_benchmarks(watched.original, Path(directory.path).name)


def profile(
    counted: Callable[[Mapping[str, float], int], Counted],
    operations: Sequence[str],
    amount: Amount,
    on_progress: Callable[[int, str], object],
) -> Profile:
    """Run every file operation alone, and read the protocol's counters with `counted`. Counts are
    per completed operation. An operation that the file system refuses, or that is never completed,
    is left out.

    Raises as `counted` does; Refused only if every operation is left out.
    """
    rows: dict[str, Counted] = {}
    left_out: dict[str, str] = {}
    for number, operation in enumerate(operations):
        on_progress(number, operation)
        try:
            row = counted({operation: 1.0}, amount.alone)
        except Refused as error:
            left_out[operation] = str(error)
            continue
        if row.completed:
            rows[operation] = row
        else:
            left_out[operation] = f"none completed {_within(amount)}"
    if not rows:
        raise Refused(_nothing_left(left_out))
    protocol = sorted({name for row in rows.values() for name in row.counts})
    counts = [
        [row.counts.get(name, 0) / row.completed for name in protocol] for row in rows.values()
    ]
    matrix = np.array(counts).reshape(len(rows), len(protocol))
    return Profile(list(rows), protocol, matrix, left_out)


def _within(amount: Amount) -> str:
    """The time limit of a step in words."""
    return "" if amount.time_s is None else f"in {amount.time_s:g} s (--time)"


def _nothing_left(left_out: Mapping[str, str]) -> str:
    """Return the error for a profile without any operation."""
    reasons = "; ".join(f"{operation}: {why}" for operation, why in left_out.items())
    return reasons or "expected at least one file operation"
