"""Carrying a scenario's workloads out in a directory."""

from collections.abc import Callable
from os import PathLike
from pathlib import Path
from typing import NamedTuple, TypeAlias

from headrace import _core
from headrace.measure.measurement import Measurement, measured


class Live(NamedTuple):
    """How far a measurement is."""

    preparing: bool
    """Whether files that must be there are still being made."""
    seconds: float
    """Since the processes began."""
    operations: dict[str, tuple[int, int]]
    """Operations done and bytes moved, by operation."""


Progress: TypeAlias = Callable[[Live], object]
"""Called some times a second. What it raises ends the measurement."""


def measure(
    loaded: _core.Loaded,
    below: str | PathLike[str],
    *,
    null: bool = False,
    keep: bool = False,
    progress: Progress | None = None,
) -> Measurement:
    """Carries a scenario's workloads out, in a directory of its own below an existing one.

    That directory is removed at the end unless `keep` is given. `null` makes no calls: what
    remains is what the engine itself costs. On Ctrl-C the measurement ends early and says so
    (`Measurement.partial`).

    Raises:
        ScenarioError: if a workload cannot be carried out on a real file system.
        OSError: if nothing can be made below the directory.
        RunError: if files that must be there cannot be made.
    """
    directory = _core.BenchmarkDirectory(below)
    try:
        result = _core.measure(loaded, directory, null=null, progress=progress and _told(progress))
    finally:
        if not keep:
            directory.remove()
    return measured(result)


def clean(below: str | PathLike[str]) -> tuple[list[Path], list[tuple[Path, str]]]:
    """Removes what killed benchmarks have left below a directory.

    Only directories that carry a benchmark's mark and are not in use. Gives the paths that are
    gone, and those that are not with the reason.

    Raises OSError if the directory cannot be read.
    """
    removed, left = _core.clean_benchmarks(below)
    return [Path(path) for path in removed], [(Path(path), why) for path, why in left]


def _told(progress: Progress) -> Callable[[bool, float, list[tuple[int, int]]], object]:
    names = [name for name, _ in _core.operations()]

    def tell(preparing: bool, seconds: float, operations: list[tuple[int, int]]) -> None:
        done = {name: counts for name, counts in zip(names, operations, strict=False) if counts[0]}
        progress(Live(preparing, seconds, done))

    return tell
