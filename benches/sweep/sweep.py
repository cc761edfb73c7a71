"""Measure how well a sweep uses the cores, and what it costs beyond the simulations.

Runs scenarios/pfssim-write-then-read.toml at 1,000 points on two threads, and then at points that
take a few milliseconds each. Writes a table within ten minutes on a quiet machine.
"""

import argparse
import os
import time
from statistics import median

import headrace as hr

SCENARIO = "scenarios/pfssim-write-then-read.toml"
WORKERS = 2
SHORT = {"workload.0.files": 2}
"""Points whose simulation takes a few milliseconds: the cost of the sweep shows."""


def measured(scenario: hr.Scenario, points: int) -> tuple[float, ...]:
    """Return the seconds of a sweep, the share of the workers' time that they simulated, the share
    of the cores that the process got, and the seconds a point beyond the simulation: of the
    workers' time, and of processor time."""
    begun, cpu = time.perf_counter(), time.process_time()
    found = hr.sweep(
        scenario,
        {"network.latency": f"0.1 ms..0.3 ms:{points}"},
        on=f"threads:{WORKERS}",
        progress=False,
    )
    wall, cpu = time.perf_counter() - begun, time.process_time() - cpu
    assert len(found.runs) == points and not found.failed
    simulated = found.document["run_seconds"]
    return (
        wall,
        simulated / (WORKERS * wall),
        cpu / (WORKERS * wall),
        (WORKERS * wall - simulated) / points,
        (cpu - simulated) / points,
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--points", type=int, default=1000)
    parser.add_argument("--repetitions", type=int, default=3)
    options = parser.parse_args()
    print(f"load of the machine before: {os.getloadavg()[0]:.1f}")
    print(
        "| points | repetitions | s | simulating % | core use %"
        " | ms a point beyond | processor ms a point beyond |"
    )
    print("| --- | --- | --- | --- | --- | --- | --- |")
    hr.sweep(hr.load(SCENARIO, SHORT), {"clients.count": [2]}, progress=False)
    for name, sets in (("whole", {}), ("short", SHORT)):
        scenario = hr.load(SCENARIO, sets)
        runs = [measured(scenario, options.points) for _ in range(options.repetitions)]
        wall, simulating, cores, beyond, work = (
            median(column) for column in zip(*runs, strict=True)
        )
        print(
            f"| {options.points:,} {name} | {options.repetitions} | {wall:.1f}"
            f" | {100 * simulating:.1f} | {100 * cores:.1f}"
            f" | {1e3 * beyond:.2f} | {1e3 * work:.2f} |",
            flush=True,
        )


if __name__ == "__main__":
    main()
