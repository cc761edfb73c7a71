"""Prediction errors of twins of local file systems, one testbed each (docs/how-to/lab.md).

    python benches/twin/file_systems.py OUT [ROUNDS] [NAME...]

Needs root. Starts a testbed with a file system on a limited disk. `headrace twin` calibrates,
predicts and measures there, and its result is saved in OUT. Prints errors by file system and disk.
Results that OUT already has are not measured again. NAMEs are those of the table such as
ext3-journal-60; the default is all.
"""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from command_line import parse_arguments

from headrace.lab import running_testbed

DISKS = {"60": (60, 600), "150": (150, 2000)}
"""MB/s and operations per second, each for reads and for writes."""
FILE_SYSTEMS = {
    "ext2": ("ext2", ""),
    "ext3-ordered": ("ext3", 'journal.mode = "ordered"'),
    "ext3-writeback": ("ext3", 'journal.mode = "writeback"'),
    "ext3-journal": ("ext3", 'journal.mode = "journal"'),
    "ext4": ("ext4", ""),
    "xfs": ("xfs", ""),
}
WORST = {"cache": 0.25, "device": 0.15}
"""Target upper bound of errors; the table counts cases beyond it. A CPU-bound prediction within the
case's own repetitions does not count, because load on a shared machine shifts it."""
SCENARIO = """
name = "{name}"
system = "{system}"
[machine.device]
kind = "throttled"
rate = "1 GB/s"
read_rate = "{rate} MB/s"
write_rate = "{rate} MB/s"
read_operations = {operations}
write_operations = {operations}
[machine.file_system]
{more}
[lab]
image = "4 GiB"
[[workload]]
block = "1 MiB"
"""


def headrace(*arguments: str, **options: Any) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "headrace", *arguments]
    return subprocess.run(command, check=True, text=True, stdout=subprocess.PIPE, **options)


def twin_of(name: str, out: Path, rounds: int) -> None:
    system, disk = name.rsplit("-", 1)
    kind, more = FILE_SYSTEMS[system]
    rate, operations = DISKS[disk]
    scenario = out / f"{name}.toml"
    scenario.write_text(
        SCENARIO.format(name=name, system=kind, rate=rate, operations=operations, more=more)
    )
    with running_testbed(scenario) as lab:
        saved = out / f"{name}.json"
        twin = ["twin", str(lab.mount_point), "--repetitions", str(rounds), "-o", str(saved)]
        if 'mode = "journal"' in more:
            # Files that are there before are made at a disk operation for each of their blocks:
            # with four passes a round took more than ten minutes at 2,000 operations a second.
            twin += ["--passes", "1"]
        command = [sys.executable, "-m", "headrace", *twin, "--json"]
        headrace("lab", "exec", str(scenario), "client-0", "--", *command)


def table(out: Path) -> list[str]:
    lines = headings("file system, disk")
    for saved in sorted(out.glob("*.json")):
        lines += rows(saved.stem, json.loads(saved.read_text()))
    return lines


def headings(of: str) -> list[str]:
    """Return the head of the table of errors."""
    return [
        f"| {of} | bound by | cases | median error | worst | bias | in the interval | beyond |",
        "| --- | --- | --- | --- | --- | --- | --- | --- |",
    ]


def rows(name: str, document: Mapping[str, Any]) -> list[str]:
    """Return a twin's errors, a row per group of cases."""
    lines = []
    for group, it in document["summary"].items():
        points = [point for point in document["points"] if point["group"] == group]
        worst = max(points, key=lambda point: abs(point["error"]))
        beyond = sum(
            abs(point["error"]) > WORST[group]
            and not (group == "cache" and point["among_repetitions"])
            for point in points
        )
        lines.append(
            f"| {name} | {group} | {it['points']} | {it['median_error']:.1%}"
            f" | {worst['error']:+.0%} ({worst['name']}) | {it['bias']:+.1%}"
            f" | {it['covered']:.0%} | {beyond} |"
        )
    return lines


def main() -> None:
    everything = [f"{system}-{disk}" for disk in DISKS for system in FILE_SYSTEMS]
    out, rounds, names = parse_arguments(__doc__, everything, rounds=3)
    for name in names:
        if not (out / f"{name}.json").exists():
            print(f"{name}: measuring", file=sys.stderr, flush=True)
            twin_of(name, out, rounds)
    print("\n".join(table(out)))


if __name__ == "__main__":
    main()
