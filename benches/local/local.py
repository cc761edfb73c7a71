"""Measure the simulation time of two common workloads on a local file system.

    python benches/local/local.py [ROUNDS]

512 MiB are read sequentially in calls of 64 KiB, from the page cache and from the disk. A million
reads of 8 KiB are random, and compared with a hand-written loop. All run in turn, so that other
load affects them equally. The table has medians and quartiles of the simulation time.
"""

from __future__ import annotations

import json
import statistics
import subprocess
import sys
import tempfile
from collections.abc import Callable
from functools import partial
from pathlib import Path

import headrace as hr
from headrace.cli.screen import steps

HERE = Path(__file__).resolve().parent
LEAST_ROUNDS = 5
SCENARIOS = {
    "512 MiB in order, cached": "sequential",
    "512 MiB in order, from disk": "sequential-from-disk",
    "1,000,000 x 8 KiB at random": "random",
}


def headrace(name: str) -> tuple[float, float]:
    """Return simulated and wall seconds of a scenario."""
    document = hr.run(hr.load(HERE / f"{name}.toml")).document
    return document["simulated_seconds"], document["wall_seconds"]


def by_hand(program: Path) -> tuple[float, float]:
    """Return simulated and wall seconds of the loop."""
    done = subprocess.run([program], check=True, capture_output=True, text=True)
    document = json.loads(done.stdout)
    return document["simulated_seconds"], document["wall_seconds"]


def build(folder: Path) -> Path:
    """Compile the loop and return its path."""
    program = folder / "by_hand"
    command = ["rustc", "-O", "--edition", "2024", "-o", str(program), str(HERE / "by_hand.rs")]
    subprocess.run(command, check=True)
    return program


def main() -> None:
    """Run all in turn, and print the table."""
    rounds = int(sys.argv[1]) if len(sys.argv) > 1 else LEAST_ROUNDS
    if rounds < LEAST_ROUNDS:
        raise SystemExit(f"local.py: ROUNDS = {rounds}: expected at least {LEAST_ROUNDS}")
    with tempfile.TemporaryDirectory() as folder:
        runs: dict[str, Callable[[], tuple[float, float]]] = {
            name: partial(headrace, scenario) for name, scenario in SCENARIOS.items()
        }
        runs["the last, in a loop by hand"] = partial(by_hand, build(Path(folder)))
        taken: dict[str, list[tuple[float, float]]] = {name: [] for name in runs}
        with steps("local") as on_progress:
            for done in range(rounds):
                for number, (name, run) in enumerate(runs.items()):
                    on_progress(done * len(runs) + number, rounds * len(runs), name)
                    taken[name].append(run())
    print(f"medians of {rounds} interleaved runs")
    print(f"{'what':<30} {'simulated s':>12} {'seconds':>9} {'quartiles':>18}")
    for name, samples in taken.items():
        walls = [wall for _, wall in samples]
        low, median, high = statistics.quantiles(walls, n=4, method="inclusive")
        simulated = samples[0][0]
        quartiles = f"{low:.4f} to {high:.4f}"
        print(f"{name:<30} {simulated:>12,.2f} {median:>9.4f} {quartiles:>18}")


if __name__ == "__main__":
    main()
