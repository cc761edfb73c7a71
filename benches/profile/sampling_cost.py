#!/usr/bin/env python3
"""Processor time of sampling, as a share of one core.

Blocks of samples of all sources alternate with blocks without sources. The latter are the floor:
the schedule, the encoder and the file. The watched tree is a shell and a sleeping child.

    .venv/bin/python benches/profile/sampling_cost.py [--samples 60] [--json]
"""

import argparse
import json
import os
import signal
import statistics
import subprocess
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path

from headrace.profile.counters import ALL, Source, Watched
from headrace.profile.sampler import Sampler

INTERVALS_S = (1.0, 0.1)
BLOCKS = 6


def block(
    folder: Path, sources: Sequence[Source], interval_s: float, samples: int, pid: int
) -> float:
    """Return the share of a core that samples at an interval cost."""
    path = folder / "samples.jsonl"
    path.unlink(missing_ok=True)
    sampler = Sampler(path, Watched(roots=lambda: (pid,)), "host", sources=sources)
    sampler.sample()
    begin, cost = time.monotonic(), time.process_time()

    def wait(until_s: float) -> bool:
        time.sleep(max(until_s - sampler.elapsed_s(), 0.0))
        return sampler.count > samples

    sampler.run(interval_s, wait)
    sampler.close()
    return (time.process_time() - cost) / (time.monotonic() - begin)


def measure(samples: int) -> list[dict[str, float]]:
    """Return the shares of each interval."""
    program = subprocess.Popen(["sh", "-c", "while :; do sleep 0.5; done"], start_new_session=True)
    rows = []
    try:
        with tempfile.TemporaryDirectory() as folder:
            for interval_s in INTERVALS_S:
                shares: dict[bool, list[float]] = {True: [], False: []}
                for number in range(2 * BLOCKS):
                    with_sources = number % 2 == 0
                    sources = ALL if with_sources else ()
                    each = max(samples // BLOCKS, 1)
                    shares[with_sources].append(
                        block(Path(folder), sources, interval_s, each, program.pid)
                    )
                sampling, floor = (statistics.median(shares[it]) for it in (True, False))
                rows.append(
                    {
                        "interval_s": interval_s,
                        "share": sampling,
                        "least": min(shares[True]),
                        "largest": max(shares[True]),
                        "floor": floor,
                        "ms_per_sample": 1e3 * sampling * interval_s,
                    }
                )
    finally:
        os.killpg(program.pid, signal.SIGTERM)
        program.wait()
    return rows


def main() -> None:
    """Print the shares."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--samples", type=int, default=60, help="samples of each interval")
    parser.add_argument("--json", action="store_true")
    options = parser.parse_args()
    rows = measure(options.samples)
    if options.json:
        print(json.dumps(rows, indent=2))
        return
    print("interval   share of a core (least, largest)     floor   per sample")
    for row in rows:
        print(
            f"{row['interval_s']:6.1f} s   {100 * row['share']:7.3f} %"
            f"  ({100 * row['least']:.3f} %, {100 * row['largest']:.3f} %)"
            f"  {100 * row['floor']:7.3f} %   {row['ms_per_sample']:.2f} ms"
        )


if __name__ == "__main__":
    main()
