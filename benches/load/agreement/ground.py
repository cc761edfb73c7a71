"""Shared parts of all cases: a directory, a common file, and the form of a case."""

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
"""Size of each large file in bytes; with less, the start of a tool shows."""
LARGE_DIRECT = 64 * KIB
"""Size of a sequential direct transfer, in bytes. Larger ones take twice or half as long, depending
on which pages of the buffer are contiguous. A virtual disk needs a descriptor per segment and takes
254 at a time; 1 MiB in pages of 4 KiB exceeds that."""

REST = 3.0
"""Seconds without freed memory before a file is evicted. A virtual machine reports free pages to
its host 2 s after the first was freed (Linux 6.18, mm/page_reporting.c, PAGE_REPORTING_DELAY).
Their next user waits until the host provides memory. Without this pause the report may fall between
eviction and reading."""

Work: TypeAlias = Callable[[str], list[dict[str, Any]]]
"""Runs a workload and returns its phases."""
Figures: TypeAlias = Mapping[str, float]
"""Bytes or operations per second, by name."""


class Ground:
    """A directory, and in it a file that all readers share. The host may cache one of two files on
    a virtual disk but not the other."""

    def __init__(self, below: Path) -> None:
        # Tools may be run in another directory.
        self.below = below.resolve()
        self._directory = _core.BenchmarkDirectory(self.below)
        self.common = Path(self._directory.path) / "hr-w0" / "hr-d0" / "hr-f0"
        self.on_common('phases = ["read"]\ntransfer = "1 MiB"\n')

    def read_common(self) -> None:
        """Read the common file with direct I/O."""
        output("dd", f"if={self.common}", "of=/dev/null", "bs=1M", "iflag=direct")

    def remove(self) -> None:
        """Remove the common file."""
        self._directory.remove()

    def on_common(self, workload: str) -> list[dict[str, Any]]:
        """Return the phases of Headrace's workload on the common file."""
        text = f'block = "{SIZE} B"\nio.existing = true\n{workload}'
        return phases(measure_in(self._directory, loaded(text)))

    def on_own_files(self, workload: str, *, processes: int = 1) -> list[dict[str, Any]]:
        """Return the phases of Headrace's workload on files of its own."""
        return phases(measure.measure(loaded(workload, processes), self.below))

    @contextmanager
    def on_remaining_files(self) -> Iterator[tuple[Path, Work]]:
        """Return a function that runs Headrace's workload on files that remain, and their
        directory."""
        directory = _core.BenchmarkDirectory(self.below)
        try:
            files = Path(directory.path) / "hr-w0"
            yield files, lambda workload: phases(measure_in(directory, loaded(workload)))
        finally:
            directory.remove()

    @contextmanager
    def folder(self) -> Iterator[Path]:
        """Create a directory for another tool's files."""
        with tempfile.TemporaryDirectory(dir=self.below, prefix="agreement-") as folder:
            yield Path(folder)


@dataclass(frozen=True)
class Case:
    """The same workload for Headrace and for another tool."""

    tool: str
    """Command of the tool."""
    name: str
    units: Mapping[str, str]
    """Results of both and their units, `MB/s` or `1/s`, in order."""
    ours: Callable[[Ground], Figures]
    theirs: Callable[[Ground], Figures]
    cold: bool = False
    """True if it reads data that was just evicted from the page cache."""


def loaded(workload: str, processes: int = 1) -> _core.Loaded:
    """Load a workload for a number of processes of one client."""
    return measure.load(f"[clients]\nprocesses = {processes}\n[[workload]]\n{workload}")


def phases(measured: measure.Measurement) -> list[dict[str, Any]]:
    """Return the phases of a result. Exit if something failed."""
    if measured.partial:
        raise SystemExit(f"agreement: headrace: {measured.document.get('error', 'interrupted')}")
    done: list[dict[str, Any]] = measured.document["phases"]
    return done


def rate(done: list[dict[str, Any]], operation: str, unit: str = "bytes") -> float:
    """Return bytes or operations (`"count"`) per second until the end of the last phase, the sync
    after a write."""
    of_it = [it for it in done if it["operation"] == operation]
    seconds: float = max(it["to_s"] for it in done) - min(it["from_s"] for it in of_it)
    total: float = sum(it[unit] for it in of_it)
    return total / seconds


def output(*command: str | Path, status: int = 0, folder: Path | None = None) -> str:
    """Return a command's output, run in a directory if it leaves files. Exit if it fails."""
    environment = {**os.environ, "LC_ALL": "C"}
    done = subprocess.run(command, capture_output=True, text=True, env=environment, cwd=folder)
    if done.returncode != status:
        raise SystemExit(f"agreement: {command[0]}: exit status {done.returncode}: {done.stderr}")
    return done.stdout + done.stderr


def forget(path: Path) -> None:
    """Evict a file from the page cache, as Headrace does before reads."""
    descriptor = os.open(path, os.O_RDONLY)
    try:
        os.posix_fadvise(descriptor, 0, 0, os.POSIX_FADV_DONTNEED)
    finally:
        os.close(descriptor)
