"""Measure the cost of scheduling every request with 10,000 clients and 1,000 servers.

    python benches/schedulers/at_scale.py [ROUNDS]

Each run of at_scale.toml is a process of its own, which gives its peak memory. The schedulers run
in turn. `whole` is the time of the process, including the start of Python and the construction of
the net.
"""

from __future__ import annotations

import json
import os
import statistics
import subprocess
import sys
import time
from dataclasses import dataclass
from pathlib import Path

FOLDER = Path(__file__).parent
LEAST_ROUNDS = 3
SETS = {
    "none": ["scheduler.kind=none"],
    "fifo": ["scheduler.kind=fifo", "scheduler.depth=4"],
    "sfq": ["scheduler.kind=sfq", "scheduler.depth=4", "scheduler.weights.G2=4"],
    "dsfq, told each 10 ms": [
        "scheduler.kind=dsfq",
        "scheduler.depth=4",
        "scheduler.weights.G2=4",
        "scheduler.message_interval=10 ms",
    ],
    "fifo in Python": ["scheduler.python=own_fifo:Fifo", "scheduler.options.depth=4"],
}


@dataclass(frozen=True)
class Sample:
    """One run."""

    simulating: float
    whole: float
    mebibytes: float
    events: int


def run(sets: list[str]) -> Sample:
    """Run the scenario in a process of its own."""
    given = [part for each in sets for part in ("--set", each)]
    command = [sys.executable, "-m", "headrace", "run", str(FOLDER / "at_scale.toml")]
    command += ["--json", "--no-store", "--trust", str(FOLDER / "own_fifo.py")]
    start = time.perf_counter()
    with subprocess.Popen(command + given, stdout=subprocess.PIPE) as process:
        output = process.stdout.read() if process.stdout else b""
        _, status, usage = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
    whole = time.perf_counter() - start
    if process.returncode != 0:
        raise SystemExit(
            f"at_scale.py: {' '.join(command + given)}: exit status {process.returncode}"
        )
    document = json.loads(output)
    return Sample(document["wall_seconds"], whole, usage.ru_maxrss / 1024, document["events"])


def main() -> None:
    """Run all in turn, and print medians."""
    rounds = int(sys.argv[1]) if len(sys.argv) > 1 else LEAST_ROUNDS
    if rounds < LEAST_ROUNDS:
        raise SystemExit(f"at_scale.py: ROUNDS = {rounds}: expected at least {LEAST_ROUNDS}")
    samples: dict[str, list[Sample]] = {name: [] for name in SETS}
    for _ in range(rounds):
        for name, runs in samples.items():
            runs.append(run(SETS[name]))
    print(f"10,000 clients, 1,000 servers, 160,000 writes of 4 jobs; medians of {rounds} runs")
    print(f"{'scheduler':<22} {'simulating, s':>14} {'whole, s':>9} {'MiB':>6} {'events':>13}")
    for name, runs in samples.items():
        simulating = statistics.median(it.simulating for it in runs)
        whole = statistics.median(it.whole for it in runs)
        mebibytes = statistics.median(it.mebibytes for it in runs)
        print(
            f"{name:<22} {simulating:>14.2f} {whole:>9.2f} {mebibytes:>6.0f} {runs[0].events:>13,}"
        )


if __name__ == "__main__":
    main()
