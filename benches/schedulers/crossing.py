"""Measure the cost of a scheduler in Python relative to the same one in Rust.

    python benches/schedulers/crossing.py [ROUNDS]

A FIFO of depth 4 precedes each of four servers in scenarios/pfssim-sfq.toml. Both variants run
alternately, so that other load affects both equally, and must give the same latencies. The cost of
a crossing is the time difference per job: arrival, dispatch and finish.
"""

from __future__ import annotations

import statistics
import sys
from pathlib import Path

import headrace as hr

ROOT = Path(__file__).resolve().parents[2]
LEAST_ROUNDS = 5
KINDS: dict[str, dict[str, str | int]] = {
    "Rust": {"scheduler.kind": "fifo", "scheduler.depth": 4},
    "Python": {
        "scheduler.python": "own_fifo:Fifo",
        "scheduler.folder": str(Path(__file__).parent),
        "scheduler.options.depth": 4,
    },
}


def run(name: str) -> tuple[float, int, object]:
    """Return the wall time of a run, its jobs, and its latencies."""
    text = (ROOT / "scenarios" / "pfssim-sfq.toml").read_text()
    before, rest = text.split("[scheduler]\n")
    text = before + '[scheduler]\nposition = "server"\n[[workload]]' + rest.split("[[workload]]")[1]
    sets = KINDS[name] | {"run.stop.time": "100 s"}
    document = hr.run(hr.load(text, sets), trust=True).document
    queue = next(it for it in document["stations"] if it["station"].endswith("scheduler/queue"))
    return document["wall_seconds"], queue["visits"], document["latency"]


def main() -> None:
    """Run both in turn, and print the cost."""
    rounds = int(sys.argv[1]) if len(sys.argv) > 1 else LEAST_ROUNDS
    if rounds < LEAST_ROUNDS:
        raise SystemExit(f"crossing.py: ROUNDS = {rounds}: expected at least {LEAST_ROUNDS}")
    seconds: dict[str, list[float]] = {name: [] for name in KINDS}
    given = []
    jobs = 0
    for _ in range(rounds):
        for name, taken in seconds.items():
            wall, jobs, latency = run(name)
            taken.append(wall)
            given.append(latency)
    if any(each != given[0] for each in given):
        raise SystemExit("crossing.py: internal error: the two schedulers give different latencies")
    print(f"{jobs:,} jobs, medians of {rounds} interleaved runs")
    print(f"{'scheduler in':<14} {'seconds':>9} {'quartiles':>18} {'jobs/s':>12}")
    medians = {}
    for name, taken in seconds.items():
        low, medians[name], high = statistics.quantiles(taken, n=4, method="inclusive")
        quartiles = f"{low:.3f} to {high:.3f}"
        print(f"{name:<14} {medians[name]:>9.3f} {quartiles:>18} {jobs / medians[name]:>12,.0f}")
    extra = (medians["Python"] - medians["Rust"]) / jobs
    print(f"the crossing: {extra * 1e6:.2f} us a job, {1 / extra:,.0f} jobs/s by itself")


if __name__ == "__main__":
    main()
