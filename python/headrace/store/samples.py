"""Samples of one figure over several results."""

import statistics
import sys
from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple, TypeAlias

import sqlalchemy as sa

from headrace.store import queries, schema
from headrace.store.queries import LARGE
from headrace.store.record import SIMULATED

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
    runs: Sequence[Mapping[str, Any]]
    """Rows of the results in the catalogue, without their documents."""
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
    environments = queries.environments(connection, ids)
    runs = [
        row | {"environment": environments[row["id"]]}
        for row in queries.rows(connection, schema.runs, ids, without=LARGE)
    ]
    if step is None:
        figures = _by_run(queries.rows(connection, schema.figures, ids))
        repeated = _by_run(queries.rows(connection, schema.repetitions, ids))
    else:
        rows = queries.rows(connection, schema.step_figures, ids, step=step)
        figures = _by_run([row for row in rows if row["repetition"] == 0])
        repeated = _by_run(
            [row | {"number": row["repetition"]} for row in rows if row["repetition"]]
        )
    measured = sum(run["kind"] != SIMULATED for run in runs)
    found: dict[Key, dict[Sample, float]] = defaultdict(dict)
    lacking: set[Key] = set()
    values: dict[Key, list[float]] = defaultdict(list)
    for run in runs:
        own, each = figures[run["id"]], repeated[run["id"]]
        for row in own:
            values[_key(row)].append(row["value"])
        if each and not (run["kind"] != SIMULATED and measured > 1):
            lacking |= {_key(row) for row in own} - {_key(row) for row in each}
            own = each
        for row in own:
            found[_key(row)][_sample(run, row)] = row["value"]
    samples = {key: list(values.values()) for key, values in found.items() if key not in lacking}
    means = {key: mean(samples.get(key, several)) for key, several in values.items()}
    combined = {key: value for key, value in merged(ids).items() if key in means}
    return Group(label, runs, means | combined, samples, bool(combined))


def mean(values: Sequence[float]) -> float:
    """Their mean, also where their sum is no number."""
    largest = max(map(abs, values))
    if largest == 0:
        return 0.0
    if largest < sys.float_info.max / len(values):
        return statistics.fmean(values)
    return statistics.fmean([it / largest for it in values]) * largest


def _key(row: Mapping[str, Any]) -> Key:
    return row["operation"], row["figure"]


def _sample(run: Mapping[str, Any], row: Mapping[str, Any]) -> Sample:
    if run["kind"] != SIMULATED:
        return run["id"], row.get("number")
    return run["scenario_sha256"], row.get("seed", run["seed"])


def _by_run(rows: Sequence[dict[str, Any]]) -> dict[str, list[dict[str, Any]]]:
    found: dict[str, list[dict[str, Any]]] = defaultdict(list)
    for row in rows:
        found[row["run_id"]].append(row)
    return found
