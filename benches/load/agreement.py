"""Lays Headrace's figures beside those of fio, dd and bonnie++, in turns.

    python benches/load/agreement.py DIR [ROUNDS]

Each case asks the same of one directory: the same file size, block size, order and end. All
tools take turns, so that whatever else the machine does disturbs them alike; the table gives
medians of throughput and Headrace's over the other's. A tool that is not installed is left out
and named.
"""

from __future__ import annotations

import json
import re
import shutil
import statistics
import subprocess
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path

from headrace import measure

LEAST_ROUNDS = 5
SIZE = 256 << 20
"""Bytes of each file."""


def headrace(below: Path, block: int, phases: str, operation: str, more: str = "") -> float:
    """Bytes a second of an operation."""
    text = (
        f'[clients]\n[[workload]]\nblock = "{SIZE} B"\ntransfer = "{block} B"\n'
        f"phases = [{phases}]\n{more}"
    )
    document = measure.measure(measure.load(text), below).document
    of_it = [it for it in document["phases"] if it["operation"] == operation]
    end: float = max(it["to_s"] for it in document["phases"])
    moved: int = sum(it["bytes"] for it in of_it)
    began: float = min(it["from_s"] for it in of_it)
    return moved / (end - began)


def fio(below: Path, block: int, kind: str, *more: str) -> float:
    """Bytes a second of fio's one job."""
    with tempfile.TemporaryDirectory(dir=below) as folder:
        done = subprocess.run(
            [
                "fio",
                "--name=agreement",
                f"--directory={folder}",
                f"--size={SIZE}",
                f"--bs={block}",
                f"--rw={kind}",
                "--ioengine=psync",
                "--thread",
                "--randrepeat=1",
                "--fallocate=none",
                "--output-format=json",
                *more,
            ],
            check=True,
            capture_output=True,
            text=True,
        )
        job = json.loads(done.stdout[done.stdout.index("{") :])["jobs"][0]
        part = job["read" if "read" in kind else "write"]
        return float(part["io_bytes"]) / (float(part["runtime"]) / 1e3)


def dd(below: Path, block: int) -> float:
    """Bytes a second of dd that writes a new file and brings it to stable storage."""
    with tempfile.TemporaryDirectory(dir=below) as folder:
        done = subprocess.run(
            [
                "dd",
                "if=/dev/zero",
                f"of={folder}/file",
                f"bs={block}",
                f"count={SIZE // block}",
                "conv=fsync",
            ],
            check=True,
            capture_output=True,
            text=True,
            env={"LC_ALL": "C", "PATH": "/usr/bin:/bin"},
        )
        found = re.search(r"(\d+) bytes .* copied, ([\d.e+-]+) s", done.stderr)
        if found is None:
            raise SystemExit(f"agreement.py: dd said {done.stderr!r}")
        return int(found[1]) / float(found[2])


Case = tuple[str, str, Callable[[Path], float], Callable[[Path], float]]

KIB, MIB = 1 << 10, 1 << 20
CASES: list[Case] = [
    (
        "write 64 KiB, fsync at the end",
        "fio",
        lambda at: headrace(at, 64 * KIB, '"write", "sync"', "write"),
        lambda at: fio(at, 64 * KIB, "write", "--end_fsync=1"),
    ),
    (
        "write 1 MiB, fsync at the end",
        "dd",
        lambda at: headrace(at, MIB, '"write", "sync"', "write"),
        lambda at: dd(at, MIB),
    ),
    (
        "read 64 KiB in order, cold",
        "fio",
        lambda at: headrace(at, 64 * KIB, '"read"', "read", "io.existing = true\n"),
        lambda at: fio(at, 64 * KIB, "read", "--invalidate=1"),
    ),
    (
        "read 4 KiB at random, direct",
        "fio",
        lambda at: headrace(
            at,
            4 * KIB,
            '"read"',
            "read",
            'order = "random"\nrequests = 4000\nio.existing = true\nio.direct = true\n',
        ),
        lambda at: fio(at, 4 * KIB, "randread", "--direct=1", f"--io_size={4000 * 4 * KIB}"),
    ),
    (
        "read 1 MiB in order, direct",
        "fio",
        lambda at: headrace(at, MIB, '"read"', "read", "io.existing = true\nio.direct = true\n"),
        lambda at: fio(at, MIB, "read", "--direct=1"),
    ),
]


def main() -> None:
    """Runs in turn, prints."""
    if len(sys.argv) < 2:
        raise SystemExit("agreement.py: expected a directory on the file system to be measured")
    below = Path(sys.argv[1])
    rounds = int(sys.argv[2]) if len(sys.argv) > 2 else LEAST_ROUNDS
    cases = [case for case in CASES if shutil.which(case[1])]
    for tool in sorted({tool for _, tool, *_ in CASES if not shutil.which(tool)}):
        print(f"{tool} is not installed: its cases are left out")
    figures: dict[str, list[tuple[float, float]]] = {name: [] for name, *_ in cases}
    for number in range(rounds):
        for name, _, ours, theirs in cases:
            # Who comes first changes each round: what one leaves dirty is the other's burden.
            pair = (
                (ours(below), theirs(below)) if number % 2 else (theirs(below), ours(below))[::-1]
            )
            figures[name].append(pair)
    print(f"{'case':34} {'tool':>5} {'Headrace MB/s':>14} {'tool MB/s':>10} {'ratio':>7}")
    for name, tool, *_ in cases:
        ours_, theirs_ = (statistics.median(side) for side in zip(*figures[name], strict=True))
        ratio = statistics.median(one / other for one, other in figures[name])
        print(f"{name:34} {tool:>5} {ours_ / 1e6:14.1f} {theirs_ / 1e6:10.1f} {ratio:7.3f}")


if __name__ == "__main__":
    main()
