"""Sweeps: one scenario with every combination of some values."""

import itertools
from collections.abc import Mapping, Sequence
from typing import Any

import polars as pl

from headrace.simulate.parallel_runs import ParallelRuns
from headrace.simulate.scenario import Scenario
from headrace.simulate.schedulers import check_trust
from headrace.simulate.trust import Trust, trust_of


def sweep(
    scenario: Scenario,
    values: Mapping[str, Sequence[Any]],
    processes: int | None = None,
    progress: bool | None = None,
    trust: bool | Trust = False,
) -> pl.DataFrame:
    """Run a scenario with every combination of values.

    Parameters:
        scenario: The scenario to vary.
        values: Values of each field by its path, such as `{"clients.count": [4, 8]}`.
        processes: Number of parallel runs; by default one for each core.
        progress: Whether to show a progress bar; by default on a terminal.
        trust: As in `run`.

    Returns:
        The concatenated summaries of all results (`Result.summary`). The values are columns
        before them, and `bottleneck` is the last column.

    Raises:
        ScenarioError: for an invalid value, before anything is run; otherwise as `run`.
    """
    points = [
        dict(zip(values, combination, strict=True))
        for combination in itertools.product(*values.values())
    ]
    scenarios = [scenario.with_(point) for point in points]
    trusted = trust_of(trust)
    check_trust(scenarios, trusted)
    with ParallelRuns("sweep", processes, progress, trusted) as runs:
        results = runs.results(scenarios)
    tables = [
        result.summary.select(
            *(pl.lit(value).alias(path) for path, value in point.items()),
            pl.all(),
            pl.lit(result.bottleneck).alias("bottleneck"),
        )
        for point, result in zip(points, results, strict=True)
    ]
    return pl.concat(tables, how="vertical_relaxed") if tables else pl.DataFrame()
