"""Think times, bursts and concurrency of a trace."""

import numpy as np
from numpy.typing import NDArray

from headrace.profile.characteristics import Bursts, Concurrency, Quantiles
from headrace.profile.trace_codes import FAILED, MOVES, UNTIMED
from headrace.trace import Batch

NONE = np.iinfo(np.int64).min
CLASSES = 16
"""Classes of a histogram of times for each power of two."""


class Timing:
    """Takes in the batches of one trace."""

    def __init__(self, burst_gap_ns: int) -> None:
        self._gap_ns = burst_gap_ns
        self._untimed = False
        self._first_ns, self._last_ns = np.iinfo(np.int64).max, NONE
        # By process, where its last call ended; NONE without one.
        self._ends = np.full(0, NONE)
        # By process: the start of its first call, and true if it reads or writes.
        self._starts = np.full(0, NONE)
        self._moves = np.zeros(0, dtype=np.bool_)
        self._think = TimeHistogram()
        self._levels = _Levels()
        self._bursts = _BurstSeries(burst_gap_ns)

    def add(self, batch: Batch) -> None:
        """Take in the next records of the trace."""
        self._untimed = self._untimed or bool(np.any(batch["flags"] & UNTIMED))
        start = batch["time_ns"]
        end = start + np.maximum(batch["duration_ns"], 0)
        self._first_ns = min(self._first_ns, int(start.min()))
        self._last_ns = max(self._last_ns, int(end.max()))
        self._add_think_times(batch["process"], start, end)
        self._levels.add(start, end)
        moves = np.isin(batch["operation"], MOVES) & ((batch["flags"] & FAILED) == 0)
        self._moves[batch["process"][moves]] = True
        if np.any(moves):
            self._bursts.add(start[moves], end[moves], batch["size"][moves])

    def _add_think_times(
        self, process: NDArray[np.uint32], start: NDArray[np.int64], end: NDArray[np.int64]
    ) -> None:
        most = int(process.max()) + 1
        if most > len(self._ends):
            more = max(most, 2 * len(self._ends)) - len(self._ends)
            self._ends = np.concatenate((self._ends, np.full(more, NONE)))
            self._starts = np.concatenate((self._starts, np.full(more, NONE)))
            self._moves = np.concatenate((self._moves, np.zeros(more, dtype=np.bool_)))
        order = np.argsort(process, kind="stable")
        process, start, end = process[order], start[order], end[order]
        begins = np.concatenate(([True], process[1:] != process[:-1]))
        before = np.where(begins, self._ends[process], np.concatenate(([0], end[:-1])))
        known = before != NONE
        new = ~known
        self._starts[process[new]] = start[new]
        self._think.add(np.maximum(start[known] - before[known], 0))
        lasts = np.concatenate((begins[1:], [True]))
        self._ends[process[lasts]] = end[lasts]

    @property
    def processes(self) -> int:
        """Number of processes with records."""
        return int(np.count_nonzero(self._ends != NONE))

    @property
    def moving_processes(self) -> int:
        """Number of processes that read or write."""
        return int(np.count_nonzero(self._moves))

    def _alive(self) -> float | None:
        span = self.span_s()
        known = self._ends != NONE
        lives = (self._ends[known] - self._starts[known]).sum(dtype=np.float64) * 1e-9
        return float(lives) / span if span else None

    def span_s(self) -> float | None:
        """Return the time from the first start to the last end; None without times."""
        if self._untimed:
            return None
        return max(self._last_ns - self._first_ns, 0) * 1e-9 if self._last_ns != NONE else 0.0

    def think_times(self) -> Quantiles:
        """Return the times between calls."""
        return (TimeHistogram() if self._untimed else self._think).quantiles()

    def bursts(self, gap_s: float) -> Bursts:
        """Return the bursts of reads and writes."""
        series = _BurstSeries(self._gap_ns) if self._untimed else self._bursts
        return series.finish(gap_s)

    def concurrency(self) -> Concurrency:
        """Return the number of processes in calls."""
        levels = _Levels() if self._untimed else self._levels
        return levels.finish(self.span_s(), self._alive())


