"""Recordings: samples of a profile directory, and the figures that follow from them."""

from collections.abc import Callable, Iterator
from itertools import pairwise
from pathlib import Path
from typing import Any, NamedTuple

import polars as pl

from headrace.fields import decode_json
from headrace.profile.counters import ALL, Columns, Raw, tree
from headrace.profile.header import LONGEST_S, SAMPLES, Header, read_header

__all__ = ["Header", "Sample", "hosts", "processes", "rates", "read_header", "samples", "smoothed"]

PARTS = "samples-*.jsonl"
"""Samples of single hosts, which a killed recording has not merged."""
DAMAGED = (ArithmeticError, AttributeError, LookupError, TypeError, ValueError)
"""Exceptions that rates raise for samples that are not as they were written."""
KNOWN_FROM_START = ("disk.", "net.")
"""Columns of devices that are not in a sample before their first request."""
MEANS = ("_service_s",)
FEWEST_INTERVALS = 3
"""A recording with fewer intervals also uses the early samples of the first one."""
EARLY_INTERVALS = 10
"""Number of intervals of a recording that uses them, about."""
SHORTEST_EARLY_S = 0.02
"""Shortest interval between them: two ticks, so that processor time is known."""
PROCESS_COLUMNS: dict[str, Any] = {
    "from_s": pl.Float64,
    "to_s": pl.Float64,
    "pid": pl.Int64,
    "name": pl.String,
    "user": pl.Float64,
    "system": pl.Float64,
    "resident_bytes": pl.Float64,
    "read_bytes_per_s": pl.Float64,
    "write_bytes_per_s": pl.Float64,
}


class Sample(NamedTuple):
    """A line of samples."""

    time_s: float
    """Seconds since the start of the recording, on the clock of its first host."""
    host: str
    counters: dict[str, Any]
    """Raw counters by the name of their source."""
    where: str
    """File and line."""


def samples(directory: str | Path, host: str | None = None) -> Iterator[Sample]:
    """Return the samples of a host, by default of the first, in the order of their times.

    The last line of a file may be incomplete: it is left out.

    Raises OSError if there are none, ValueError if another line is damaged.
    """
    directory = Path(directory)
    host = _host(directory, host)
    paths = [directory / SAMPLES]
    if not paths[0].exists():
        paths = sorted(directory.glob(PARTS)) or paths
    last_s = -LONGEST_S
    for path in paths:
        with path.open("rb") as file:
            for number, line in enumerate(file, 1):
                where = f"{path}:{number}"
                try:
                    content = decode_json(line, dict[str, Any])
                    time_s, of_host = float(content["t"]), content["host"]
                except DAMAGED as error:
                    if not line.endswith(b"\n"):
                        break
                    raise ValueError(f"{where}: expected a sample: {error}") from None
                if of_host == host:
                    if not last_s <= time_s <= LONGEST_S:
                        raise ValueError(
                            f"{where}: t = {content['t']}: expected seconds after the line before"
                        )
                    last_s = time_s
                    yield Sample(time_s, of_host, content, where)


def _spread(values: Iterator[Sample]) -> Iterator[Sample]:
    """Return the samples that bound the intervals.

    These are the regular ones. A short recording has early ones too, without those that are closer
    together than a part of it.
    """
    head: list[Sample] = []
    regular = 0
    for sample in values:
        head.append(sample)
        regular += not sample.counters.get("early")
        if regular > FEWEST_INTERVALS:
            break
    least_s = LONGEST_S
    if head and regular <= FEWEST_INTERVALS:
        length_s = head[-1].time_s - head[0].time_s
        # Samples come a little late.
        least_s = max(length_s / EARLY_INTERVALS, 0.9 * SHORTEST_EARLY_S)
    last_s = -LONGEST_S
    dropped: Raw = {}
    for sample in head:
        of_tree = sample.counters.get(tree.NAME)
        if dropped and of_tree is not None:
            of_tree = tree.with_dropped(dropped, of_tree)
            sample = sample._replace(counters=sample.counters | {tree.NAME: of_tree})
        if sample.counters.get("early") and sample.time_s < last_s + least_s:
            dropped = of_tree or {}
            continue
        last_s, dropped = sample.time_s, {}
        yield sample
    yield from values


def hosts(directory: str | Path) -> list[str]:
    """Return the hosts of a recording, that of the first rank first."""
    return read_header(Path(directory)).hosts


def _host(directory: Path, host: str | None) -> str:
    known = hosts(directory)
    if host is not None and host not in known:
        raise ValueError(f'{directory}: no host "{host}": expected one of {", ".join(known)}')
    if not known:
        raise ValueError(f"{directory}: the recording names no host")
    return known[0] if host is None else host


