"""Measure the cost of a placement in Python relative to the same one in Rust.

    python benches/schedulers/placement.py [ROUNDS]

Each of 8 clients writes 1,250 files of 4 KiB to four servers, one server a file, in turn. Both
variants run alternately, so that other load affects both equally. The cost of a crossing is the
difference of the processor times per file: Python is called once for each.
"""

from __future__ import annotations

import statistics
import sys
import time
from pathlib import Path

import headrace as hr

HERE = Path(__file__).parent
LEAST_ROUNDS = 5
FILES = 10_000
SCENARIO = """
[clients]
count = 8
[servers]
count = 4
device = { read_rate = "1 GB/s", write_rate = "1 GB/s" }
[network]
bandwidth = "10 Gbit/s"
latency = "10 us"
[layout]
unit = "1 MiB"
[[workload]]
kind = "mdtest"
files = 1250
bytes = "4 KiB"
"""
KINDS: dict[str, dict[str, str | int]] = {
    "Rust": {"layout.servers": 1},
    "Python": {
        "layout.kind": "python",
        "layout.python": "own_placement:InTurn",
        "layout.folder": str(HERE),
    },
}


def run(name: str) -> tuple[float, int]:
    """Return the processor time of a run, and the bytes that it wrote."""
    scenario = hr.load(SCENARIO, KINDS[name])
    start = time.process_time()
    document = hr.run(scenario, trust=True).document
    return time.process_time() - start, document["operations"]["write"]["bytes"]


def main() -> None:
    """Run both in turn, and print the cost."""
    rounds = int(sys.argv[1]) if len(sys.argv) > 1 else LEAST_ROUNDS
    if rounds < LEAST_ROUNDS:
        raise SystemExit(f"placement.py: ROUNDS = {rounds}: expected at least {LEAST_ROUNDS}")
    seconds: dict[str, list[float]] = {name: [] for name in KINDS}
    written = {}
    for _ in range(rounds):
        for name, taken in seconds.items():
            spent, written[name] = run(name)
            taken.append(spent)
    if len(set(written.values())) != 1:
        raise SystemExit("placement.py: internal error: the two placements write other bytes")
    print(f"{FILES:,} files, medians of {rounds} interleaved runs")
    medians = {name: statistics.median(taken) for name, taken in seconds.items()}
    for name, median in medians.items():
        print(f"{name:<8} {median:.3f} s")
    extra = (medians["Python"] - medians["Rust"]) / FILES
    print(f"the crossing: {extra * 1e6:.2f} us a file")


if __name__ == "__main__":
    main()
