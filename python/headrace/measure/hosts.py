"""One measurement by many ranks: each runs its clients, and the first rank merges their results."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from os import PathLike
from pathlib import Path
from typing import TypeAlias

import msgspec

from headrace import _core, ranks
from headrace.measure import report
from headrace.measure.cache import Reads, cache
from headrace.measure.conditions import Measured, conditions, ended_early
from headrace.measure.measurement import EngineResult
from headrace.measure.report import EARLY, CounterMeans, Report
from headrace.ranks.mpi_comm import first_error

Files: TypeAlias = Callable[[], tuple[report.Files, float]]


@dataclass(frozen=True)
class RankPart:
    """Part of one rank, as `headrace._core.measure` returns it."""

    part: bytes
    """Histograms and counts, as `headrace._core.together` merges them."""
    started_s: float
    """Start of the processes, by the clock of the rank's host."""
    processes: int
    reason: str
    """Why the rank ended."""


@dataclass(frozen=True)
class RankResult:
    """Result of one rank."""

    host: str
    rank: int
    name: str
    part: RankPart | None
    """None if the rank could not begin."""
    error: BaseException | None
    counters: CounterMeans
    reads: Reads | None


def new_directory(below: str | PathLike[str]) -> _core.BenchmarkDirectory:
    """A benchmark's directory, made by the first rank; the others join it.

    Raises OSError if nothing can be made there, ValueError if a rank does not see it.
    """
    here = ranks.current()
    directories: list[_core.BenchmarkDirectory] = []

    def make() -> None:
        if here.first:
            directories.append(_core.BenchmarkDirectory(Path(below)))

    def join() -> _core.BenchmarkDirectory:
        return directories[0] if directories else _joined(Path(below), *known[0])

    try:
        here.run_on_all(make)
        known = here.broadcast([(Path(folder.path).name, folder.mark) for folder in directories])
        return here.run_on_all(join)
    except BaseException:
        for directory in directories:
            directory.remove()
        raise


def _joined(below: Path, name: str, mark: str) -> _core.BenchmarkDirectory:
    try:
        return _core.BenchmarkDirectory.join(below / name, mark)
    except OSError as error:
        raise ValueError(
            f"{below} is not the directory of the first rank ({name}: {error.strerror}):"
            " expected a directory on a file system that all hosts share"
        ) from None


def merge_ranks(
    loaded: _core.Loaded, mine: RankResult, files: Files, *, direct: bool, calls: str
) -> tuple[Report, EngineResult]:
    """Return the merged report and the merged engine result of all ranks, on each of them.

    `files` returns the files at the end, and the free share of the file system.

    Raises the error for which a rank could not begin.
    """
    here = ranks.current()
    early = mine.part is None or mine.part.reason in EARLY
    parts = here.gather(mine, early=early)
    merged: Merged | BaseException = here.broadcast(
        None if parts is None else _merge(loaded, parts, files, direct, calls)
    )
    if isinstance(merged, BaseException):
        raise merged
    view = merged.views.get(here.number)
    warnings_by_host = here.gather(None if view is None else conditions(view))
    if warnings_by_host is not None:
        _add_warnings(merged.report, [one for one in warnings_by_host if one is not None])
    whole: tuple[Report, EngineResult] = here.broadcast((merged.report, merged.result))
    return whole


@dataclass(frozen=True)
class Merged:
    """Merged results of all ranks."""

    report: Report
    """Without warnings."""
    result: EngineResult
    views: Mapping[int, Measured]
    """Figures that warnings depend on, by the first rank of each host."""


def _merge(
    loaded: _core.Loaded, parts: Sequence[RankResult], files: Files, direct: bool, calls: str
) -> Merged | BaseException:
    """Merge the results of all ranks, or return the error for which a rank could not begin."""
    wrong = [(part.name, part.error) for part in parts if part.error is not None]
    if wrong:
        return first_error(wrong, len(parts)) or wrong[0][1]
    result = _together(loaded, parts)
    by_host: dict[str, list[RankResult]] = {}
    for part in parts:
        by_host.setdefault(part.host, []).append(part)
    engine = result.engine_report()
    pages, engine.reads = engine.reads, None
    there, free = files()
    hosts = [_host(name, of_it) for name, of_it in by_host.items()]
    counters = hosts[0].counters
    whole = Report.of_engine(
        engine,
        calls=calls,
        files=there,
        counters=counters,
        cache=cache(_reads(parts), counters.device, pages, apart=len(parts) == 1),
        start=_start(parts),
        hosts=hosts,
        warnings=[],
    )
    early = ended_early(loaded, engine)
    views = {
        of_it[0].rank: Measured(
            calls=calls,
            processes=host.processes,
            seconds=engine.measured_seconds,
            file_bytes=there.bytes,
            operations=_together(loaded, of_it).engine_report().operations,
            counters=host.counters,
            direct=direct,
            free=free,
            early=early,
        )
        for host, of_it in zip(hosts, by_host.values(), strict=True)
    }
    return Merged(whole, result, views)


def _together(loaded: _core.Loaded, parts: Iterable[RankResult]) -> EngineResult:
    """Merge the parts of ranks, all of which began."""
    begun = [(part.name, part.part.part) for part in parts if part.part is not None]
    return EngineResult(**_core.together(loaded, begun))


def _host(name: str, parts: Sequence[RankResult]) -> report.Host:
    """A host in the report. Its ranks share the processors: their own times add up."""
    own = min(sum(part.counters.cpu_own for part in parts), 1.0)
    return report.Host(
        name,
        ranks=[part.rank for part in parts],
        processes=sum(part.part.processes for part in parts if part.part is not None),
        counters=msgspec.structs.replace(parts[0].counters, cpu_own=own),
        warnings=[],
    )


def _reads(parts: Sequence[RankResult]) -> Reads | None:
    """Return the bytes read by all ranks; None if a rank does not count them."""
    counted = [part.reads for part in parts if part.reads is not None]
    if len(counted) < len(parts):
        return None
    return Reads(sum(count.asked for count in counted), sum(count.from_device for count in counted))


def _start(parts: Sequence[RankResult]) -> report.Skew:
    """Return the skew between the starts of the ranks, and its uncertainty."""
    clocks = ranks.current().clocks()
    begun = [
        part.part.started_s - clock.ahead_s
        for part, clock in zip(parts, clocks, strict=True)
        if part.part is not None
    ]
    return report.Skew(max(begun) - min(begun), max(clock.uncertainty_s for clock in clocks))


def _add_warnings(whole: Report, warnings_by_host: Sequence[list[report.ResultWarning]]) -> None:
    """Add each host's warnings to the host, and all of them, with host names, to the report."""
    for host, warnings in zip(whole.hosts, warnings_by_host, strict=True):
        host.warnings = warnings
        name = f"{host.name}: " if len(whole.hosts) > 1 else ""
        whole.warnings += [
            msgspec.structs.replace(warning, message=name + warning.message) for warning in warnings
        ]
