"""Runs the common net in Headrace, in a hand-written loop and in SimPy.

The three take turns, so that whatever else the machine does disturbs all
alike; the table gives medians and the spread between the quartiles. Needs
SimPy (`pip install simpy`) and Cargo:

    python benches/kernel/compare.py [ROUNDS]

A request is one think and one service: two firings of a transition in the net.
"""

from __future__ import annotations

import json
import re
import statistics
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
LEAST_ROUNDS = 5
FIRINGS_PER_REQUEST = 2

# Simulated seconds, so that one run takes about a second of the machine's.
SECONDS = {"Headrace": 1000, "hand-written loop": 2000, "SimPy": 20}


@dataclass(frozen=True)
class Sample:
    """One run."""

    requests_per_ms: float
    requests_per_second: float


def build(example: str) -> Path:
    """Build an example of the kernel and return the path of its program."""
    command = [
        "cargo",
        "build",
        "--release",
        "-p",
        "headrace-net",
        "--example",
        example,
    ]
    command.append("--message-format=json")
    output = subprocess.run(command, cwd=ROOT, check=True, capture_output=True, text=True).stdout
    programs = [
        message["executable"]
        for message in map(json.loads, output.splitlines())
        if message.get("executable") and message["target"]["name"] == example
    ]
    return Path(programs[-1])


def run_program(program: Path, seconds: int) -> Sample:
    """Run an example and parse its output."""
    command = [str(program), str(seconds)]
    line = subprocess.run(command, check=True, capture_output=True, text=True).stdout
    found = re.search(r"([\d.]+) requests/ms.* ([\d.]+) million firings/s", line)
    if found is None:
        raise SystemExit(f"compare.py: {program.name}: unexpected output {line!r}")
    firings = float(found[2]) * 1e6
    return Sample(float(found[1]), firings / FIRINGS_PER_REQUEST)


def run_simpy(seconds: int) -> Sample:
    """Run the SimPy model in a process of its own."""
    script = Path(__file__).with_name("common_net_simpy.py")
    command = [sys.executable, str(script), str(seconds)]
    line = subprocess.run(command, check=True, capture_output=True, text=True).stdout
    result = json.loads(line)
    rate = result["requests"] / result["wall_seconds"]
    return Sample(result["requests_per_ms"], rate)


def table(samples: dict[str, list[Sample]]) -> str:
    """Format medians, spread and ratios, one line per simulator."""
    ours = statistics.median(sample.requests_per_second for sample in samples["Headrace"])
    head = f"{'simulator':<18} {'requests/ms':>12} {'requests/s':>12} {'firings/s':>12}"
    lines = [f"{head} {'quartiles of firings/s':>24} {'Headrace is':>14}"]
    for name, runs in samples.items():
        rates = [run.requests_per_second for run in runs]
        median = statistics.median(rates)
        low, _, high = statistics.quantiles(rates, n=4, method="inclusive")
        spread = f"{low * FIRINGS_PER_REQUEST:,.0f} to {high * FIRINGS_PER_REQUEST:,.0f}"
        lines.append(
            f"{name:<18} {statistics.median(run.requests_per_ms for run in runs):>12.3f} "
            f"{median:>12,.0f} {median * FIRINGS_PER_REQUEST:>12,.0f} {spread:>24} "
            f"{ours / median:>8.2f} times"
        )
    return "\n".join(lines)


def main() -> None:
    """Build the programs, run them in turn, and print the table."""
    rounds = int(sys.argv[1]) if len(sys.argv) > 1 else LEAST_ROUNDS
    if rounds < LEAST_ROUNDS:
        raise SystemExit(f"compare.py: ROUNDS = {rounds}: expected at least {LEAST_ROUNDS}")
    net, loop = build("common_net"), build("hand_written")
    samples: dict[str, list[Sample]] = {name: [] for name in SECONDS}
    for _ in range(rounds):
        samples["Headrace"].append(run_program(net, SECONDS["Headrace"]))
        samples["hand-written loop"].append(run_program(loop, SECONDS["hand-written loop"]))
        samples["SimPy"].append(run_simpy(SECONDS["SimPy"]))
    print(f"64 clients, 4 servers, medians of {rounds} interleaved runs")
    print(table(samples))


if __name__ == "__main__":
    main()
