"""Judges programs whose limit is known by construction, on a throttled disk and link.

For root, on Linux with blk-throttle, network namespaces and a C compiler:

    python benches/verdicts/verdicts.py [--capture METHOD] [-o FOLDER] [PROGRAM ...]

Builds a testbed (testbed.toml), measures the baseline of its disk, runs each program, records it
and prints a table of expected and found verdicts. The exit status is 1 if one is wrong. With -o,
the recordings are saved as FOLDER/PROGRAM.jsonl.gz and the baseline as FOLDER/baseline.json.
"""

from __future__ import annotations

import argparse
import contextlib
import gzip
import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path

import polars as pl
from testbed import HERE, HOST, NAME, compile_programs, testbed

from headrace import lab
from headrace.lab import cgroups
from headrace.profile.capture import METHODS, start_time
from headrace.profile.recorder import Request, record
from headrace.profile.recording import rates, read_header
from headrace.profile.verdict import BaselineFigures, judge
from headrace.trace import frame, open_trace

SECONDS = 12
INTERVAL_S = 0.5
FILE = 64 << 20
"""Size of the baseline's file, in bytes: 2 s of the disk."""
LINK = "verdicts-0"
LINK_RATE = 5e6
"""Rate of the link, in B/s."""
ADDRESS, PEER, PORT = "198.19.255.1", "198.19.255.2", 7777
SMALL_MEMORY = 16 << 20
"""Memory limit of the program that has too little, in bytes: less than its file of 24 MiB."""


@dataclass(frozen=True)
class Program:
    """A program and the verdicts of its phases."""

    name: str
    expected: tuple[str, ...]
    source: str
    arguments: tuple[str, ...] = ()
    """Arguments after the seconds; DIR stands for the testbed's disk."""
    small_memory: bool = False


PROGRAMS = (
    Program("spin", ("cpu",), "spin"),
    Program("spin-all-cores", ("cpu",), "spin", ("all",)),
    Program("memory-stream", ("cpu",), "memory_stream"),
    Program("thrash", ("memory",), "thrash", ("DIR",), small_memory=True),
    Program("sync-writes", ("latency",), "sync_writes", ("DIR",)),
    Program("random-reads", ("latency",), "random_reads", ("DIR",)),
    Program("sequential-read", ("disk-read",), "sequential_read", ("DIR",)),
    Program("sequential-write", ("disk-write",), "sequential_write", ("DIR",)),
    Program("rewrite", ("rewrite",), "rewrite", ("DIR",)),
    Program("characters", ("cpu",), "characters", ("DIR",)),
    Program("network-send", ("network",), "send", (PEER, str(PORT))),
    Program("sleeper", ("waiting",), "sleeper"),
    Program("lock-waiter", ("waiting",), "lock_waiter"),
    Program("pipe-waiter", ("waiting",), "pipe_waiter"),
    Program("metadata", ("metadata",), "metadata", ("DIR",)),
    Program("spin-then-write", ("cpu", "disk-write"), "spin_then_write", ("DIR",)),
    Program("read-then-compute", ("disk-read", "cpu"), "read_then_compute", ("DIR",)),
)


def main() -> int:
    """Run the programs and print the table."""
    parser = argparse.ArgumentParser()
    parser.add_argument("-o", "--output", type=Path)
    parser.add_argument("--nice", type=int, default=0, help="niceness of programs and profiler")
    parser.add_argument("--capture", default="none", help="capture the programs' file operations")
    parser.add_argument("programs", nargs="*")
    given = parser.parse_args()
    chosen = [it for it in PROGRAMS if not given.programs or it.name in given.programs]
    with contextlib.ExitStack() as stack:
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory()))
        compile_programs(HERE / "programs", folder)
        bed = stack.enter_context(testbed())
        stack.enter_context(link())
        state = lab.status(bed)
        disk = (state.hosts[0].disks[0].device or "").removeprefix("/dev/")
        directory = state.mount_point
        baseline = measured_baseline(bed, directory)
        if given.output:
            given.output.mkdir(parents=True, exist_ok=True)
            save_baseline(given.output / "baseline.json", baseline, disk)
        os.setpriority(os.PRIO_PROCESS, 0, given.nice)
        wrong = 0
        print(f"{'program':20}{'expected':22}{'verdict':22}")
        for it in chosen:
            recording = folder / f"{it.name}.profile"
            run(bed, folder, it, directory, recording, given.capture)
            phases = judge(
                rates(recording),
                figures(baseline),
                disks=[disk],
                trace=captured(recording, given.capture),
                link_rates={LINK: LINK_RATE},
            )
            found = tuple(phase.verdict for phase in phases)
            wrong += found != it.expected
            right = "right" if found == it.expected else "wrong"
            named = " ".join(verdict or "unknown" for verdict in found)
            print(f"{it.name:20}{' '.join(it.expected):22}{named:22}{right}", flush=True)
            for phase in phases:
                print(f"    {phase.from_s:.1f} to {phase.to_s:.1f} s, {phase.verdict or 'unknown'}")
                for evidence in phase.evidence:
                    against = "" if evidence.baseline is None else f" of {evidence.baseline:.4g}"
                    unit = f" {evidence.unit}" if evidence.unit else ""
                    print(
                        f"        {evidence.rule}: {evidence.figure}:"
                        f" {evidence.value:.4g}{against}{unit}"
                    )
            if given.output:
                save_recording(recording, given.output / f"{it.name}.jsonl.gz")
    print(f"{len(chosen) - wrong} of {len(chosen)} right")
    return int(wrong > 0)


