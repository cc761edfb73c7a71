"""Carrying a scenario's workloads out in a directory."""

import contextlib
import os
import signal
import time
import tomllib
from collections.abc import Callable
from dataclasses import replace
from os import PathLike
from pathlib import Path
from typing import NamedTuple, TypeAlias

from headrace import _core, ranks
from headrace._core import RunError
from headrace.environment import of_directory
from headrace.interruption import defer_signals, import_numpy, record_signals
from headrace.measure import hosts, mpi_io
from headrace.measure.cache import cache, reads_now, reads_since
from headrace.measure.calls import COLLECTIVE, MPI_IO
from headrace.measure.conditions import Measured, conditions, ended_early
from headrace.measure.counters import Counters
from headrace.measure.measurement import EngineResult, Measurement, measured
from headrace.measure.removal import cleanup_failures, remove_directory
from headrace.measure.report import Files, Report, ResultWarning
from headrace.measure.space import space_limit
from headrace.measure.workload import load
from headrace.progress_bar import Advance, run_progress
from headrace.trace.readable import Traces, readable_traces

import_numpy()


class Live(NamedTuple):
    """Progress of a measurement.

    Examples:
        >>> def show(live: hr.measure.Live) -> None:
        ...     states.append("remove" if live.removing else "run")
        >>> states = []
        >>> sets = {"clients.count": 2, "workload.files": 4}
        >>> workload = hr.measure.load("scenarios/striped-read.toml", sets)
        >>> measured = hr.measure.measure(workload, ".", progress=show)
        >>> states[-1]
        'remove'
    """

    preparing: bool
    """True while files are being prepared."""
    seconds: float
    """Seconds since the processes began."""
    operations: dict[str, tuple[int, int]]
    """Operations done and bytes moved, by operation."""
    removing: bool = False
    """True when all is measured and files are being removed."""
    removed: int = 0
    """Number of names removed so far."""
    prepared: tuple[int, int] = (0, 0)
    """Files, directories and links made, and those to be made."""


EngineProgress: TypeAlias = Callable[[bool, float, list[tuple[int, int]], tuple[int, int]], object]
"""Callback of the engine: whether files are being made, seconds, operations and bytes by operation,
and names made and to be made."""
Progress: TypeAlias = Callable[[Live], object]
"""Callback for the progress of a measurement, called some times a second. An exception that it
raises ends the measurement."""


def measure(
    loaded: _core.Loaded,
    below: str | PathLike[str],
    *,
    calls: str = "posix",
    settle: float = 0.0,
    keep: bool = False,
    progress: bool | Progress | None = None,
) -> Measurement:
    """Run a scenario's workloads in a new directory below an existing one, and measure them.

    Parameters:
        loaded: The scenario.
        below: The existing directory.
        calls: `"posix"` system calls, `"io-uring"` where it has the operation, or `"null"` for no
            calls, which measures the engine itself. `"mpi-io"` and `"mpi-io-collective"` run
            workloads of kind "ior" by MPI.File.
        settle: Seconds to wait between preparation and measurement.
        keep: Whether to leave the directory in place at the end.
        progress: Whether to show a progress bar; by default on a terminal and in Jupyter. Or a
            callback some times a second.

    Returns:
        The measurement. On Ctrl-C it ends early, and `Measurement.partial` is true.

    Raises:
        ScenarioError: if a workload cannot be run on a real file system, or it ended before
            statistics began.
        ValueError: if MPI-IO is needed and mpi4py is not there.
        OSError: if the directory cannot be created.
        RunError: if files of the workload cannot be created.

    Examples:
        >>> sets = {"clients.count": 2, "workload.files": 4}
        >>> workload = hr.measure.load("scenarios/striped-read.toml", sets)
        >>> measured = hr.measure.measure(workload, ".")
        >>> measured.report.operations["read"].bytes
        8388608
        >>> measured.report.latency["read"].p99 < 1
        True
    """
    if calls in (MPI_IO, COLLECTIVE):
        mpi_io.read_accesses(loaded, ranks.current().size)
    environment = of_directory(below)
    with (
        run_progress(loaded.name, progress, _drawing) as report,
        readable_traces(loaded) as traces,
        record_signals() as came,
    ):
        measurement = _measure_and_remove(below, loaded, traces, calls, settle, keep, report)
    measurement.report.environment = environment
    if not came or ranks.count() > 1:
        return measurement
    return replace(measurement, stop_signal=came[0])