def rates(
    directory: str | Path, host: str | None = None, on_progress: Callable[[int], None] | None = None
) -> pl.DataFrame:
    """Return the figures of a host, by default of the first: a row for each interval.

    All columns are numbers, and null where a figure is unknown. `on_progress` gets the number of
    intervals read.

    Raises OSError if there are no samples, ValueError if they are damaged.
    """
    rows: list[Columns] = []
    for before, after in pairwise(_spread(samples(directory, host))):
        if (seconds := after.time_s - before.time_s) <= 0:
            continue
        row: Columns = {"from_s": before.time_s, "to_s": after.time_s}
        for source in ALL:
            if source.name in before.counters and source.name in after.counters:
                try:
                    row |= source.rates(
                        before.counters[source.name], after.counters[source.name], seconds
                    )
                except DAMAGED as error:
                    raise ValueError(
                        f"{after.where}: the counters of {source.name} are damaged:"
                        f" {type(error).__name__}: {error}"
                    ) from None
        rows.append(row)
        if on_progress is not None:
            on_progress(len(rows))
    names = list(dict.fromkeys(name for row in rows for name in row)) or ["from_s", "to_s"]
    try:
        return pl.DataFrame(
            {name: _column(name, [row.get(name) for row in rows]) for name in names},
            schema=dict.fromkeys(names, pl.Float64),
            strict=False,
        )
    except (TypeError, OverflowError, pl.exceptions.PolarsError) as error:
        raise ValueError(f"{directory}: the samples are damaged: {error}") from None


def _column(name: str, values: list[float | None]) -> list[float | None]:
    """Fill in the zeros of devices before their first request."""
    if name.startswith(KNOWN_FROM_START) and not name.endswith(MEANS):
        first = next((at for at, value in enumerate(values) if value is not None), 0)
        values[:first] = [0.0] * first
    return values


def processes(directory: str | Path, host: str | None = None) -> pl.DataFrame:
    """Return the figures of each process of the tree: a row for each interval and process.

    A process that started within an interval counts from its start; one that ended within it has
    no row. `user` and `system` are processors.

    Raises OSError if there are no samples, ValueError if they are damaged.
    """
    rows = []
    for before, after in pairwise(_spread(samples(directory, host))):
        seconds = after.time_s - before.time_s
        if tree.NAME not in after.counters or seconds <= 0:
            continue
        try:
            then = before.counters.get(tree.NAME, {}).get("processes", {})
            of_tree = after.counters[tree.NAME]
            for number, now in of_tree["processes"].items():
                figures = _process(then.get(number), now, of_tree["begin"], seconds)
                interval = {"from_s": before.time_s, "to_s": after.time_s, "pid": int(number)}
                rows.append(interval | figures)
        except DAMAGED as error:
            raise ValueError(f"{after.where}: the processes are damaged: {error}") from None
    return pl.DataFrame(rows, schema=PROCESS_COLUMNS, strict=False)


def threads(directory: str | Path, host: str | None = None) -> pl.DataFrame:
    """Return the processor time of each thread of a program of one process, as `processes` does.

    Without samples of more than one thread, there are no rows.
    """
    rows = []
    for before, after in pairwise(_spread(samples(directory, host))):
        seconds = after.time_s - before.time_s
        last, of_tree = (one.counters.get(tree.NAME, {}) for one in (before, after))
        now = of_tree.get("thread_times") or {}
        # A process of one thread has its time.
        alone = {number: row[2] + row[3] for number, row in last.get("processes", {}).items()}
        then = last.get("thread_times") or alone
        interval = {"from_s": before.time_s, "to_s": after.time_s, "name": "thread"}
        rows += [
            interval
            | {"pid": int(number), "user": max(time_s - then.get(number, 0.0), 0) / seconds}
            for number, time_s in now.items()
            if seconds > 0
        ]
    return pl.DataFrame(rows, schema=PROCESS_COLUMNS, strict=False)


def _process(
    before: list[Any] | None, after: list[Any], begin: int, seconds: float
) -> dict[str, Any]:
    name, started, user, system, resident, read, written = after
    if before is None or before[1] != started:
        # What an older process did before the recording is not of this interval.
        before = after if started < begin else [name, started, 0.0, 0.0, 0, 0, 0]
    moved = [
        None if a is None or b is None else max(b - a, 0) / seconds
        for a, b in ((before[5], read), (before[6], written))
    ]
    return {
        "name": name,
        "user": max(user - before[2], 0.0) / seconds,
        "system": max(system - before[3], 0.0) / seconds,
        "resident_bytes": float(resident),
        "read_bytes_per_s": moved[0],
        "write_bytes_per_s": moved[1],
    }


def smoothed(frame: pl.DataFrame, samples: int = 10) -> pl.DataFrame:
    """Return the running mean over the last samples of each figure, for charts.

    Means hide short peaks, so that the frame itself is for verdicts (Hindman 2011, section 5.4).
    """
    figures = pl.all().exclude("from_s", "to_s")
    return frame.with_columns(figures.rolling_mean(samples, min_samples=1))