@contextlib.contextmanager
def link() -> Iterator[None]:
    """Build a link of a limited rate to a peer in a network namespace."""
    bits = f"{round(8 * LINK_RATE)}bit"
    steps = (
        f"ip netns add {NAME}",
        f"ip link add {LINK} type veth peer name {NAME}-1 netns {NAME}",
        f"ip address add {ADDRESS}/30 dev {LINK}",
        f"ip -netns {NAME} address add {PEER}/30 dev {NAME}-1",
        f"ip link set {LINK} up",
        f"ip -netns {NAME} link set {NAME}-1 up",
        f"tc qdisc add dev {LINK} root tbf rate {bits} burst 64kb latency 50ms",
    )
    subprocess.run(["ip", "netns", "del", NAME], capture_output=True)
    try:
        for step in steps:
            subprocess.run(step.split(), check=True)
        yield
    finally:
        subprocess.run(["ip", "netns", "del", NAME], check=True)


def captured(recording: Path, capture: str) -> pl.DataFrame | None:
    """Return the captured trace of a recording, on the clock of its samples."""
    if capture == "none":
        return None
    path = recording / f"trace{METHODS[capture].suffix}"
    begun, started = start_time(path), read_header(recording).started
    try:
        records = frame(open_trace(path))
    except ValueError:
        # A program without file operations.
        return None
    offset_s = 0.0 if begun is None else begun - datetime.fromisoformat(started).timestamp()
    return records.with_columns(pl.col("time_ns") + round(offset_s * 1e9))


def run(
    bed: lab.Lab, folder: Path, program: Program, directory: str, recording: Path, capture: str
) -> None:
    """Prepare a program's files, run it and record it."""
    arguments = [directory if it == "DIR" else it for it in program.arguments]
    binary = str(folder / program.source)
    if "DIR" in program.arguments:
        subprocess.run(lab.exec_command(bed, HOST, [binary, "0", *arguments]), check=True)
    command = [binary, str(SECONDS), *arguments]
    with contextlib.ExitStack() as stack:
        if program.small_memory:
            group = stack.enter_context(small_group())
            join = 'echo $$ > "$0/cgroup.procs" && exec "$@"'
            command = ["/bin/sh", "-c", join, str(group), *command]
        if program.source == "send":
            peer = ["ip", "netns", "exec", NAME, binary, str(SECONDS), "receive", str(PORT)]
            stack.enter_context(subprocess.Popen(peer))
        if "DIR" in program.arguments:
            command = lab.exec_command(bed, HOST, command)
        record(Request(command=command, interval_s=INTERVAL_S, output=recording, capture=capture))


@contextlib.contextmanager
def small_group() -> Iterator[Path]:
    """Make a control group of little memory."""
    above = cgroups.of_host(NAME, HOST)
    if above is None:
        raise OSError("the kernel has no memory controller")
    group = above / "small"
    group.mkdir(exist_ok=True)
    cgroups.memory_file(group).write_text(str(SMALL_MEMORY))
    try:
        yield group
    finally:
        group.rmdir()


def measured_baseline(bed: lab.Lab, directory: str) -> dict[str, float]:
    """Return the figures of the baseline of the testbed's disk."""
    text = (
        "import json, sys; from headrace.profile.baseline import measure_baseline;"
        f"found = measure_baseline(sys.argv[1], file={FILE});"
        "print(json.dumps({name: it.value for name, it in found.figures.items()}))"
    )
    line = lab.exec_command(bed, HOST, [sys.executable, "-c", text, directory])
    shown = subprocess.run(line, check=True, stdout=subprocess.PIPE, text=True).stdout
    return dict(json.loads(shown.splitlines()[-1]))


@dataclass(frozen=True)
class Value:
    """A figure of the baseline."""

    value: float


@dataclass(frozen=True)
class Figures:
    """A baseline, as far as verdicts use it."""

    figures: Mapping[str, Value]


def figures(values: Mapping[str, float]) -> BaselineFigures:
    """Return values as a baseline."""
    return Figures({name: Value(value) for name, value in values.items()})


def save_baseline(path: Path, baseline: Mapping[str, float], disk: str) -> None:
    """Write the baseline, and what belongs to it, for tests."""
    saved = {"disk": disk, "link": {LINK: LINK_RATE}, "figures": baseline}
    path.write_text(json.dumps(saved, indent=2) + "\n")


def save_recording(recording: Path, path: Path) -> None:
    """Write the header and the samples of a recording into one compressed file."""
    header = json.loads((recording / "recording.json").read_text())
    header |= {"environment": {}, "command": [path.name.partition(".")[0]]}
    text = json.dumps(header) + "\n" + (recording / "samples.jsonl").read_text()
    path.write_bytes(gzip.compress(text.encode(), mtime=0))


if __name__ == "__main__":
    sys.exit(main())
