"""Series of the charts of monitors. All watchers of a host share one reading of the history."""

import threading
import time
from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

from headrace.monitors.history import DAY, HOUR, LEVELS, MEAN, History, Row
from headrace.render.echarts import Series, Span
from headrace.web.job_samples import Window, windows
from headrace.web.jobs import JobQueue

MEGA, GIBI = 1e-6, 2.0**-30
PERCENT, MILLI = 100.0, 1e3
MOST_READINGS = 32
"""Readings that are kept for other watchers."""
STATISTICS = ("mean", "smallest", "largest")


class Range(NamedTuple):
    """A time that charts show."""

    label: str
    seconds: float
    level: int
    every_s: float
    """Time between two looks for new samples."""


RANGES: Mapping[str, Range] = {
    "5min": Range("5 min", 300.0, 0, 4.0),
    "1h": Range("1 hour", HOUR, 1, 10.0),
    "1day": Range("1 day", DAY, 2, 60.0),
    "30days": Range("30 days", 30 * DAY, 3, 300.0),
}


class Line(NamedTuple):
    """A series of a chart: its name, the figure after the device's prefix, and its factor."""

    name: str
    figure: str
    factor: float = 1.0


class ChartOf(NamedTuple):
    """A chart of a monitor."""

    group: str
    title: str
    y: str
    kind: str
    """How the names of the figures of its devices begin; empty for the host itself."""
    lines: Sequence[Line]


CHARTS: Sequence[ChartOf] = (
    ChartOf(
        "Processors and memory",
        "Processors",
        "share of time (%)",
        "",
        (
            Line("user", "cpu.user", PERCENT),
            Line("system", "cpu.system", PERCENT),
            Line("I/O wait", "cpu.iowait", PERCENT),
            Line("steal", "cpu.steal", PERCENT),
            Line("busiest processor", "cpu.busiest", PERCENT),
        ),
    ),
    ChartOf(
        "Processors and memory",
        "Memory",
        "memory (GiB)",
        "",
        (
            Line("used", "memory.used_bytes", GIBI),
            Line("page cache", "memory.cached_bytes", GIBI),
            Line("available", "memory.available_bytes", GIBI),
            Line("dirty", "memory.dirty_bytes", GIBI),
            Line("swap used", "memory.swap_used_bytes", GIBI),
        ),
    ),
    ChartOf(
        "Processors and memory",
        "Pressure: time in which tasks wait",
        "share of time (%)",
        "",
        (
            Line("for processors", "pressure.cpu", PERCENT),
            Line("for memory", "pressure.memory", PERCENT),
            Line("for I/O", "pressure.io", PERCENT),
        ),
    ),
    ChartOf(
        "Disks",
        "Disk throughput",
        "throughput (MB/s)",
        "disk.",
        (Line("read", "read_bytes_per_s", MEGA), Line("write", "write_bytes_per_s", MEGA)),
    ),
    ChartOf(
        "Disks",
        "Disk operations",
        "operations/s",
        "disk.",
        (
            Line("reads", "reads_per_s"),
            Line("writes", "writes_per_s"),
            Line("flushes", "flushes_per_s"),
        ),
    ),
    ChartOf(
        "Disks",
        "Disk utilisation",
        "share of time (%)",
        "disk.",
        (Line("utilisation", "utilisation", PERCENT),),
    ),
    ChartOf(
        "Disks",
        "Disk service time",
        "service time (ms)",
        "disk.",
        (
            Line("all", "service_s", MILLI),
            Line("reads", "read_service_s", MILLI),
            Line("writes", "write_service_s", MILLI),
        ),
    ),
    ChartOf("Disks", "Disk queue", "requests", "disk.", (Line("queue", "queue"),)),
    ChartOf(
        "Network",
        "Network throughput",
        "throughput (MB/s)",
        "net.",
        (Line("received", "receive_bytes_per_s", MEGA), Line("sent", "send_bytes_per_s", MEGA)),
    ),
    ChartOf(
        "Network",
        "Network packets",
        "packets/s",
        "net.",
        (Line("received", "receive_packets_per_s"), Line("sent", "send_packets_per_s")),
    ),
    ChartOf(
        "Network",
        "Network errors",
        "events/s",
        "net.",
        (
            Line("errors", "errors_per_s"),
            Line("drops", "drops_per_s"),
            Line("collisions", "collisions_per_s"),
        ),
    ),
    ChartOf("Network", "TCP", "segments/s", "", (Line("sent again", "tcp.retransmits_per_s"),)),
    ChartOf(
        "Network",
        "InfiniBand",
        "throughput (MB/s)",
        "infiniband.",
        (Line("received", "receive_bytes_per_s", MEGA), Line("sent", "send_bytes_per_s", MEGA)),
    ),
    ChartOf(
        "Protocols",
        "NFS requests",
        "requests/s",
        "nfs.",
        (
            Line("all", "calls_per_s"),
            Line("reads", "read_calls_per_s"),
            Line("writes", "write_calls_per_s"),
            Line("sent again", "retransmits_per_s"),
        ),
    ),
    ChartOf(
        "Protocols",
        "NFS round trip",
        "time (ms)",
        "nfs.",
        (
            Line("round trip", "rtt_s", MILLI),
            Line("with queue", "execute_s", MILLI),
            Line("before sending", "queue_s", MILLI),
        ),
    ),
    ChartOf(
        "Protocols",
        "Lustre throughput",
        "throughput (MB/s)",
        "lustre.",
        (Line("read", "read_bytes_per_s", MEGA), Line("write", "write_bytes_per_s", MEGA)),
    ),
    ChartOf(
        "Protocols",
        "Lustre operations",
        "operations/s",
        "lustre.",
        (
            Line("reads", "reads_per_s"),
            Line("writes", "writes_per_s"),
            Line("metadata", "metadata_per_s"),
        ),
    ),
)
KINDS: Mapping[str, str] = {
    "disk.": "Disk",
    "net.": "Network interface",
    "infiniband.": "InfiniBand port",
    "nfs.": "NFS mount",
    "lustre.": "Lustre mount",
}
"""Kinds of devices, and their names in pages."""


