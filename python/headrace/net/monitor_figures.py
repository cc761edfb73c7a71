"""Figures of monitors over the runs of a net: over time, and in the steady state."""

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import TYPE_CHECKING, Any

from headrace.intervals import half_width, means

if TYPE_CHECKING:
    import polars as pl

FIGURES = ("count", "rate", "mean", "deviation", "least", "most")
"""Figures of monitors."""
BATCHES = 20
"""Batches of a run in the steady state (Schmeiser, "Batch size effects in the analysis of
simulation output", 1982: 10 to 30 are enough)."""

Run = Mapping[str, Any]


@dataclass(frozen=True)
class SteadyState:
    """A mean in the steady state."""

    mean: float
    """Mean after the warm-up: firings a second of a counter, else the value."""
    half_width: float | None
    """Half the width of its 95 % confidence interval; None if there is too little to tell."""
    batches: int
    """Number of values that the interval is of: replications, or batches of the only run."""
    correlation: float | None
    """Correlation of neighbouring batches of the only run. With more than about 0.2 the interval
    is too narrow: run longer."""


def figures_of(runs: Sequence[Run], name: str) -> list[Mapping[str, Any]]:
    """Return the figures of a monitor in each run.

    Raises:
        KeyError: There is no such monitor.
    """
    monitors = [row for run in runs for row in run.get("monitors", ()) if row["name"] == name]
    if not monitors:
        known = ", ".join(monitor["name"] for monitor in runs[0].get("monitors", ())) or "none"
        raise KeyError(f"no monitor is called {name!r}; the monitors are: {known}")
    return monitors


def rows(runs: Sequence[Run]) -> Iterator[dict[str, Any]]:
    """Yield a row for each monitor: means over the runs, and half widths of their 95 % intervals.

    The half width of a single run is that of batch means.
    """
    for first in runs[0].get("monitors", ()):
        entries = figures_of(runs, first["name"])
        row: dict[str, Any] = {"path": first["name"], "kind": first["kind"]}
        for figure in FIGURES:
            values = [entry[figure] for entry in entries]
            row[figure] = means(values)
            if len(runs) > 1:
                known = [float(value) for value in values if value is not None]
                row[f"{figure}_half_width"] = half_width(known)
        if len(runs) == 1 and first.get("means"):
            figure = "rate" if first["kind"] == "counter" else "mean"
            steady = steady_state(runs, first["name"])
            row[f"{figure}_half_width"] = None if steady is None else steady.half_width
        row["left_out"] = sum(entry["left_out"] for entry in entries)
        yield row


def transient(runs: Sequence[Run], name: str) -> "pl.DataFrame":
    """Return a monitor over time: means over short intervals, averaged over the runs.

    Returns:
        `time_s` (the end of the interval), `mean`, `half_width` of its 95 % confidence interval
        over the runs, and `runs` that have a value there.
    """
    import polars as pl

    widest = max(run["interval"] for run in runs)
    series = [_joined(run, name, round(widest / run["interval"])) for run in runs]
    table: dict[str, list[Any]] = {"time_s": [], "mean": [], "half_width": [], "runs": []}
    for at in range(max(map(len, series))):
        ratios = [row[at][0] / row[at][1] for row in series if at < len(row) and row[at][1] > 0]
        table["time_s"].append((at + 1) * widest)
        table["mean"].append(means(ratios))
        table["half_width"].append(half_width(ratios))
        table["runs"].append(len(ratios))
    types = {"time_s": pl.Float64, "mean": pl.Float64, "half_width": pl.Float64, "runs": pl.Int64}
    return pl.DataFrame(table, schema=types)