def _drawing(advance: Advance) -> Progress:
    """Return a callback that draws a bar."""

    def report(live: Live) -> None:
        count = sum(done for done, _ in live.operations.values())
        state = "removing, " if live.removing else ""
        if live.preparing:
            state = f"preparing, {live.prepared[0]:,} of {live.prepared[1]:,} files, "
        advance(count, None, f"{state}{live.seconds:,.0f} s, {count:,} operations")

    return report


def _measure_and_remove(
    below: str | PathLike[str],
    loaded: _core.Loaded,
    traces: Traces,
    calls: str,
    settle: float,
    keep: bool,
    progress: Progress | None,
) -> Measurement:
    directory = None
    try:
        with defer_signals():
            directory = hosts.new_directory(below)
        measurement = measure_in(
            directory, loaded, traces=traces, calls=calls, settle=settle, progress=progress
        )
        _check_measured(measurement.report, loaded)
    except BaseException as error:
        if directory is not None:
            left = remove_directory(
                directory, interrupted=True, on_progress=removal_callback(progress)
            )
            if left is not None:
                error.add_note(left.message)
        raise
    if not keep:
        report = measurement.report
        left = remove_directory(
            directory,
            interrupted=report.stop.reason == "interrupted",
            on_progress=removal_callback(progress),
        )
        if left is not None:
            report.warnings.append(left)
    return measurement


def _check_measured(report: Report, loaded: _core.Loaded) -> None:
    """Raise ScenarioError if the run came to its end and nothing was measured."""
    if report.operations or report.stop.early:
        return
    run = tomllib.loads(loaded.toml).get("run", {})
    warm_up = run.get("warm_up", "0 s")
    if report.stop.reason == "time":
        raise _core.ScenarioError(
            f'run.stop.time = "{run["stop"]["time"]}": no request completed after the warm-up of'
            f" {warm_up}; expected a longer run or a higher load"
        )
    raise _core.ScenarioError(
        f'run.warm_up = "{warm_up}": the workload ended after'
        f" {report.measured_seconds:.3g} s, before statistics began; expected a shorter"
        " warm-up or a longer workload"
    )


def removal_callback(progress: Progress | None) -> Callable[[int], object] | None:
    """Return a callback for the number of removed names; None without `progress`. It first reports
    0."""
    if progress is None:
        return None
    on_progress = progress

    def report(gone: int) -> None:
        on_progress(Live(False, 0.0, {}, removing=True, removed=gone))

    # Ctrl-C during the removal must not lose the measurement.
    with contextlib.suppress(KeyboardInterrupt, SystemExit):
        report(0)
    return report


DIRECTORY_GONE = ResultWarning(
    "directory-gone",
    "the benchmark's directory is no longer where it was made: it was unmounted, moved or removed"
    " meanwhile, and what was open went on",
)


def measure_in(
    directory: _core.BenchmarkDirectory,
    loaded: _core.Loaded,
    *,
    traces: Traces = (),
    calls: str = "posix",
    settle: float = 0.0,
    progress: Progress | None = None,
) -> Measurement:
    """Measure as `measure` does, in a directory that several measurements share.

    `traces` come from `readable_traces`.
    """
    counters = Counters(directory.path)
    before = reads_now()
    report = _progress_callback(progress, counters, settle)
    # Also if only one of several ranks takes part: Ctrl-C must reach it through the others.
    if ranks.count() > 1 or calls in (MPI_IO, COLLECTIVE):
        return _measure_ranks(directory, loaded, traces, calls, report, counters)
    result = EngineResult(
        **_core.measure(
            loaded, directory, traces=traces, calls=calls, progress=report, space=space_limit()
        )
    )
    counters.sample(at_once=True)
    engine = result.engine_report()
    files, free = _files(directory)
    means = counters.summary()
    run = Measured(
        calls=str(calls),
        processes=engine.processes,
        seconds=engine.measured_seconds,
        file_bytes=files.bytes,
        operations=engine.operations,
        counters=means,
        direct=_is_direct(loaded),
        free=free,
        early=ended_early(loaded, engine),
    )
    warnings = conditions(run)
    if not directory.is_there():
        warnings.append(DIRECTORY_GONE)
    pages, engine.reads = engine.reads, None
    whole = Report.of_engine(
        engine,
        calls=str(calls),
        files=files,
        counters=means,
        cache=cache(reads_since(before), counters.device, pages),
        warnings=warnings,
    )
    return measured(whole, result, counters.frame())


