"""One measurement by many ranks: each runs its clients, and the first rank merges their results."""

import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from os import PathLike
from pathlib import Path
from typing import Any, TypeAlias

from headrace import _core, ranks
from headrace.measure.cache import Reads, cache
from headrace.measure.conditions import conditions
from headrace.ranks.mpi_comm import first_error

EARLY = ("interrupted", "failed")
"""Reasons for which a measurement ends early."""
Files: TypeAlias = Callable[[], tuple[dict[str, int], float]]


@dataclass(frozen=True)
class RankResult:
    """Result of one rank."""

    host: str
    rank: int
    name: str
    result: dict[str, Any]
    """Result of the load engine; empty if the rank could not begin."""
    error: BaseException | None
    counters: dict[str, Any]
    reads: Reads | None


def new_directory(below: str | PathLike[str]) -> _core.BenchmarkDirectory:
    """A benchmark's directory, made by the first rank; the others join it.

    Raises OSError if nothing can be made there, ValueError if a rank does not see it.
    """
    here = ranks.current()
    made: list[_core.BenchmarkDirectory] = []

    def make() -> None:
        if here.first:
            made.append(_core.BenchmarkDirectory(Path(below)))

    def join() -> _core.BenchmarkDirectory:
        return made[0] if made else _joined(Path(below), *known[0])

    try:
        here.run_on_all(make)
        known = here.broadcast([(Path(it.path).name, it.mark) for it in made])
        return here.run_on_all(join)
    except BaseException:
        for directory in made:
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
) -> tuple[dict[str, Any], dict[str, Any]]:
    """Return the merged document and the merged engine result of all ranks, on each of them.

    `files` returns the files at the end, and the free share of the file system.

    Raises the error for which a rank could not begin.
    """
    here = ranks.current()
    early = mine.error is not None or mine.result["reason"] in EARLY
    parts = here.gather(mine, early=early)
    error, document, result, views = here.broadcast(parts and _merge(loaded, parts, files))
    if error is not None:
        raise error
    document["calls"] = calls
    view = views.get(here.number)
    warnings = view and conditions(view | {"calls": calls}, direct=direct, free=view["free"])
    warnings_by_host = here.gather(warnings)
    if warnings_by_host is not None:
        _add_warnings(document, [it for it in warnings_by_host if it is not None])
    document, result = here.broadcast((document, result))
    return document, result


def _merge(
    loaded: _core.Loaded, parts: Sequence[RankResult], files: Files
) -> tuple[BaseException | None, dict[str, Any], dict[str, Any], dict[int, dict[str, Any]]]:
    """Merge the results of all ranks.

    Return the error, the document without warnings, the engines' result, and the figures that
    warnings depend on, by the first rank of each host.
    """
    wrong = [(part.name, part.error) for part in parts if part.error is not None]
    if wrong:
        return first_error(wrong, len(parts)), {}, {}, {}
    result = _core.together(loaded, [(part.name, part.result["part"]) for part in parts])
    by_host: dict[str, list[RankResult]] = {}
    for part in parts:
        by_host.setdefault(part.host, []).append(part)
    document = json.loads(result.pop("report"))
    document["files"], free = files()
    hosts = [_host(name, of_it) for name, of_it in by_host.items()]
    document["counters"] = hosts[0]["counters"]
    document["cache"] = cache(
        _reads(parts),
        hosts[0]["counters"]["device"],
        document.pop("reads", None),
        apart=len(parts) == 1,
    )
    document["start"] = _start(parts)
    document["hosts"] = hosts
    views = {}
    for host, of_it in zip(hosts, by_host.values(), strict=True):
        own = _core.together(loaded, [(part.name, part.result["part"]) for part in of_it])
        operations = json.loads(own["report"])["operations"]
        views[of_it[0].rank] = document | host | {"operations": operations, "free": free}
    return None, document, result, views


def _host(name: str, parts: Sequence[RankResult]) -> dict[str, Any]:
    """A host in the document. Its ranks share the processors: their own times add up."""
    own = min(sum(part.counters["cpu_own"] for part in parts), 1.0)
    return {
        "name": name,
        "ranks": [part.rank for part in parts],
        "processes": sum(part.result["processes"] for part in parts),
        "counters": parts[0].counters | {"cpu_own": own},
        "warnings": [],
    }


def _reads(parts: Sequence[RankResult]) -> Reads | None:
    """Return the bytes read by all ranks; None if a rank does not count them."""
    counted = [part.reads for part in parts if part.reads is not None]
    if len(counted) < len(parts):
        return None
    return Reads(sum(it.asked for it in counted), sum(it.from_device for it in counted))


def _start(parts: Sequence[RankResult]) -> dict[str, float]:
    """Return the skew between the starts of the ranks, and its uncertainty, in seconds."""
    clocks = ranks.current().clocks()
    begun = [
        part.result["started_s"] - clock.ahead_s for part, clock in zip(parts, clocks, strict=True)
    ]
    return {
        "skew_s": max(begun) - min(begun),
        "uncertainty_s": max(clock.uncertainty_s for clock in clocks),
    }


def _add_warnings(
    document: dict[str, Any], warnings_by_host: Sequence[list[dict[str, str]]]
) -> None:
    """Add each host's warnings to the host, and all of them, with host names, to the document."""
    document["warnings"] = []
    for host, warnings in zip(document["hosts"], warnings_by_host, strict=True):
        host["warnings"] = warnings
        name = f"{host['name']}: " if len(document["hosts"]) > 1 else ""
        for warning in warnings:
            told_of = warning | {"message": name + warning["message"]}
            document["warnings"].append(told_of)