def _joined(run: Run, name: str, factor: int) -> list[tuple[float, float]]:
    """Return sum and weight of a monitor in each interval, `factor` of which are joined to one."""
    (entry,) = figures_of([run], name)
    known = entry.get("means")
    if known is None:
        raise ValueError(f"a {entry['kind']} has no values over time: expected another monitor")
    weights = entry.get("numbers") or [1] * len(known)
    pairs = [((mean or 0.0) * weight, weight) for mean, weight in zip(known, weights, strict=True)]
    return [
        (math.fsum(pair[0] for pair in group), math.fsum(pair[1] for pair in group))
        for group in (pairs[at : at + factor] for at in range(0, len(pairs), factor))
        if len(group) == factor
    ]


def steady_state(
    runs: Sequence[Run], name: str, *, warmup: float | None = None
) -> SteadyState | None:
    """Return a monitor's mean in the steady state; None if nothing was observed after the warm-up.

    With several runs, the interval is over their means. With one, it is by batch means.

    Parameters:
        warmup: Seconds at the start that are left out; by default the warm-up of the run.
    """
    of_runs = []
    for run in runs:
        start = run["time"] - run["measured"] if warmup is None else warmup
        first = math.ceil(start / run["interval"] - 1e-9)
        of_runs.append(_joined(run, name, 1)[first:])
    if len(runs) > 1:
        figures = [_mean(values) for values in of_runs]
        known = [figure for figure in figures if figure is not None]
        if not known:
            return None
        mean = math.fsum(known) / len(known)
        return SteadyState(mean, half_width(known), len(known), None)
    (intervals,) = of_runs
    mean_of_all = _mean(intervals)
    if mean_of_all is None:
        return None
    size = len(intervals) // BATCHES
    if size == 0:
        return SteadyState(mean_of_all, None, 0, None)
    # What remains is left out at the start.
    intervals = intervals[len(intervals) - size * BATCHES :]
    batches = [_mean(intervals[at : at + size]) for at in range(0, len(intervals), size)]
    known = [batch for batch in batches if batch is not None]
    if len(known) < BATCHES:
        return SteadyState(mean_of_all, None, len(known), None)
    return SteadyState(mean_of_all, half_width(known), BATCHES, _correlation(known))


def _mean(intervals: Sequence[tuple[float, float]]) -> float | None:
    weight = math.fsum(interval[1] for interval in intervals)
    return math.fsum(interval[0] for interval in intervals) / weight if weight > 0 else None


def _correlation(values: Sequence[float]) -> float | None:
    """Return the correlation of neighbours."""
    mean = math.fsum(values) / len(values)
    off = [value - mean for value in values]
    squares = math.fsum(difference * difference for difference in off)
    if squares == 0:
        return None
    return math.fsum(a * b for a, b in pairwise(off)) / squares


def collected(runs: Sequence[Run], name: str) -> "pl.DataFrame":
    """Return the rows of a collector: the number of the run if there are several, `time_s`, and
    its columns. Fields of records are columns of their own.

    Raises:
        ValueError: The monitor collects no rows.
    """
    import polars as pl

    frames = []
    for number, entry in enumerate(figures_of(runs, name)):
        if entry["kind"] != "collector":
            raise ValueError(f"{name!r} is a {entry['kind']}: expected a collector")
        columns = {one["name"]: _series(one["colour"], one["values"]) for one in entry["columns"]}
        frame = pl.DataFrame(columns)
        nested = [field for field, type_ in frame.schema.items() if isinstance(type_, pl.Struct)]
        for column in nested:
            fields = frame[column].struct.unnest()
            parts = [fields[field].alias(f"{column}.{field}") for field in fields.columns]
            at = frame.columns.index(column)
            frame = pl.DataFrame([*frame[:, :at], *parts, *frame[:, at + 1 :]])
        if len(runs) > 1:
            frame = frame.insert_column(0, pl.Series("run", [number] * frame.height, pl.Int64))
        frames.append(frame)
    return pl.concat(frames, how="diagonal_relaxed")


def _series(colour: str, values: Sequence[Any]) -> "pl.Series":
    import polars as pl

    types = {"int": pl.Int64, "real": pl.Float64, "time": pl.Float64, "bool": pl.Boolean}
    types |= {"text": pl.String}
    return pl.Series(values, dtype=types.get(colour))
