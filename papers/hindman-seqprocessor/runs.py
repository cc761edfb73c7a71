"""The seqprocessor's versions on two disks: baseline, runs, and the trace of version 1."""

import json
import os
import subprocess
import sys
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import msgspec
import polars as pl
from disks import Disk, compile_program, disks

from headrace.profile.baseline import Baseline
from headrace.profile.document import Profile
from headrace.profile.recording import rates

MIB = 1 << 20
READ_RATE, WRITE_RATE = 428e6, 400e6
"""Rates of a disk in B/s: 183 to 171, as table D.6 has them."""
DISK_SIZE = 2560 * MIB
INPUT_SIZE = 1024 * MIB
DIRTY_LIMIT = 64 * MIB
"""Limit of dirty data of a disk, far below the size of the input, as in section 5.4."""
BASELINE_FILE = "768 MiB"
BLOCKS = 128
"""Length of version 3's ring (section 5.4.3)."""
INTERVAL_S = 0.2
ROUNDS = 3
HEADRACE = (sys.executable, "-P", "-m", "headrace")


@dataclass(frozen=True)
class Version:
    """A program of the seqprocessor on one disk or two."""

    name: str
    source: str
    two_disks: bool
    arguments: tuple[str, ...] = ()


VERSIONS = (
    Version("1: characters, one disk", "seqprocessor-1.c", False),
    Version("2: blocks of 1 MiB, one disk", "seqprocessor-2.c", False),
    Version("2: blocks of 1 MiB, two disks", "seqprocessor-2.c", True),
    Version("3: threads and a ring, two disks", "seqprocessor-3.c", True, (str(BLOCKS),)),
)


@dataclass(frozen=True)
class Run:
    """A profiled run."""

    profile: Profile
    rates: pl.DataFrame

    @property
    def seconds(self) -> float:
        """Run time."""
        return self.profile.duration_s


@dataclass(frozen=True)
class Experiment:
    """All that was measured."""

    baseline: Baseline
    runs: Mapping[str, list[Run]]
    """By version."""
    traced: Run
    trace: Path
    """Captured operations of version 1."""
    disks: tuple[Disk, Disk]


@contextmanager
def experiment(folder: Path, report: Callable[[str], None]) -> Iterator[Experiment]:
    """Measure everything; the trace exists for the duration of the `with` block.

    Raises OSError if a disk cannot be made or a program fails.
    """
    environment = {**os.environ, "HEADRACE_STORE": str(folder / "store")}
    with disks(folder, 2, DISK_SIZE, READ_RATE, WRITE_RATE, DIRTY_LIMIT) as (first, second):
        programs = {it.source: compile_program(it.source, folder) for it in VERSIONS}
        source = first.mount_point / "input"
        write_input(source)
        report("baseline")
        saved = folder / "baseline.json"
        options = ["--file-size", BASELINE_FILE, "-o", saved, "--json"]
        headrace(["baseline", first.mount_point, *options], environment)
        baseline = Baseline.from_document(json.loads(saved.read_bytes()))

        def run(version: Version, name: str, capture: str) -> Run:
            target = (second if version.two_disks else first).mount_point / "output"
            evict(source)
            directory = folder / name
            recorded = headrace(
                [
                    *("profile", "record", "--interval", INTERVAL_S, "--capture", capture),
                    *("--baseline-directory", first.mount_point, "--no-report", "--no-store"),
                    *("--no-advice", "--json", "-o", directory, "--"),
                    *(programs[version.source], source, target, *version.arguments),
                ],
                environment,
            )
            # What is dirty still must not slow down the next run.
            evict(target)
            target.unlink()
            return Run(msgspec.json.decode(recorded, type=Profile), rates(directory))

        runs: dict[str, list[Run]] = {it.name: [] for it in VERSIONS}
        for number in range(ROUNDS):
            for version in VERSIONS:
                report(f"version {version.name}, run {number + 1} of {ROUNDS}")
                runs[version.name].append(
                    run(version, f"{number}-{version.name[:12]}-{version.two_disks}", "none")
                )
        report("version 1 with strace")
        traced = run(VERSIONS[0], "traced", "strace")
        yield Experiment(
            baseline, runs, traced, folder / "traced" / "trace.strace", (first, second)
        )


def write_input(path: Path) -> None:
    """Write a file of bases."""
    block = b"ACGTTGCA" * (MIB // 8)
    with path.open("wb") as file:
        for _ in range(INPUT_SIZE // MIB):
            file.write(block)


def evict(path: Path) -> None:
    """Write a file back and remove it from the page cache."""
    descriptor = os.open(path, os.O_RDWR)
    try:
        os.fsync(descriptor)
        os.posix_fadvise(descriptor, 0, 0, os.POSIX_FADV_DONTNEED)
    finally:
        os.close(descriptor)


def headrace(arguments: list[object], environment: Mapping[str, str]) -> bytes:
    """Run a command of Headrace and return its output. Raises OSError if it fails."""
    command = [*HEADRACE, *map(str, arguments)]
    done = subprocess.run(command, env=environment, capture_output=True, stdin=subprocess.DEVNULL)
    if done.returncode:
        raise OSError(f"headrace {arguments[0]}: {done.stderr.decode().strip()[-500:]}")
    return done.stdout