class Reading(NamedTuple):
    """The figures of a host within a time."""

    begin: float
    end: float
    times: Sequence[float]
    values: Mapping[str, Mapping[str, Sequence[float | None]]]
    """By figure, then by statistic; None where unknown, and where samples are missing."""
    windows: Sequence[Window]

    def devices(self, kind: str) -> list[str]:
        """Return the devices of a kind, those with most throughput first."""
        sizes: dict[str, float] = {}
        for name, of_it in self.values.items():
            if name.startswith(kind):
                device = name.removeprefix(kind).rpartition(".")[0]
                sizes.setdefault(device, 0.0)
                if name.endswith("_bytes_per_s"):
                    sizes[device] += sum(value for value in of_it["mean"] if value is not None)
        # The loopback interface is not a network.
        return sorted(sizes, key=lambda key: (kind == "net." and key == "lo", -sizes[key]))

    def series(self, chart: ChartOf, device: str, statistic: str) -> list[Series]:
        """Return the series of a chart. Figures that the host does not have are left out."""
        prefix = f"{chart.kind}{device}." if chart.kind else ""
        lines = []
        for line in chart.lines:
            of_it = self.values.get(prefix + line.figure)
            if of_it is None:
                continue
            y = [None if it is None else _short(it * line.factor) for it in of_it[statistic]]
            lines.append(Series(line.name, self.times, y))
        return lines

    def spans(self) -> list[Span]:
        """Return the times of jobs."""
        return [
            Span(max(it.begin, self.begin), min(it.end, self.end), it.title) for it in self.windows
        ]


class Readings:
    """Readings of the history, shared by all watchers."""

    def __init__(self, history: History, jobs: JobQueue) -> None:
        self._history, self._jobs = history, jobs
        self._lock = threading.Lock()
        self._found: dict[tuple[Any, ...], tuple[float, Reading]] = {}
        self.count = 0
        """Readings that were made."""

    def recent(self, host: str, name: str) -> Reading:
        """Return the last part of the history: one of `RANGES`."""
        range_ = RANGES[name]
        return self._shared(
            (host, name),
            0.9 * range_.every_s,
            lambda now: self._read(host, now - range_.seconds, now, range_.level),
        )

    def between(self, host: str, begin: float, end: float) -> Reading:
        """Return the history within a time, at the finest resolution that is moderate in size."""

        def read(now: float) -> Reading:
            return self._read(host, begin, end, self._history.level_for(begin, end, now))

        return self._shared((host, begin, end), 2.0, read)

    def _shared(
        self, key: tuple[Any, ...], age_s: float, read: Callable[[float], Reading]
    ) -> Reading:
        with self._lock:
            now = time.time()
            known = self._found.get(key)
            if known is not None and known[0] <= now < known[0] + age_s:
                return known[1]
            reading = read(now)
            self.count += 1
            self._found[key] = (now, reading)
            while len(self._found) > MOST_READINGS:
                del self._found[min(self._found, key=lambda name: self._found[name][0])]
            return reading

    def _read(self, host: str, begin: float, end: float, level: int) -> Reading:
        rows = self._history.rows(host, begin, end, level)
        times, values = _columns(rows, LEVELS[level].width_s)
        return Reading(begin, end, times, values, windows(self._jobs, begin, end))


def _short(value: float) -> float:
    """Return a value with the digits that a chart shows."""
    return float(f"{value:.5g}")


def _columns(
    rows: Sequence[Row], width_s: float
) -> tuple[list[float], dict[str, dict[str, Sequence[float | None]]]]:
    """Return times, and the values of each figure by statistic, with a gap where rows are
    missing."""
    places: list[int] = []
    times: list[float] = []
    for at, row in enumerate(rows):
        length = max(width_s, row.seconds)
        if at and row.time - rows[at - 1].time > 2.5 * length:
            times.append(rows[at - 1].time + length)
        places.append(len(times))
        times.append(row.time)
    names = list(dict.fromkeys(name for each in rows for name in each.names))
    number = {name: at for at, name in enumerate(names)}
    table = np.full((len(STATISTICS), len(names), len(times)), np.nan)
    for at, row in zip(places, rows, strict=True):
        to = [number[name] for name in row.names]
        table[:, to, at] = row.values[MEAN : len(STATISTICS)]
    as_lists = table.tolist()
    unknown = np.isnan(table)
    for one, two, three in np.argwhere(unknown):
        as_lists[one][two][three] = None
    values: dict[str, dict[str, Sequence[float | None]]] = {
        name: {statistic: as_lists[which][at] for which, statistic in enumerate(STATISTICS)}
        for at, name in enumerate(names)
    }
    return [round(second, 3) for second in times], values
