"""Run time of a program under each capture method, and without one.

A C program reads 4 KiB (--bytes) of a cached file 100,000 times a second (--rate, 0 for as fast as
possible). The methods take turns. Printed: medians, quartiles, and the factor over no capture; and
the processor time that the calls of the program itself took.

    .venv/bin/python benches/profile/capture_overhead.py [--calls 1000000] [--rate 100000]
"""

import argparse
import json
import os
import statistics
import subprocess
import sys
import tempfile
from pathlib import Path

from headrace.profile.capture import METHODS

PROGRAM = r"""
#define _GNU_SOURCE
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <time.h>
#include <unistd.h>

static double now(clockid_t id) {
    struct timespec t;
    clock_gettime(id, &t);
    return t.tv_sec + 1e-9 * t.tv_nsec;
}

/* FILE CALLS BYTES RATE: the run time and the processor time of its calls, in seconds. With a
   rate, the program computes until each call is due. */
int main(int argc, char **argv) {
    int file = open(argv[1], O_RDONLY);
    long calls = atol(argv[2]), bytes = atol(argv[3]);
    double rate = atof(argv[4]);
    char *buffer = malloc(bytes);
    volatile unsigned long spun = 0;
    for (int i = 0; i < 1000; i++)
        if (pread(file, buffer, bytes, 0) != bytes) return 1;
    double start = now(CLOCK_MONOTONIC), cpu = now(CLOCK_THREAD_CPUTIME_ID);
    long work = 0;
    if (rate > 0) {
        /* As much computation between two calls as makes the rate without a capture. */
        work = atol(argv[5]);
    }
    for (long i = 0; i < calls; i++) {
        if (pread(file, buffer, bytes, (i & 255) * 4096) != bytes) return 1;
        for (long j = 0; j < work; j++) spun += j;
    }
    printf("%.9f %.9f\n", now(CLOCK_MONOTONIC) - start, now(CLOCK_THREAD_CPUTIME_ID) - cpu);
    return 0;
}
"""


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--calls", type=int, default=1_000_000)
    parser.add_argument("--bytes", type=int, default=4096)
    parser.add_argument("--rate", type=float, default=100_000)
    parser.add_argument("--rounds", type=int, default=7)
    parser.add_argument("--methods", default=",".join(reversed(METHODS)))
    given = parser.parse_args()
    methods = [it for it in given.methods.split(",") if METHODS[it].available() is None]
    with tempfile.TemporaryDirectory() as folder:
        program, data = Path(folder, "reads"), Path(folder, "data")
        (Path(folder) / "reads.c").write_text(PROGRAM)
        subprocess.run(["cc", "-O2", "-o", program, f"{program}.c"], check=True)
        data.write_bytes(bytes(1 << 20) + bytes(given.bytes))

        def run(method: str, work: int, calls: int = given.calls) -> tuple[float, float]:
            command = [str(program), str(data), *map(str, (calls, given.bytes, given.rate, work))]
            trace = Path(folder, "trace")
            done = subprocess.run(
                METHODS[method].wrap(command, trace), check=True, capture_output=True, text=True
            )
            wall, cpu = map(float, done.stdout.split())
            return wall, cpu

        work = calibrated(run, given.rate) if given.rate else 0
        times: dict[str, list[tuple[float, float]]] = {it: [] for it in methods}
        for number in range(given.rounds):
            for method in methods[number % len(methods) :] + methods[: number % len(methods)]:
                times[method].append(run(method, work))
    report(times, given.calls, given.rate)


def calibrated(run: object, rate: float) -> int:
    """Loop count between two calls that makes the rate without a capture."""
    assert callable(run)
    calls = 100_000
    empty = min(run("none", 0, calls)[1] for _ in range(3)) / calls
    loop = (min(run("none", 10_000, 1000)[1] for _ in range(3)) / 1000 - empty) / 10_000
    return int(max(round((1 / rate - empty) / loop), 0))


def report(times: dict[str, list[tuple[float, float]]], calls: int, rate: float) -> None:
    plain = times["none"]
    print(
        f"{calls:,} calls, {len(plain)} rounds, load {os.getloadavg()[0]:.1f},"
        f" {os.cpu_count()} processors, aimed at {rate:,.0f} calls/s"
    )
    figures = {}
    for method, runs in times.items():
        # Compared with the run without capture of the same round.
        pairs = list(zip(runs, plain, strict=True))
        factors = [one[0] / other[0] for one, other in pairs]
        added_ns = [1e9 * (one[1] - other[1]) / calls for one, other in pairs]
        low, middle, high = statistics.quantiles(factors, n=4)
        least, added, most = statistics.quantiles(added_ns, n=4)
        wall, cpu = (statistics.median(it[number] for it in runs) for number in (0, 1))
        figures[method] = {"seconds": wall, "factor": middle, "added_ns_per_call": added}
        print(
            f"{method:8} {wall:8.3f} s, {calls / wall:10,.0f} calls/s, wall x {middle:.2f}"
            f" ({low:.2f} to {high:.2f}); the program's own processor time {cpu:.3f} s,"
            f" added {added:,.0f} ns a call ({least:,.0f} to {most:,.0f}):"
            f" {added * 1e-2:.1f} % at 100,000 calls/s"
        )
    json.dump(figures, sys.stdout, indent=2)
    print()


if __name__ == "__main__":
    main()
