"""Compare Headrace's results with those of other tools.

    python benches/load/agreement DIR [ROUNDS] [TOOL...]

ROUNDS is at least 4: two rounds, one in either order, are one sample, and quartiles need two
samples.

Each case runs the same workload in one directory: the same file, block size, order and end.
Headrace and the tool run in turn after an idle pause of the disk, in alternating order, so that
other load affects both equally. The table has medians, and the median and quartiles of the ratio of
Headrace to the tool, each the geometric mean of two rounds. A missing tool is named and skipped.
docs/how-to/bench.md explains the ratios.
"""

from __future__ import annotations

import os
import shutil
import statistics
import sys
import time
from pathlib import Path

import bonnie
import cp
import dbench
import dd
import fio
import iozone
from ground import REST, Case, Figures, Ground

ROUNDS = 8
FEWEST_ROUNDS = 4
"""Two samples of two rounds each."""
CASES: list[Case] = [case for tool in (fio, dd, iozone, bonnie, cp, dbench) for case in tool.CASES]


def turn(case: Case, ground: Ground, first: bool) -> tuple[Figures, Figures]:
    """Return the results of Headrace and of the tool in one round."""
    sides = {}
    for ours in (True, False) if first else (False, True):
        # What the last one has left dirty, and what its removal frees, is nobody's burden, and
        # the host of a virtual disk has the common file in memory for both.
        os.sync()
        ground.read_common()
        if case.cold:
            time.sleep(REST)
        sides[ours] = (case.ours if ours else case.theirs)(ground)
    return sides[True], sides[False]


def table(case: Case, rounds: list[tuple[Figures, Figures]]) -> None:
    """Format a row for each result."""
    for name, unit in case.units.items():
        pairs = [(a[name], b[name]) for a, b in rounds if name in a and name in b]
        row = f"{case.tool:9} {case.name:36} {name:18}"
        if len(pairs) < FEWEST_ROUNDS:
            print(f"{row} {case.tool} told it in {len(pairs)} of {len(rounds)} rounds: too quick")
            continue
        scale = 1e6 if unit == "MB/s" else 1.0
        ours, theirs = (statistics.median(side) / scale for side in zip(*pairs, strict=True))
        # Who comes second may find a device that is warmer, or busier: two rounds, one in either
        # order, are one sample.
        both = zip(pairs[::2], pairs[1::2], strict=False)
        ratios = [statistics.geometric_mean([a / b, c / d]) for (a, b), (c, d) in both]
        low, ratio, high = statistics.quantiles(ratios, method="inclusive")
        print(
            f"{row} {unit:>5} {ours:9.1f} {theirs:9.1f} {ratio:6.3f}  {low:.3f} to {high:.3f}",
            flush=True,
        )


def main() -> None:
    """Run all cases in turn, and print the table."""
    if len(sys.argv) < 2:
        raise SystemExit(
            "agreement: expected DIR, an existing directory on the file system to measure"
        )
    rounds = int(sys.argv[2]) if len(sys.argv) > 2 else ROUNDS
    if rounds < FEWEST_ROUNDS:
        raise SystemExit(
            f"agreement: ROUNDS = {rounds}: expected {FEWEST_ROUNDS} or more: two rounds, one"
            " in either order, are one sample, and quartiles need two samples"
        )
    tools = sys.argv[3:] or sorted({case.tool for case in CASES})
    for tool in tools:
        if not shutil.which(tool):
            print(f"{tool}: program not found, so its cases are missing: install it")
    cases = [case for case in CASES if case.tool in tools and shutil.which(case.tool)]
    ground = Ground(Path(sys.argv[1]))
    figures: list[list[tuple[Figures, Figures]]] = [[] for _ in cases]
    try:
        for number in range(rounds):
            for case, done in zip(cases, figures, strict=True):
                done.append(turn(case, ground, first=number % 2 == 0))
            print(f"round {number + 1} of {rounds}", file=sys.stderr, flush=True)
    finally:
        ground.remove()
    print(f"{rounds} rounds in {sys.argv[1]}")
    print(
        f"{'tool':9} {'case':36} {'figure':18} {'unit':>5} {'Headrace':>9} {'tool':>9} "
        f"{'ratio':>6}  quartiles"
    )
    for case, done in zip(cases, figures, strict=True):
        table(case, done)


if __name__ == "__main__":
    main()
