"""Sweeps: one scenario with every combination of some values."""

import itertools
import os
import sys
import threading
from collections.abc import Mapping, Sequence
from concurrent.futures import FIRST_COMPLETED, ThreadPoolExecutor, wait
from typing import Any

import polars as pl
from rich.console import Console
from rich.progress import Progress

from headrace.simulate.result import Result
from headrace.simulate.runs import run
from headrace.simulate.scenario import Scenario

LOOK_S = 0.05


class _Stopped(Exception):
    """The sweep is over before this run."""


def sweep(
    scenario: Scenario,
    values: Mapping[str, Sequence[Any]],
    processes: int | None = None,
    progress: bool | None = None,
) -> pl.DataFrame:
    """Runs a scenario with every combination of values, by path: `{"clients.count": [4, 8]}`.

    Gives the results' summaries under each other, the values as columns before them and the
    bottleneck behind. `processes` runs go on side by side, one for each core if none is given.
    `progress` shows a bar; without it, one is shown on a terminal.

    Raises ScenarioError for values that do not fit before anything is run, then as `run`.
    """
    points = [
        dict(zip(values, combination, strict=True))
        for combination in itertools.product(*values.values())
    ]
    scenarios = [scenario.with_(point) for point in points]
    results = _run_all(scenarios, processes or os.cpu_count() or 1, progress)
    tables = [
        result.summary.select(
            *(pl.lit(value).alias(path) for path, value in point.items()),
            pl.all(),
            pl.lit(result.bottleneck).alias("bottleneck"),
        )
        for point, result in zip(points, results, strict=True)
    ]
    return pl.concat(tables, how="vertical_relaxed") if tables else pl.DataFrame()


def _run_all(scenarios: Sequence[Scenario], processes: int, progress: bool | None) -> list[Result]:
    over = threading.Event()

    def go_on(*_: object) -> None:
        if over.is_set():
            raise _Stopped

    def one(scenario: Scenario) -> Result:
        go_on()
        return run(scenario, progress=go_on)

    shown = sys.stderr.isatty() if progress is None else progress
    bar = Progress(console=Console(stderr=True), disable=not shown, transient=True)
    # Threads do: a run goes on without Python's lock.
    with bar, ThreadPoolExecutor(processes) as pool:
        task = bar.add_task("sweep", total=len(scenarios))
        runs = [pool.submit(one, scenario) for scenario in scenarios]
        try:
            left = set(runs)
            while left:
                # Not for ever: the handlers that polars puts before Python's restart waits
                # for locks, so that Ctrl-C would only be seen after them.
                done, left = wait(left, LOOK_S, FIRST_COMPLETED)
                for ended in done:
                    ended.result()
                bar.advance(task, len(done))
        finally:
            over.set()
    return [ended.result() for ended in runs]
