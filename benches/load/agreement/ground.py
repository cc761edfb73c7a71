"""What all cases share: a place on the file system, a common file, and how a case looks."""

from __future__ import annotations

import os
import subprocess
import tempfile
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeAlias

from headrace import _core, measure
from headrace.measure.benchmark import measure_in

KIB, MIB = 1 << 10, 1 << 20
SIZE = 1024 * MIB
"""Bytes of each large file: with less, what a tool takes to begin shows."""
LARGE_DIRECT = 64 * KIB
"""Bytes of a direct transfer in order. Larger ones take twice as long, or half, as pages of the
buffer happen to be neighbours in the memory of a process: a virtual disk has a descriptor for
each piece, and takes 254 at a time, which 1 MiB in pages of 4 KiB exceeds."""

REST = 3.0
"""Seconds in which nothing is freed before what is to be read leaves the page cache. Where memory
that a virtual machine frees goes back to its host, it does so 2 s after the first of it was freed
(Linux 6.18, mm/page_reporting.c, PAGE_REPORTING_DELAY), and the next who gets it waits until the
host has found some again. Without a pause that falls between leaving and reading by chance."""

Work: TypeAlias = Callable[[str], list[dict[str, Any]]]
"""Carries a workload out, and gives its phases."""
Figures: TypeAlias = Mapping[str, float]
"""By name: bytes a second, or operations a second."""


class Ground:
    """A directory on the file system, and in it a file that everybody reads: where two files
    lie on a virtual disk, its host may have one of them in memory."""

    def __init__(self, below: Path) -> None:
        # Tools may be run in another directory.
        self.below = below.resolve()
        self._directory = _core.BenchmarkDirectory(self.below)
        self.common = Path(self._directory.path) / "hr-w0" / "hr-d0" / "hr-f0"
        self.on_common('phases = ["read"]\ntransfer = "1 MiB"\n')

    def read_common(self) -> None:
        """Has the device read the common file, past the page cache."""
        output("dd", f"if={self.common}", "of=/dev/null", "bs=1M", "iflag=direct")

    def remove(self) -> None:
        """Removes the common file."""
        self._directory.remove()

    def on_common(self, workload: str) -> list[dict[str, Any]]:
        """The phases of Headrace's work on the common file."""
        text = f'block = "{SIZE} B"\nio.existing = true\n{workload}'
        return phases(measure_in(self._directory, loaded(text)))

    def anew(self, workload: str, *, processes: int = 1) -> list[dict[str, Any]]:
        """The phases of Headrace's work on files of its own."""
        return phases(measure.measure(loaded(workload, processes), self.below))

    @contextmanager
    def kept(self) -> Iterator[tuple[Path, Work]]:
        """What does Headrace's work on files that stay for the next, and where they are."""
        directory = _core.BenchmarkDirectory(self.below)
        try:
            files = Path(directory.path) / "hr-w0"
            yield files, lambda workload: phases(measure_in(directory, loaded(workload)))
        finally:
            directory.remove()

    @contextmanager
    def folder(self) -> Iterator[Path]:
        """A directory for another tool's files."""
        with tempfile.TemporaryDirectory(dir=self.below, prefix="agreement-") as folder:
            yield Path(folder)


@dataclass(frozen=True)
class Case:
    """The same work for Headrace and for another tool."""

    tool: str
    """Its command."""
    name: str
    units: Mapping[str, str]
    """The figures that both give, in order, and their units: `MB/s` or `1/s`."""
    ours: Callable[[Ground], Figures]
    theirs: Callable[[Ground], Figures]
    cold: bool = False
    """Whether it reads what has just left the page cache."""


def loaded(workload: str, processes: int = 1) -> _core.Loaded:
    """A workload of so many processes of one client."""
    return measure.load(f"[clients]\nprocesses = {processes}\n[[workload]]\n{workload}")


def phases(measured: measure.Measurement) -> list[dict[str, Any]]:
    """What was done in each phase. Ends the program if something failed."""
    if measured.partial:
        raise SystemExit(f"agreement: {measured.document.get('error', 'interrupted')}")
    done: list[dict[str, Any]] = measured.document["phases"]
    return done


def rate(done: list[dict[str, Any]], operation: str, unit: str = "bytes") -> float:
    """Bytes, or operations (`"count"`), a second: until the last phase's end, the sync behind
    a write."""
    of_it = [it for it in done if it["operation"] == operation]
    seconds: float = max(it["to_s"] for it in done) - min(it["from_s"] for it in of_it)
    total: float = sum(it[unit] for it in of_it)
    return total / seconds


def output(*command: str | Path, status: int = 0, folder: Path | None = None) -> str:
    """What a command prints, in a folder if it leaves files in its own. Ends the program if it
    fails."""
    environment = {**os.environ, "LC_ALL": "C"}
    done = subprocess.run(command, capture_output=True, text=True, env=environment, cwd=folder)
    if done.returncode != status:
        raise SystemExit(f"agreement: {command[0]} ended with {done.returncode}: {done.stderr}")
    return done.stdout + done.stderr


def forget(path: Path) -> None:
    """Has a file leave the page cache, as Headrace does with what it is to read."""
    descriptor = os.open(path, os.O_RDONLY)
    try:
        os.posix_fadvise(descriptor, 0, 0, os.POSIX_FADV_DONTNEED)
    finally:
        os.close(descriptor)
