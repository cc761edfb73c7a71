"""Measure how well a sweep uses the cores, and what it costs beyond the simulations.

Runs scenarios/pfssim-write-then-read.toml at 1,000 points on two threads, and then at points that
take less than a millisecond each. Then compares Dask with threads, as dask_against_threads.py
does. Writes both within five minutes.

Other work on the machine lowers the core use. The share of time in which the threads had a run in
progress is then that of a quiet machine.
"""

import argparse
import os
import time
from collections.abc import Mapping
from statistics import median
from typing import Any
from unittest.mock import patch

from dask_against_threads import compare

import headrace as hr
from headrace import _core
from headrace.sweeps.engines import threads
from headrace.sweeps.task import Outcome, carry_out

SCENARIO = "scenarios/pfssim-write-then-read.toml"
WORKERS = 2
SHORT: Mapping[str, Any] = {"workload.0.files": 2}
"""Points whose simulation takes less than a millisecond: the cost of the sweep shows."""
ALONE = 100
"""Simulations without a sweep."""


def alone_s(scenario: hr.Scenario) -> float:
    """Return the processor seconds of a simulation without a sweep."""
    changed = [scenario.loaded.with_sets([f"run.seed={seed}"]) for seed in range(1, ALONE + 1)]
    begun = time.process_time()
    for loaded in changed:
        _core.run(loaded)
    return (time.process_time() - begun) / ALONE


def measured(scenario: hr.Scenario, points: int) -> tuple[float, ...]:
    """Return the seconds of a sweep, the share of the cores that it used, the share of its threads'
    time with a run in progress, and the processor seconds a point beyond the simulation."""
    in_progress: list[float] = []

    def timed(*arguments: Any) -> Outcome:
        begun = time.perf_counter()
        try:
            return carry_out(*arguments)
        finally:
            in_progress.append(time.perf_counter() - begun)

    begun, processor = time.perf_counter(), time.process_time()
    with patch.object(threads, "carry_out", timed):
        found = hr.sweep(
            scenario,
            {"network.latency": f"0.1 ms..0.3 ms:{points}"},
            on=f"threads:{WORKERS}",
            progress=False,
        )
    wall, processor = time.perf_counter() - begun, time.process_time() - processor
    assert len(found.runs) == points and not found.failed
    whole = WORKERS * wall
    beyond = processor / points - alone_s(scenario)
    return wall, processor / whole, sum(in_progress) / whole, beyond


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--points", type=int, default=1000)
    parser.add_argument("--repetitions", type=int, default=3)
    options = parser.parse_args()
    print(f"load of the machine: {os.getloadavg()[0]:.1f}")
    print("| points | s | core use % | threads busy % | ms a point beyond the simulation |")
    print("| --- | --- | --- | --- | --- |")
    hr.sweep(hr.load(SCENARIO, SHORT), {"clients.count": [2]}, progress=False)
    for name, sets in (("", {}), (" short", SHORT)):
        scenario = hr.load(SCENARIO, sets)
        runs = [measured(scenario, options.points) for _ in range(options.repetitions)]
        wall, used, busy, beyond = (median(column) for column in zip(*runs, strict=True))
        print(
            f"| {options.points:,}{name} | {wall:.1f} | {100 * used:.1f} | {100 * busy:.1f}"
            f" | {1e3 * beyond:.2f} |",
            flush=True,
        )
    share, spent = compare(runs=200, rounds=5, seconds=5)
    print(f"Dask: {100 * share:.0f} % of the throughput of threads")
    print(f"Threads: {100 * spent:.0f} % of the processor time of Dask")


if __name__ == "__main__":
    main()
