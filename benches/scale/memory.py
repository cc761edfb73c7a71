"""Measure the memory of one run against clients, servers and requests in flight.

Each run is a process of its own. Its memory is the peak resident set within `headrace.run`, less
the resident set before it. A line is fitted through the points of a table; its slope is the memory
of one more client, server or request. Also writes events per second against size, and the events
in one lookahead window (the latency of the network), which bound a parallel kernel.

    python benches/scale/memory.py            # some minutes, and 6 GB of memory
    python benches/scale/memory.py --quick    # up to a tenth of the size
"""

import json
import subprocess
import sys
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from statistics import median

ROOT = Path(__file__).parents[2]
STRIPED = ROOT / "scenarios" / "striped-read.toml"
CHECKPOINT = ROOT / "scenarios" / "spider-checkpoint.toml"
REPETITIONS = 3
LONG_S = 10.0
"""A run that takes longer is not repeated: memory is the same each time."""
CHILD = """
import json, sys
from headrace import load, run

def status(key):
    for line in open("/proc/self/status"):
        if line.startswith(key):
            return 1024 * int(line.split()[1])

scenario = load(sys.argv[1], json.loads(sys.argv[2]))
run(load(sys.argv[1], json.loads(sys.argv[2]) | {"clients.count": 1}))
open("/proc/self/clear_refs", "w").write("5")  # VmHWM begins anew
before = status("VmRSS")
document = run(scenario).document
latency = [it.amount for it in scenario.quantities if it.path == "network.latency"][0]
parts = {}
for station in document["stations"]:
    part = "/".join(station["station"].split("/")[:2])
    visits, copies = parts.get(part, (0, 1))
    parts[part] = (visits + station["visits"], max(copies, station["copies"]))
print(json.dumps({
    "before": before, "bytes": status("VmHWM") - before, "events": document["events"],
    "wall_s": document["wall_seconds"], "simulated_s": document["simulated_seconds"],
    "latency_s": latency, "parts": parts,
}))
"""


@dataclass(frozen=True)
class Table:
    """Runs that differ by one number."""

    title: str
    scenario: Path
    path: str
    """The field that varies."""
    counts: tuple[int, ...]
    sets: Mapping[str, object]
    unit: str
    """What the slope is of."""
    each: int = 1
    """Units for each count."""
    with_servers: bool = False
    """Whether servers grow with the clients."""

    def values(self, count: int) -> dict[str, object]:
        """Return what the run with a count sets."""
        if self.path == "layout.unit":
            # A request of 64 MiB is striped over `count` servers, one piece each.
            return {**self.sets, "layout.unit": f"{64 * 1024 // count} KiB"}
        if self.with_servers:
            return {**self.sets, self.path: count, "servers.count": max(count // CLIENTS, 1)}
        return {**self.sets, self.path: count}


ONE_FILE: Mapping[str, object] = {"workload.files": 1}
CLIENTS = 16
"""Clients of each server where both grow."""
TABLES = (
    Table(
        "Clients, messages as a whole, one request of four pieces each",
        STRIPED,
        "clients.count",
        (1000, 10_000, 100_000, 1_000_000),
        ONE_FILE,
        "client",
    ),
    Table(
        "Clients, a server for each 16",
        STRIPED,
        "clients.count",
        (1000, 10_000, 100_000, 1_000_000),
        {**ONE_FILE, "layout.servers": 4},
        "client with its part of a server",
        with_servers=True,
    ),
    Table(
        "Clients, flows",
        CHECKPOINT,
        "clients.count",
        (1000, 10_000, 100_000, 1_000_000),
        {},
        "client",
    ),
    Table(
        "Servers, 1,000 clients",
        STRIPED,
        "servers.count",
        (1000, 10_000, 100_000, 1_000_000),
        {**ONE_FILE, "clients.count": 1000, "layout.servers": 4},
        "server",
    ),
    Table(
        "Pieces of requests in flight, 1,000 clients and 1,024 servers",
        STRIPED,
        "layout.unit",
        (1, 4, 16, 64, 256, 1024),
        {
            **ONE_FILE,
            "clients.count": 1000,
            "servers.count": 1024,
            "workload.block": "64 MiB",
            "workload.transfer": "64 MiB",
        },
        "piece in flight",
        1000,
    ),
)


@dataclass(frozen=True)
class Row:
    """Medians of the runs with one count."""

    count: int
    bytes: float
    events: float
    wall_s: float
    window: float
    """Events in one lookahead window."""
    largest: tuple[str, float]
    """The part of the net whose single copy has most of the visits, and its share of all."""


def run(table: Table, count: int) -> Row:
    """Run a point several times."""
    command = [sys.executable, "-c", CHILD, str(table.scenario), json.dumps(table.values(count))]
    found = []
    for _ in range(REPETITIONS):
        done = subprocess.run(command, stdout=subprocess.PIPE, check=True, text=True)
        found.append(json.loads(done.stdout))
        if found[0]["wall_s"] > LONG_S:
            break
    first = found[0]
    every = sum(visits for visits, _ in first["parts"].values())
    shares = {part: visits / copies / every for part, (visits, copies) in first["parts"].items()}
    largest = max(shares, key=lambda part: shares[part])
    return Row(
        count,
        median(it["bytes"] for it in found),
        first["events"],
        median(it["wall_s"] for it in found),
        first["events"] / first["simulated_s"] * first["latency_s"],
        (largest, shares[largest]),
    )


def fit(points: list[tuple[float, float]]) -> tuple[float, float, float]:
    """Fit a line by least squares of relative errors.

    Args:
        points: Counts and bytes.

    Returns:
        Intercept, slope, and the largest residual as a part of the measured value.
    """
    w = [1 / y**2 for _, y in points]
    sums = [sum(a * x**k for a, (x, _) in zip(w, points, strict=True)) for k in range(3)]
    right = [sum(a * y * x**k for a, (x, y) in zip(w, points, strict=True)) for k in range(2)]
    determinant = sums[0] * sums[2] - sums[1] ** 2
    intercept = (right[0] * sums[2] - right[1] * sums[1]) / determinant
    slope = (right[1] * sums[0] - right[0] * sums[1]) / determinant
    residuals = (abs(intercept + slope * x - y) / y for x, y in points)
    return intercept, slope, max(residuals)


def main() -> None:
    tenth = 10 if "--quick" in sys.argv[1:] else 1
    for table in TABLES:
        print(f"\n{table.title}\n")
        heading = ("memory MB", "events", "run s", "events/s", "events in a window", "busiest part")
        print(f"| {' | '.join((table.path, *heading))} |")
        print(f"| {' | '.join(['---'] * (len(heading) + 1))} |")
        points = []
        for count in table.counts:
            if count * tenth > max(table.counts):
                continue
            row = run(table, count)
            points.append((float(count * table.each), row.bytes))
            part, share = row.largest
            print(
                f"| {count * table.each:,} | {row.bytes / 1e6:,.1f} | {row.events:,}"
                f" | {row.wall_s:.3f} | {row.events / row.wall_s:,.0f} | {row.window:.3g}"
                f" | {part}: {100 * share:.2g} % |",
                flush=True,
            )
        _, slope, worst = fit(points)
        print(f"\n{slope:,.0f} bytes for each {table.unit}; largest residual {100 * worst:.0f} %")


if __name__ == "__main__":
    main()
