"""What each file operation causes in the protocol below, measured one after the other."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from os import PathLike

import numpy as np

from headrace.measure.benchmark import Live, measure
from headrace.measure.tuning.profilers import Profiler
from headrace.measure.tuning.search import Matrix, Vector
from headrace.measure.workload import load


@dataclass(frozen=True)
class Profile:
    """Protocol operations of each file operation."""

    operations: Sequence[str]
    """File operations, by row."""
    protocol: Sequence[str]
    """Protocol operations, by column."""
    counts: Matrix
    """How many of each one file operation causes, its preparation among them."""

    def wanted(self, target: Mapping[str, float]) -> Vector:
        """A wanted mix by column. Raises ValueError if the protocol never saw one of its
        operations, whatever was done."""
        never = [name for name, share in target.items() if share and name not in self.protocol]
        if never:
            raise ValueError(f"no file operation causes {', '.join(never)}: leave it out")
        return np.array([target.get(name, 0.0) for name in self.protocol])


def workload(weights: Mapping[str, float], amount: int, files: int, processes: int) -> str:
    """A mix of file operations as a scenario."""
    table = ", ".join(f'"{name}" = {weight!r}' for name, weight in weights.items() if weight > 0)
    return (
        f"[clients]\nprocesses = {processes}\n"
        f'[[workload]]\nkind = "operation-mix"\nweights = {{ {table} }}\n'
        f'amount = {amount}\nfiles = {files}\nfile_sizes = {{ "64 KiB" = 1 }}\n'
    )


def seen(
    profiler: Profiler,
    weights: Mapping[str, float],
    below: str | PathLike[str],
    *,
    amount: int,
    files: int,
    processes: int = 1,
) -> dict[str, int]:
    """What the protocol counts while a mix is carried out; making its files is left out.

    Raises ValueError if the profiler cannot be read or the mix fails, KeyboardInterrupt if it
    was interrupted.
    """
    before: dict[str, int] | None = None

    def begins(live: Live) -> None:
        nonlocal before
        if not live.preparing and before is None:
            before = dict(profiler())

    # Without progress from a very short run, what was there before it has to do.
    first = dict(profiler())
    measured = measure(load(workload(weights, amount, files, processes)), below, progress=begins)
    if measured.document["stop"]["reason"] == "interrupted":
        raise KeyboardInterrupt
    if measured.partial:
        raise ValueError(str(measured.document["error"]))
    after, start = profiler(), before if before is not None else first
    return {name: more for name, count in after.items() if (more := count - start.get(name, 0)) > 0}


def profile(
    profiler: Profiler,
    operations: Sequence[str],
    below: str | PathLike[str],
    *,
    amount: int = 500,
    files: int = 100,
    told: Callable[[int, int, str], object] | None = None,
) -> Profile:
    """Carries every file operation out alone, so many times, and reads the protocol's counters.

    Raises as `seen` does.
    """
    rows: list[dict[str, int]] = []
    for number, operation in enumerate(operations):
        if told is not None:
            told(number, len(operations), operation)
        rows.append(seen(profiler, {operation: 1.0}, below, amount=amount, files=files))
    protocol = sorted({name for row in rows for name in row})
    counts = np.array([[row.get(name, 0) / amount for name in protocol] for row in rows])
    return Profile(operations, protocol, counts.reshape(len(operations), len(protocol)))
