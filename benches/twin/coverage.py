"""Coverage of the 90 % intervals of twins, on a quiet machine and on a busy one.

    python benches/twin/coverage.py OUT [ROUNDS] [NAME...]

Needs root. On each of four file systems (places.py), `headrace twin` calibrates, predicts 32
benchmarks and measures them: once with nothing else running, and once beside a program that
computes for half of the time. NAMEs are those of the table, such as xfs-busy; the default is all.
Results that OUT already has are not measured again.
"""

from __future__ import annotations

import json
import statistics
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from command_line import parse_arguments
from places import NAMES, running_place

BUSY = "-busy"
LOAD = """
import random, time
chance = random.Random(1)
while True:
    end = time.monotonic() + chance.uniform(0.02, 2)
    while time.monotonic() < end:
        sum(range(10000))
    time.sleep(chance.uniform(0.02, 2))
"""
"""Computes and sleeps for equally long times on average, 0.02 to 2 s each."""


@contextmanager
def load(busy: bool) -> Iterator[None]:
    """Run the load, if it is wanted."""
    if not busy:
        yield
        return
    process = subprocess.Popen([sys.executable, "-c", LOAD])
    try:
        yield
    finally:
        process.kill()
        process.wait()


def measure(name: str, saved: Path, rounds: int) -> None:
    """Save the twin of one file system, quiet or busy."""
    with running_place(name.removesuffix(BUSY), saved.parent) as place, load(name.endswith(BUSY)):
        options = ("--repetitions", str(rounds), "-o", str(saved))
        done = place.headrace("twin", str(place.directory), *options)
        if done.returncode != 0:
            raise SystemExit(f"{name}: {done.stderr.strip()[-400:]}")


def table(out: Path) -> list[str]:
    """Return the rows of all saved twins, and of quiet and busy ones together."""
    lines = [
        "| file system | cases | measurements | median error | in the interval"
        " | median ratio of its ends |",
        "| --- | --- | --- | --- | --- | --- |",
    ]
    groups: dict[str, list[dict[str, Any]]] = {}
    for saved in sorted(out.glob("*.twin.json")):
        name = saved.name.removesuffix(".twin.json")
        points = json.loads(saved.read_text(encoding="utf-8"))["points"]
        lines.append(row(name, points))
        groups.setdefault("all, busy" if name.endswith(BUSY) else "all, quiet", []).extend(points)
    lines += [row(name, points) for name, points in groups.items()]
    if len(groups) > 1:
        lines.append(row("all", [point for points in groups.values() for point in points]))
    return lines


def row(name: str, points: list[dict[str, Any]]) -> str:
    """Return the row of some cases."""
    repetitions = [len(point["measured_s"]) for point in points]
    inside = sum(point["covered"] * n for point, n in zip(points, repetitions, strict=True))
    error = statistics.median(abs(point["error"]) for point in points)
    ratio = statistics.median(point["interval_s"][1] / point["interval_s"][0] for point in points)
    return (
        f"| {name} | {len(points)} | {sum(repetitions)} | {error:.1%}"
        f" | {inside / sum(repetitions):.0%} | {ratio:.2f} |"
    )


def main() -> None:
    names = [f"{place}{load}" for place in NAMES for load in ("", BUSY)]
    out, rounds, chosen = parse_arguments(__doc__, names, rounds=3)
    for name in chosen:
        saved = out / f"{name}.twin.json"
        if not saved.exists():
            print(f"{name}: measuring", file=sys.stderr, flush=True)
            measure(name, saved, rounds)
    print("\n".join(table(out)))


if __name__ == "__main__":
    main()