def _measure_ranks(
    directory: _core.BenchmarkDirectory,
    loaded: _core.Loaded,
    traces: Traces,
    calls: str,
    report: EngineProgress,
    counters: Counters,
) -> Measurement:
    """Run this rank's part of a measurement and return the merged result of all ranks."""
    here = ranks.current()
    here.begin(_core.hosts_of_each(loaded, here.size))
    before = reads_now()
    part: hosts.RankPart | None = None
    error: BaseException | None = None
    try:
        if calls in (MPI_IO, COLLECTIVE):
            outcome = mpi_io.run(loaded, directory, calls, report)
        else:
            outcome = _core.measure(
                loaded,
                directory,
                traces=traces,
                calls=calls,
                progress=report,
                share=(here.rank, here.size),
                others=here,
                space=space_limit(),
            )
        part = hosts.RankPart(**outcome)
    except (Exception, KeyboardInterrupt) as raised:
        error = raised
    counters.sample(at_once=True)
    reads = reads_since(before)
    mine = hosts.RankResult(
        here.host, here.number, here.name(), part, error, counters.summary(), reads
    )
    whole, result = hosts.merge_ranks(
        loaded, mine, lambda: _files(directory), direct=_is_direct(loaded), calls=str(calls)
    )
    return measured(whole, result, counters.frame())


def _files(directory: _core.BenchmarkDirectory) -> tuple[Files, float]:
    """The files in it, and which part of the file system is free."""
    try:
        count, size = directory.usage()
        room = os.statvfs(directory.path)
    except OSError:
        # The directory is gone, or its device has failed; the measurement remains valid.
        return Files(0, 0), 1.0
    free = room.f_bavail / room.f_blocks if room.f_blocks else 1.0
    return Files(count, size), free


def _is_direct(loaded: _core.Loaded) -> bool:
    """Return whether all workloads bypass the page cache (O_DIRECT)."""
    workloads = tomllib.loads(loaded.toml)["workload"]
    return all(workload.get("io", {}).get("direct", False) for workload in workloads)


def clean(below: str | PathLike[str]) -> tuple[list[Path], list[tuple[Path, str]]]:
    """Remove the directories that killed benchmarks left below a directory.

    Only directories with a benchmark's mark that are not in use are removed. Return the removed
    paths, and the others with the reason.

    Raises OSError if the directory cannot be read.

    Examples:
        >>> hr.measure.clean(".")
        ([], [])
    """
    removed, left = _core.clean_benchmarks(below)
    return [Path(path) for path in removed], [(Path(path), why) for path, why in left]


def _progress_callback(
    progress: Progress | None, counters: Counters, settle: float
) -> EngineProgress:
    names = [name for name, _, _ in _core.operations()]
    prepared = False

    def report(
        preparing: bool, seconds: float, operations: list[tuple[int, int]], files: tuple[int, int]
    ) -> None:
        nonlocal prepared
        if not preparing and not prepared:
            prepared = True
            time.sleep(settle)
            counters.restart()
        counters.sample()
        if progress is not None:
            counted = zip(names, operations, strict=False)
            done = {name: counts for name, counts in counted if counts[0]}
            progress(Live(preparing, seconds, done, prepared=files))

    return report


def measure_strict(
    text: str, below: str | PathLike[str], *, calls: str = "posix", settle: float = 0.0
) -> Measurement:
    """Run the scenario in a text to its end.

    Raises as `headrace.measure.measure` does, RunError if an operation fails, and KeyboardInterrupt
    or the exception of a signal, even if it arrived late. Notes of the exception name directories
    that were not removed.

    Examples:
        >>> sets = {"clients.count": 2, "workload.files": 4}
        >>> workload = hr.measure.load("scenarios/striped-read.toml", sets)
        >>> hr.measure.measure_strict(workload.toml, ".")
        <Measurement of 'striped read': workload>
    """
    measurement = measure(load(text), below, calls=calls, settle=settle)
    try:
        if measurement.stop_signal is not None:
            signal.raise_signal(measurement.stop_signal)
        if measurement.report.stop.reason == "interrupted":
            raise KeyboardInterrupt
        if measurement.partial:
            raise RunError(measurement.report.error)
    except BaseException as error:
        for message in cleanup_failures(measurement.report.warnings):
            error.add_note(message)
        raise
    return measurement
