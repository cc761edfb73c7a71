"""Find the phases of a run: change points of its cores used, I/O wait, throughput and calls."""

import itertools
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
import polars as pl

from headrace.profile.devices import sum_of

FEWEST_SAMPLES = 6
"""A run with fewer samples is one phase: two phases of `SHORTEST_SAMPLES` do not fit."""
SHORTEST_SAMPLES = 3
SHORTEST_S = 2.0
"""Shortest phase. A start-up or an end that is shorter belongs to its neighbour."""
SHORTEST_SHARE = 0.02
"""Shortest phase as a share of the run: a run has at most 50 phases."""
MOST_POINTS = 2000
"""Longer runs are reduced to this number of medians before the search."""
SMALLEST_CHANGE = 0.2
"""Smallest change of a signal between phases, as a share of its range."""
SMALLEST_NOISE = 0.05
"""Smallest noise that is assumed, as a share of a signal's range. Counters of idle parts of a run
are constant, and a noise of 0 would make every difference a change point."""
PENALTY = 2.0
"""Factor of the penalty, `PENALTY * signals * log(samples)` in units of the noise's variance. It
is that of Schwarz's information criterion for changes in the mean of independent normal samples,
with one change point counted as `signals` levels and one position (Yao 1988, Statistics and
Probability Letters 6(3))."""
MIB = float(1 << 20)


@dataclass(frozen=True)
class Signal:
    """A quantity whose level defines a phase."""

    name: str
    smallest_range: float
    """Range below which all values count as equal, in the unit of the quantity."""
    columns: tuple[str, ...]
    """Columns of which it is the sum. `disk.*` is replaced by the disks of the program."""


SIGNALS = (
    Signal("cores", 1.0, ("tree.user", "tree.system")),
    Signal("I/O wait", 1.0, ("tree.io_wait",)),
    Signal("disk reads", MIB, ("disk.*.read_bytes_per_s",)),
    Signal("disk writes", MIB, ("disk.*.write_bytes_per_s",)),
    Signal("network", MIB, ("net.*.receive_bytes_per_s", "net.*.send_bytes_per_s")),
    Signal("calls", 1000.0, ("tree.read_calls_per_s", "tree.write_calls_per_s")),
)