class TimeHistogram:
    """Counts times in classes of equal ratio; their sum and maximum are exact."""

    def __init__(self) -> None:
        self._counts = np.zeros(2 + CLASSES * 64, dtype=np.int64)
        self._total = 0.0
        self._max = 0

    def add(self, times_ns: NDArray[np.int64]) -> None:
        """Count times of 0 or more."""
        if not len(times_ns):
            return
        positive = times_ns[times_ns > 0]
        classes = 1 + np.floor(CLASSES * np.log2(positive)).astype(np.int64)
        self._counts += np.bincount(classes, minlength=len(self._counts))
        self._counts[0] += len(times_ns) - len(positive)
        self._total += float(times_ns.sum(dtype=np.float64))
        self._max = max(self._max, int(times_ns.max()))

    def quantiles(self) -> Quantiles:
        """Return the distribution so far."""
        count = int(self._counts.sum())
        return Quantiles(
            count=count,
            total_s=self._total * 1e-9,
            mean_s=self._total * 1e-9 / count if count else None,
            p1_s=self._quantile(0.01),
            p50_s=self._quantile(0.5),
            p90_s=self._quantile(0.9),
            p99_s=self._quantile(0.99),
            max_s=self._max * 1e-9 if count else None,
        )

    def _quantile(self, share: float) -> float | None:
        sums = np.cumsum(self._counts)
        if not sums[-1]:
            return None
        place = int(np.searchsorted(sums, max(np.ceil(share * sums[-1]), 1)))
        if place == 0:
            return 0.0
        if place == np.flatnonzero(self._counts)[-1]:
            return self._max * 1e-9
        centre: float = 2 ** ((place - 0.5) / CLASSES)
        return centre * 1e-9


class _Levels:
    """Time for which each number of calls was in progress."""

    def __init__(self) -> None:
        self._pending = np.zeros(0, dtype=np.int64)
        self._level = 0
        self._at = NONE
        self._busy = self._calls = 0.0
        self._max = 0

    def add(self, start: NDArray[np.int64], end: NDArray[np.int64]) -> None:
        takes_time = end > start
        start, end = start[takes_time], end[takes_time]
        if len(start):
            self._until(int(start.max()), start, np.concatenate((self._pending, end)))

    def _until(self, now: int, start: NDArray[np.int64], end: NDArray[np.int64]) -> None:
        """Take in starts, and ends up to `now`; later ends stay pending."""
        self._pending = end[end > now]
        due = end[end <= now]
        # A record out of order counts from the last one on.
        times = np.maximum(np.concatenate((due, start)), self._at)
        changes = np.concatenate((np.full(len(due), -1), np.full(len(start), 1)))
        order = np.argsort(times, kind="stable")  # ends before starts at one time
        times, changes = times[order], changes[order]
        levels = self._level + np.concatenate(([0], np.cumsum(changes)))
        known = times[0] if self._at == NONE else self._at
        passed = np.diff(np.concatenate(([known], times)))
        before = np.maximum(levels[:-1], 0)
        self._busy += float(passed[before > 0].sum())
        self._calls += float((passed * before).sum())
        self._level, self._at = int(levels[-1]), int(times[-1])
        self._max = max(self._max, int(levels.max()))

    def finish(self, span_s: float | None, alive: float | None) -> Concurrency:
        if len(self._pending):
            self._until(int(self._pending.max()), np.zeros(0, dtype=np.int64), self._pending)
        busy = self._busy * 1e-9
        return Concurrency(
            busy_s=busy,
            call_s=self._calls * 1e-9,
            share_of_span=busy / span_s if span_s else None,
            mean=self._calls / self._busy if self._busy else None,
            max=self._max,
            alive=alive,
        )


class _BurstSeries:
    """Reads and writes between gaps of all processes."""

    def __init__(self, gap_ns: int) -> None:
        self._gap = gap_ns
        self._lengths = TimeHistogram()
        self._bytes = 0.0
        self._requests = 0
        self._open: tuple[int, int] | None = None
        """Start and end of the burst that goes on."""

    def add(
        self, start: NDArray[np.int64], end: NDArray[np.int64], size: NDArray[np.uint64]
    ) -> None:
        self._bytes += float(size.sum(dtype=np.float64))
        self._requests += len(start)
        order = np.argsort(start, kind="stable")
        start, end = start[order], end[order]
        if self._open is not None:
            start = np.concatenate(([self._open[0]], start))
            end = np.concatenate(([self._open[1]], end))
        reached = np.maximum.accumulate(end)
        first = np.concatenate(([True], start[1:] - reached[:-1] > self._gap))
        starts = start[first]
        ends = reached[np.concatenate((first[1:], [True]))]
        self._lengths.add(np.maximum(ends[:-1] - starts[:-1], 0))
        self._open = (int(starts[-1]), int(ends[-1]))

    def finish(self, gap_s: float) -> Bursts:
        if self._open is not None:
            self._lengths.add(np.array([max(self._open[1] - self._open[0], 0)]))
            self._open = None
        lengths = self._lengths.quantiles()
        return Bursts(
            gap_s=gap_s,
            count=lengths.count,
            bytes_mean=self._bytes / lengths.count if lengths.count else None,
            requests_mean=self._requests / lengths.count if lengths.count else None,
            lengths=lengths,
        )
