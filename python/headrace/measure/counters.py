"""Samples of processor, memory and device counters during a measurement."""

import os
import resource
import time
from os import PathLike
from pathlib import Path
from typing import Any, NamedTuple

import msgspec
import polars as pl
import psutil

from headrace.measure.report import CounterMeans

SERIES = pl.Schema(
    {
        "time_s": pl.Float64,
        "window_s": pl.Float64,
        "cpu_user": pl.Float64,
        "cpu_system": pl.Float64,
        "cpu_iowait": pl.Float64,
        "cpu_steal": pl.Float64,
        "cpu_own": pl.Float64,
        "device_busy": pl.Float64,
        "device_flushing": pl.Float64,
        "device_read_bytes_per_s": pl.Float64,
        "device_write_bytes_per_s": pl.Float64,
        "device_reads_per_s": pl.Float64,
        "device_writes_per_s": pl.Float64,
        "cached_bytes": pl.UInt64,
        "dirty_bytes": pl.UInt64,
    }
)
"""Columns of the counters. Processor columns are shares of all processors; `cpu_own` is that of the
benchmark. `device_busy` excludes flushes, whose times are summed in a column of their own. Device
columns are null without a device below the directory."""

INTERVAL_S = 1.0
"""Least seconds between two samples. Reading them takes a fraction of a millisecond."""


class Reading(NamedTuple):
    """Values of all counters at a time."""

    time: float
    """Seconds of the monotonic clock."""
    cpu: Any
    """Times of `psutil.cpu_times`, whose fields depend on the kernel."""
    own: float
    """Processor seconds of this process."""
    device: Any
    """Counters of `psutil.disk_io_counters`; None without a device."""
    flushing: float | None
    """Seconds that the device's flushes have taken."""
    cached: int
    """Bytes in the page cache."""
    dirty: int
    """Dirty bytes in the page cache."""


class Counters:
    """Samples, from when it is made on."""

    def __init__(self, directory: str | PathLike[str]) -> None:
        self.device = device_below(directory)
        self._rows: list[dict[str, float | None]] = []
        self._start = self._last = self._now()

    def restart(self) -> None:
        """Discard all samples and start again."""
        self._rows = []
        self._start = self._last = self._now()

    def sample(self, *, at_once: bool = False) -> None:
        """Take a sample if the last one is long enough ago."""
        now = time.monotonic()
        passed = now - self._last.time
        if passed >= INTERVAL_S or (at_once and passed > 0):
            last, self._last = self._last, self._now()
            self._rows.append(_between(last, self._last, self._start.time))

    def frame(self) -> pl.DataFrame:
        """The samples."""
        return pl.DataFrame(self._rows, schema=SERIES)

    def summary(self) -> CounterMeans:
        """Return means over the whole time for the result's document."""
        row = _between(self._start, self._last, self._start.time)
        named = {name: value for name, value in row.items() if name.startswith(("cpu", "device"))}
        described = {"device": self.device, "processors": psutil.cpu_count() or 1}
        return msgspec.convert(described | named, CounterMeans)

    def _now(self) -> Reading:
        disk = psutil.disk_io_counters(perdisk=True, nowrap=False) if self.device else {}
        memory = _memory()
        return Reading(
            time.monotonic(),
            psutil.cpu_times(),
            _own_seconds(),
            disk.get(self.device) if self.device else None,
            _flushing(self.device),
            memory.get("Cached", 0),
            memory.get("Dirty", 0),
        )


def _between(before: Reading, after: Reading, start: float) -> dict[str, float | None]:
    passed = max(after.time - before.time, 1e-9)
    cores = psutil.cpu_count() or 1

    def share(*fields: str) -> float:
        seconds: float = sum(
            getattr(after.cpu, field, 0.0) - getattr(before.cpu, field, 0.0) for field in fields
        )
        return min(max(seconds / passed / cores, 0.0), 1.0)

    def device(field: str, unit: float = 1.0) -> float | None:
        if before.device is None or after.device is None:
            return None
        counted = getattr(after.device, field) - getattr(before.device, field)
        return float(max(counted, 0) * unit / passed)

    busy = device("busy_time", 1e-3)
    flushing = None
    if before.flushing is not None and after.flushing is not None:
        flushing = max(after.flushing - before.flushing, 0.0) / passed
    return {
        "time_s": before.time - start,
        "window_s": passed,
        "cpu_user": share("user", "nice"),
        "cpu_system": share("system", "irq", "softirq"),
        "cpu_iowait": share("iowait"),
        "cpu_steal": share("steal"),
        "cpu_own": min((after.own - before.own) / passed / cores, 1.0),
        "device_busy": None if busy is None else min(busy, 1.0),
        "device_flushing": flushing,
        "device_read_bytes_per_s": device("read_bytes"),
        "device_write_bytes_per_s": device("write_bytes"),
        "device_reads_per_s": device("read_count"),
        "device_writes_per_s": device("write_count"),
        "cached_bytes": after.cached,
        "dirty_bytes": after.dirty,
    }


def _own_seconds() -> float:
    """Return the processor seconds of all threads. getrusage(2) counts finer than the ticks of
    /proc."""
    usage = resource.getrusage(resource.RUSAGE_SELF)
    return usage.ru_utime + usage.ru_stime


def _flushing(device: str | None) -> float | None:
    """Return the seconds that a device's flushes have taken so far; None if the kernel does not
    count them. Source: the last field in Linux, Documentation/block/stat.rst, since 5.5."""
    try:
        fields = Path(f"/sys/class/block/{device}/stat").read_text(encoding="ascii").split()
        return int(fields[16]) * 1e-3
    except (OSError, IndexError, ValueError):
        return None


def _memory() -> dict[str, int]:
    """Bytes by the names of /proc/meminfo; nothing where there is none."""
    try:
        lines = Path("/proc/meminfo").read_text(encoding="ascii").splitlines()
    except OSError:
        return {}
    named = (line.split(":", 1) for line in lines if ":" in line)
    return {name: int(rest.split()[0]) * 1024 for name, rest in named if name in MEMORY}


MEMORY = ("Cached", "Dirty", "MemTotal")


def device_below(directory: str | PathLike[str]) -> str | None:
    """Return the block device below a directory's file system, as /proc/diskstats names it.
    None if there is none, as for tmpfs and network file systems."""
    try:
        number = os.stat(directory).st_dev
        device = Path(f"/sys/dev/block/{os.major(number)}:{os.minor(number)}").resolve(strict=True)
    except OSError:
        return None
    return device.name
