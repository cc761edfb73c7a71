"""Figures of this host at an interval, in a buffer of bounded size.

Needs only the standard library.
"""

import os
import platform
import secrets
import socket
import threading
import time
from collections import deque
from collections.abc import Callable, Mapping
from importlib.metadata import PackageNotFoundError, version
from typing import NamedTuple, TypeAlias

from headrace.profile.counters import OF_MACHINE, Columns, Watched
from headrace.profile.counters.reader import CounterReader

BUFFER_S = 3600.0
"""Length of the buffer."""
BUFFER_FIGURES = 500_000
"""Figures in the buffer, about 50 MB: a host with many devices has a shorter buffer."""
MOST_FIGURES = 512
"""Figures of a sample."""
WITHOUT = ("disk.loop", "disk.ram", "disk.zram", "disk.sr", "disk.fd")
"""Devices that hold no data of their own."""
JUMP_S = 1.0
"""Difference after which the clock of samples follows the host's clock forwards."""
SHORTEST_S, LONGEST_S = 0.1, 60.0
"""Range of intervals. Processor time is counted in ticks of 10 ms."""


Facts: TypeAlias = dict[str, str | int | float]
"""Facts about a host by name. An agent of another version may have others."""


class Sample(NamedTuple):
    """Figures of an interval."""

    number: int
    """Increases by one."""
    end: float
    """Seconds since the epoch on the host's clock."""
    seconds: float
    """Length of the interval."""
    figures: Mapping[str, float]
    """By name as in docs/reference/profile-samples.md. Unknown ones are left out."""


def host_facts() -> Facts:
    """Return name, kernel, processors, memory and version of Headrace of this host."""
    try:
        of_headrace = version("headrace")
    except PackageNotFoundError:
        of_headrace = "unknown"
    return {
        "name": socket.gethostname(),
        "kernel": f"{platform.system()} {platform.release()}",
        "machine": platform.machine(),
        "processors": os.cpu_count() or 0,
        "memory_bytes": os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES"),
        "version": of_headrace,
    }


class HostSampler:
    """Samples this host in a thread of its own and keeps the samples of the last hour."""

    def __init__(self, interval_s: float = 1.0, watched: Watched | None = None) -> None:
        """Open the counters.

        Parameters:
            interval_s: Seconds between samples, 0.1 to 60.
            watched: Files of the kernel; by default those of this host.

        Raises:
            ValueError: if the interval is out of range.
        """
        if not SHORTEST_S <= interval_s <= LONGEST_S:
            raise ValueError(
                f"interval {interval_s:g} s: expected {SHORTEST_S:g} to {LONGEST_S:g} s"
            )
        self.interval_s = interval_s
        self.instance = secrets.token_hex(8)
        """Identifies the numbering of the samples."""
        self._reader = CounterReader(watched or Watched(), OF_MACHINE)
        self._samples: deque[Sample] = deque(maxlen=int(BUFFER_S / interval_s))
        self._figures = 0
        self._lock = threading.Lock()
        self._over = threading.Event()
        self._anchor = time.time() - time.monotonic()
        self._before = (time.monotonic(), self._reader.read())
        self._number = 0
        self._thread: threading.Thread | None = None

    def now(self) -> float:
        """Return the time on the clock of the samples, which never goes backwards."""
        steady = time.monotonic()
        if time.time() - steady > self._anchor + JUMP_S:
            self._anchor = time.time() - steady
        return self._anchor + steady

    def start(self, on_sample: Callable[[Sample], None] | None = None) -> None:
        """Begin to sample. `on_sample` gets each sample, in the sampler's thread."""
        self._thread = threading.Thread(
            target=self._run, args=(on_sample,), name="headrace-sampler", daemon=True
        )
        self._thread.start()

    def close(self) -> None:
        """Stop sampling."""
        self._over.set()
        if self._thread is not None:
            self._thread.join()

    def take(self) -> Sample | None:
        """Sample now; None if no time has passed since the sample before."""
        monotonic, counters = time.monotonic(), self._reader.read()
        then, before = self._before
        seconds = monotonic - then
        if seconds <= 0:
            return None
        figures = chosen_figures(self._reader.rates(before, counters, seconds))
        self._before = (monotonic, counters)
        self._number += 1
        sample = Sample(self._number, round(self.now(), 3), round(seconds, 4), figures)
        with self._lock:
            if len(self._samples) == self._samples.maxlen:
                self._drop()
            self._samples.append(sample)
            self._figures += len(figures)
            while self._figures > BUFFER_FIGURES:
                self._drop()
        return sample

    def after(self, number: int, most: int) -> list[Sample]:
        """Return the oldest samples after a number, `most` at most."""
        with self._lock:
            if not self._samples:
                return []
            first = self._samples[0].number
            skip = max(number + 1 - first, 0)
            return [self._samples[at] for at in range(skip, min(skip + most, len(self._samples)))]

    def _drop(self) -> None:
        self._figures -= len(self._samples.popleft().figures)

    def _run(self, on_sample: Callable[[Sample], None] | None) -> None:
        due = time.monotonic() + self.interval_s
        while not self._over.wait(max(due - time.monotonic(), 0.0)):
            sample = self.take()
            if sample is not None and on_sample is not None:
                on_sample(sample)
            # A sample that is late does not delay the next one; missed ones are left out.
            late = max(time.monotonic() - due, 0.0)
            due += (1 + int(late / self.interval_s)) * self.interval_s


def chosen_figures(columns: Columns) -> dict[str, float]:
    """Return the figures of a sample: without single processors, and with those of whole disks."""
    figures: dict[str, float] = {}
    busiest: dict[str, float] = {}
    disks_seen: dict[str, None] = {}
    for name, value in columns.items():
        if value is None or name.startswith(WITHOUT):
            continue
        kind, _, rest = name.partition(".")
        if kind == "cpu" and "." in rest:
            number, _, state = rest.partition(".")
            idle = value if state in ("idle", "iowait") else 0.0
            busiest[number] = busiest.get(number, 1.0) - idle
            continue
        if kind == "disk":
            disks_seen[rest.rpartition(".")[0]] = None
        figures[name] = value
    if busiest:
        figures["cpu.busiest"] = max(max(busiest.values()), 0.0)
    for disk in disks_seen:
        service = _service_time(figures, f"disk.{disk}")
        if service is not None:
            figures[f"disk.{disk}.service_s"] = service
    if len(figures) > MOST_FIGURES:
        figures = dict(list(figures.items())[:MOST_FIGURES])
    return {name: round(value, 9) for name, value in figures.items()}


def _service_time(figures: Mapping[str, float], disk: str) -> float | None:
    """Return the mean service time of all requests of a disk; None without requests."""
    total = requests = 0.0
    for count, time_s in (("reads_per_s", "read_service_s"), ("writes_per_s", "write_service_s")):
        number, service = figures.get(f"{disk}.{count}"), figures.get(f"{disk}.{time_s}")
        if number and service is not None:
            requests += number
            total += number * service
    return total / requests if requests else None
