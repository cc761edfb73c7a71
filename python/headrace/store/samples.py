"""Samples of one figure over several results."""

import statistics
import sys
from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple, TypeAlias

import sqlalchemy as sa

from headrace.store import queries, rows
from headrace.store.rows import FigureRow, RunRow

Key: TypeAlias = tuple[str, str]
"""An operation and a figure."""
Sample: TypeAlias = tuple[Any, ...]
"""Key of a sample."""


Merged: TypeAlias = Callable[[Sequence[str]], Mapping[Key, float]]
"""Function that returns percentiles over several results, where they have histograms."""


def _nothing(_: Sequence[str]) -> Mapping[Key, float]:
    return {}


class Group(NamedTuple):
    """A group of results, and its figures."""

    label: str
    runs: Sequence[RunRow]
    environments: Mapping[str, Mapping[str, Any]]
    """Environment of each result, by its identifier."""
    values: Mapping[Key, float]
    samples: Mapping[Key, Sequence[float]]
    """Independent samples; not there for figures that a result does not have of each of its
    replications or repeats."""
    merged: bool = False
    """True if percentiles are over all operations together."""


def group(
    connection: sa.Connection,
    label: str,
    ids: Sequence[str],
    merged: Merged = _nothing,
    step: str | None = None,
) -> Group:
    """Merge results to a group, oldest first.

    Samples of a simulation are its replications and runs; of those with the same scenario and seed,
    only the newest counts. Samples of measurements are the results. Samples of a single measurement
    are its repetitions, which are more alike than results are. Values are means; percentiles come
    from `merged`. For load sweeps, figures are those of a step by operation, if one is given.
    """
    runs = rows.runs(connection, ids)
    if step is None:
        figures = _by_run(rows.figures(connection, ids))
        repeated = _by_run(rows.repetitions(connection, ids))
    else:
        of_step = rows.step_figures(connection, ids, step)
        figures = _by_run([row for row in of_step if row.number is None])
        repeated = _by_run([row for row in of_step if row.number is not None])
    measured = sum(not run.simulated for run in runs)
    weights: dict[Key, dict[Sample, float]] = defaultdict(dict)
    lacking: set[Key] = set()
    values: dict[Key, list[float]] = defaultdict(list)
    for run in runs:
        own, each = figures[run.id], repeated[run.id]
        for row in own:
            values[row.key].append(row.value)
        if each and (run.simulated or measured <= 1):
            lacking |= {row.key for row in own} - {row.key for row in each}
            own = each
        for row in own:
            weights[row.key][_sample(run, row)] = row.value
    samples = {key: list(values.values()) for key, values in weights.items() if key not in lacking}
    means = {key: mean(samples.get(key, several)) for key, several in values.items()}
    combined = {key: value for key, value in merged(ids).items() if key in means}
    environments = queries.environments(connection, ids)
    return Group(label, runs, environments, means | combined, samples, bool(combined))


def mean(values: Sequence[float]) -> float:
    """Their mean, also where their sum is no number."""
    largest = max(map(abs, values))
    if largest == 0:
        return 0.0
    if largest < sys.float_info.max / len(values):
        return statistics.fmean(values)
    return statistics.fmean([value / largest for value in values]) * largest


def _sample(run: RunRow, row: FigureRow) -> Sample:
    if not run.simulated:
        return run.id, row.number
    # A repetition has its own seed, which an earlier version may not have saved.
    return run.scenario_sha256, run.seed if row.number is None else row.seed


def _by_run(figures: Sequence[FigureRow]) -> dict[str, list[FigureRow]]:
    by_run: dict[str, list[FigureRow]] = defaultdict(list)
    for row in figures:
        by_run[row.run_id].append(row)
    return by_run
