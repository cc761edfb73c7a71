"""Search in a catalogue of 10,000 results: the calls that the page of results makes.

    python benches/web/search.py [RESULTS]

Prints the median of each call in ms. Aim: 200 ms.
"""

import statistics
import sys
import tempfile
import time
from collections.abc import Callable
from datetime import UTC, datetime, timedelta

import headrace as hr
from headrace.store import Store, make_filter
from headrace.store.catalogue import _rows
from headrace.store.insertion import NewResult, insert
from headrace.store.record import Record

SCENARIO = """
name = "NAME"
description = "small"
clients = { count = 4 }
servers = { count = 2, device = { read_rate = "60 MB/s", write_rate = "50 MB/s" } }
network = { bandwidth = "1 Gbit/s", latency = "0.2 ms" }
layout = { unit = "64 KiB" }
workload = [{ kind = "ior", files = 1, block = "4 MiB" }]
"""
REPEATS = 15


def filled(where: str, count: int) -> Store:
    """Return a store with this many results of 50 scenarios and 20 hosts."""
    store = hr.store.open(where)
    document = hr.run(hr.load(SCENARIO)).document
    began = datetime(2026, 1, 1, tzinfo=UTC)
    results = []
    for number in range(count):
        record = Record.of(
            {**document, "name": f"scenario {number % 50}"},
            kind="simulated",
            started=began + timedelta(minutes=number),
            labels={"disks": f"kind {number % 7}", "owner": f"user{number % 9}"},
            environment={"host": f"node{number % 20}", "file_system": "ext4", "device": "nvme0"},
        )
        results.append(NewResult(_rows(record, {}, False), publish=lambda: None))
    insert(store.location, results)
    return store


def median_ms(call: Callable[[], object]) -> float:
    """Return the median time of a call in ms."""
    times = []
    for _ in range(REPEATS):
        began = time.perf_counter()
        call()
        times.append(1000 * (time.perf_counter() - began))
    return statistics.median(times)


def main() -> None:
    """Measure and print."""
    count = int(sys.argv[1]) if len(sys.argv) > 1 else 10_000
    with tempfile.TemporaryDirectory() as directory:
        store = filled(directory, count)
        calls: dict[str, Callable[[], object]] = {
            "first page": lambda: store.listed(make_filter(limit=50)),
            "search of a rare text": lambda: store.listed(make_filter(search="node7", limit=50)),
            "search without a hit": lambda: store.listed(make_filter(search="xyzzy", limit=50)),
            "a label": lambda: store.listed(make_filter(labels={"disks": "kind 3"}, limit=50)),
            "the last page": lambda: store.listed(make_filter(limit=50, skip=count - 50)),
            "history of a scenario": lambda: store.history(make_filter(name="scenario 7")),
            "names": store.names,
        }
        print(f"{count:,} results, median of {REPEATS} calls")
        for name, call in calls.items():
            print(f"  {name:24} {median_ms(call):8.1f} ms")


if __name__ == "__main__":
    main()
