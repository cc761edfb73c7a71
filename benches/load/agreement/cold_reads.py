"""Compare sequential cold reads by Headrace, by fio and by a bare loop of preadv.

    python benches/load/agreement/cold_reads.py DIR [ROUNDS]

Prints bytes per second, requests of the device, and reports of free pages to the host. If number
and size of the requests agree, differences come from the device or the host. The last reader shows
the cost of memory that the host has to provide first: the same loop, some time after the file was
evicted.
"""

from __future__ import annotations

import os
import shutil
import statistics
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

from fio import cold
from ground import KIB, REST, SIZE, Ground, forget, output, rate

from headrace.measure.counters import device_below

BLOCK = 64 * KIB
ROUNDS = 10
SECTOR = 512
"""Bytes that /proc/diskstats counts in (Linux, Documentation/admin-guide/iostats.rst)."""


class Turn(NamedTuple):
    """One pass over the file."""

    rate: float
    """Bytes per second."""
    requests: int
    """Reads that the device completed during the pass, of any process."""
    bytes: int
    """Bytes of these reads."""
    reports: int
    """Reports of free pages to the host during the pass."""


def by_headrace(ground: Ground) -> float:
    """Return bytes per second."""
    return rate(ground.on_common(f'transfer = "{BLOCK} B"\nphases = ["read"]\n'), "read")


def by_fio(ground: Ground) -> float:
    """Return bytes per second."""
    return cold(ground.common, BLOCK, "read")


def by_loop(ground: Ground) -> float:
    """Return bytes per second of consecutive preadv calls into one buffer."""
    forget(ground.common)
    return _loop(ground)


def by_late_loop(ground: Ground) -> float:
    """Return the same after the host has reclaimed the file's memory."""
    forget(ground.common)
    time.sleep(REST)
    return _loop(ground)


def _loop(ground: Ground) -> float:
    buffers = [bytearray(BLOCK)]
    descriptor = os.open(ground.common, os.O_RDONLY)
    try:
        begun = time.monotonic()
        for place in range(0, SIZE, BLOCK):
            if os.preadv(descriptor, buffers, place) != BLOCK:
                raise SystemExit("cold_reads: the file was truncated during the measurement")
        return SIZE / (time.monotonic() - begun)
    finally:
        os.close(descriptor)


READERS: dict[str, Callable[[Ground], float]] = {
    "Headrace": by_headrace,
    "fio": by_fio,
    "bare loop": by_loop,
    "late loop": by_late_loop,
}


def reads_of(device: str) -> tuple[int, int]:
    """Return the completed reads of a device and their bytes."""
    fields = Path(f"/sys/class/block/{device}/stat").read_text(encoding="ascii").split()
    return int(fields[0]), int(fields[2]) * SECTOR


def reports() -> int:
    """Return the number of free page reports so far: interrupts of the reporting queue (Linux,
    drivers/virtio/virtio_balloon.c). 0 without one."""
    lines = Path("/proc/interrupts").read_text(encoding="ascii").splitlines()
    of_queue = [line.split() for line in lines if line.endswith("-reporting_vq")]
    return sum(int(word) for line in of_queue for word in line[1:] if word.isdigit())


def turn(read: Callable[[Ground], float], ground: Ground, device: str) -> Turn:
    """Measure one pass over a file that the device has just read."""
    os.sync()
    ground.read_common()
    if read is by_fio:
        # Its program and libraries are not to be among the requests.
        output("fio", "--version")
    time.sleep(REST)
    (requests, moved), reported = reads_of(device), reports()
    found = read(ground)
    after = reads_of(device)
    return Turn(found, after[0] - requests, after[1] - moved, reports() - reported)


def main() -> None:
    """Measure all readers in turn, with another one first in each round, and print the results."""
    if len(sys.argv) < 2:
        raise SystemExit(
            "cold_reads: expected DIR, an existing directory on the file system to measure"
        )
    rounds = int(sys.argv[2]) if len(sys.argv) > 2 else ROUNDS
    if rounds < 2:
        raise SystemExit(f"cold_reads: ROUNDS = {rounds}: expected 2 or more, for quartiles")
    device = device_below(sys.argv[1])
    if device is None:
        raise SystemExit(f"cold_reads: {sys.argv[1]}: not on a block device with request counters")
    names = [name for name in READERS if name != "fio" or shutil.which("fio")]
    if "fio" not in names:
        print("fio: program not found, so its row is missing: install fio")
    done: dict[str, list[Turn]] = {name: [] for name in names}
    ground = Ground(Path(sys.argv[1]))
    try:
        for number in range(rounds):
            first = number % len(names)
            for name in names[first:] + names[:first]:
                done[name].append(turn(READERS[name], ground, device))
            print(f"round {number + 1} of {rounds}", file=sys.stderr, flush=True)
    finally:
        ground.remove()
    print(f"{rounds} rounds in {sys.argv[1]}, {SIZE >> 20} MiB in blocks of 64 KiB, cold")
    print(f"{'':10} {'MB/s: least':>12} {'quartiles':>15} {'most':>6} {'median':>7}", end="")
    print(f" {'requests':>9} {'KiB each':>9} {'with reports':>13}")
    for name, turns in done.items():
        rates = sorted(it.rate / 1e6 for it in turns)
        low, middle, high = statistics.quantiles(rates, method="inclusive")
        requests = statistics.median(it.requests for it in turns)
        each = statistics.median(it.bytes / max(it.requests, 1) for it in turns) / KIB
        print(f"{name:10} {rates[0]:12.0f} {low:8.0f}-{high:6.0f} {rates[-1]:6.0f}", end="")
        reported = f"{sum(it.reports > 0 for it in turns)} of {len(turns)}"
        print(f" {middle:7.0f} {requests:9.0f} {each:9.1f} {reported:>13}")


if __name__ == "__main__":
    main()
