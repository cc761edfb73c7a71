"""Measure time and memory of a simulation against the number of clients.

Runs the checkpoint of scenarios/spider-checkpoint.toml with 1/32 to twice its clients, with targets
in turn and at random. Each run is a process of its own. Writes a table within a minute.
"""

import json
import os
import subprocess
import sys
import time
from pathlib import Path
from statistics import median

SCENARIO = Path(__file__).parents[2] / "scenarios" / "spider-checkpoint.toml"
CLIENTS = (812, 3250, 13_000, 26_000, 52_000)
REPETITIONS = 3


def run(clients: int, first: str) -> tuple[float, float, float, float]:
    """Return simulation and command seconds, memory in MB, and simulated seconds."""
    command = [sys.executable, "-m", "headrace", "run", str(SCENARIO), "--json", "--no-store"]
    sets = [f"clients.count={clients}", f"layout.first={first}"]
    command += [part for each in sets for part in ("--set", each)]
    start = time.perf_counter()
    with subprocess.Popen(command, stdout=subprocess.PIPE) as process:
        assert process.stdout is not None
        output = process.stdout.read()
        _, status, usage = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
    wall = time.perf_counter() - start
    if process.returncode != 0:
        sys.exit(process.returncode)
    result = json.loads(output)
    return result["wall_seconds"], wall, usage.ru_maxrss / 1e3, result["simulated_seconds"]


def main() -> None:
    print("| clients | flows | first target | simulated s | simulation s | command s | memory MB |")
    print("| --- | --- | --- | --- | --- | --- | --- |")
    for first in ("round-robin", "random"):
        for clients in CLIENTS:
            runs = [run(clients, first) for _ in range(REPETITIONS)]
            own, wall, memory, simulated = (median(column) for column in zip(*runs, strict=True))
            print(
                f"| {clients:,} | {4 * clients:,} | {first} | {simulated:.1f} | {own:.2f} "
                f"| {wall:.1f} | {memory:.0f} |"
            )


if __name__ == "__main__":
    main()