def phases(rates: pl.DataFrame, disks: Sequence[str] | None = None) -> list[tuple[int, int]]:
    """Return the phases of a run as ranges of rows, in order and without gaps.

    A phase is a part of the run in which every signal of `SIGNALS` stays at one level. Signals are
    scaled to their range and smoothed by a running median. `segments` then divides the run.
    Neighbours whose medians differ by less than `SMALLEST_CHANGE` are merged.

    Parameters
    ----------
    rates
        Frame of `headrace.profile.recording.rates`: one row per interval, in order of time.
    disks
        Disks of the program, such as `["sda"]`; all if None. Other programs' use of other disks
        then makes no phases.

    Returns
    -------
    list[tuple[int, int]]
        First row, and the row after the last one, of each phase. Empty if there is no row.
    """
    count = rates.height
    if count == 0:
        return []
    shortest = _shortest(rates)
    if count < max(FEWEST_SAMPLES, 2 * shortest):
        return [(0, count)]
    every = -(-count // MOST_POINTS)
    least = max(-(-shortest // every), 2)
    scaled, noise = _scaled(rates, disks, every, least)
    if len(scaled) < 2 * least or scaled.shape[1] == 0:
        return [(0, count)]
    penalty = PENALTY * scaled.shape[1] * float(np.log(len(scaled)))
    merged = _merged(segments(scaled / noise, least, penalty), scaled)
    return [(first * every, min(end * every, count)) for first, end in merged]


def segments(
    values: npt.NDArray[np.float64], shortest: int, penalty: float
) -> list[tuple[int, int]]:
    """Return the division of the rows whose levels fit best, as ranges in order.

    It minimises the squared deviations from each range's mean plus `penalty` per range. The method
    is optimal partitioning (Jackson et al. 2005, IEEE Signal Processing Letters 12(2)), which is
    exact. Its time is quadratic in the number of rows.

    Parameters
    ----------
    values
        One row per sample, at least `shortest`, and one column per signal.
    shortest
        Smallest number of rows of a range.
    penalty
        Cost of a range.
    """
    count = len(values)
    sums = np.vstack([np.zeros(values.shape[1]), np.cumsum(values, axis=0)])
    squares = np.concatenate([[0.0], np.cumsum(np.sum(values**2, axis=1))])
    # The smallest cost of the rows before an end, and the start of the last range there.
    costs = np.full(count + 1, np.inf)
    costs[0] = 0.0
    starts = np.zeros(count + 1, dtype=np.int64)
    for end in range(shortest, count + 1):
        before = end - shortest + 1
        lengths = end - np.arange(before)
        totals = np.sum((sums[end] - sums[:before]) ** 2, axis=1)
        candidates = costs[:before] + squares[end] - squares[:before] - totals / lengths
        starts[end] = np.argmin(candidates)
        costs[end] = candidates[starts[end]] + penalty
    ranges = []
    end = count
    while end > 0:
        ranges.append((int(starts[end]), end))
        end = int(starts[end])
    return ranges[::-1]


def _shortest(rates: pl.DataFrame) -> int:
    """Return the smallest number of rows of a phase."""
    lengths = (rates["to_s"] - rates["from_s"]).to_numpy()
    interval = float(np.median(lengths))
    by_time = int(np.ceil(SHORTEST_S / interval)) if interval > 0 else 0
    by_share = int(np.ceil(SHORTEST_SHARE * rates.height))
    return max(SHORTEST_SAMPLES, by_time, by_share)


def _scaled(
    rates: pl.DataFrame, disks: Sequence[str] | None, every: int, shortest: int
) -> tuple[npt.NDArray[np.float64], npt.NDArray[np.float64]]:
    """Return the signals that vary, one per column, each in units of its range, and their noise.

    The range is the span of the smoothed values, and at least `smallest_range`. A signal that
    varies by less than `SMALLEST_CHANGE` of its range has one level, and is left out.
    """
    columns, noises = [], []
    for signal in SIGNALS:
        activity = sum_of(rates, *_of_disks(signal.columns, disks))
        if activity is None:
            continue
        values = _reduced(activity.to_numpy(), every)
        smooth = _smoothed(values, shortest)
        span = max(float(np.ptp(smooth)), signal.smallest_range)
        if np.ptp(smooth) >= SMALLEST_CHANGE * span:
            columns.append(smooth / span)
            noises.append(max(_noise(values / span), SMALLEST_NOISE))
    table = np.column_stack(columns) if columns else np.empty((0, 0))
    return table, np.array(noises)


def _of_disks(patterns: Sequence[str], disks: Sequence[str] | None) -> list[str]:
    if disks is None:
        return list(patterns)
    return [
        pattern.replace("*", disk, 1)
        for pattern in patterns
        for disk in (disks if pattern.startswith("disk.") else ["*"])
    ]


def _smoothed(values: npt.NDArray[np.float64], shortest: int) -> npt.NDArray[np.float64]:
    """Return the running median that removes bursts shorter than a phase, and keeps steps.

    The ends take the value of the nearest full window, so that a short start or end disappears.
    """
    width = 2 * shortest - 1
    windows = np.lib.stride_tricks.sliding_window_view(values.astype(np.float64), width)
    return np.pad(np.median(windows, axis=1), shortest - 1, mode="edge")


def _reduced(values: npt.NDArray[np.float64], every: int) -> npt.NDArray[np.float64]:
    """Return the median of every `every` values; the last one may have fewer."""
    if every == 1:
        return values
    return np.array([np.median(values[at : at + every]) for at in range(0, len(values), every)])


def _noise(values: npt.NDArray[np.float64]) -> float:
    """Return the standard deviation of a signal around its level.

    It comes from the differences of neighbours, which change points hardly affect. Their median
    absolute deviation is 0.6745 standard deviations, and a difference has twice the variance.
    """
    return float(np.median(np.abs(np.diff(values))) / (0.6745 * np.sqrt(2.0)))


def _merged(
    ranges: list[tuple[int, int]], scaled: npt.NDArray[np.float64]
) -> list[tuple[int, int]]:
    """Merge the neighbours that differ least until all differ by `SMALLEST_CHANGE`."""
    merged = list(ranges)
    while len(merged) > 1:
        levels = [np.median(scaled[first:end], axis=0) for first, end in merged]
        changes = [
            float(np.max(np.abs(after - before))) for before, after in itertools.pairwise(levels)
        ]
        least = int(np.argmin(changes))
        if changes[least] >= SMALLEST_CHANGE:
            break
        merged[least : least + 2] = [(merged[least][0], merged[least + 1][1])]
    return merged
