"""Sizes of requests that agree with the counters of a Darshan record."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

Sizes = np.ndarray[tuple[int], np.dtype[np.int64]]

BINS = (
    ("0_100", 0, 100),
    ("100_1K", 101, 1 << 10),
    ("1K_10K", (1 << 10) + 1, 10 << 10),
    ("10K_100K", (10 << 10) + 1, 100 << 10),
    ("100K_1M", (100 << 10) + 1, 1 << 20),
    ("1M_4M", (1 << 20) + 1, 4 << 20),
    ("4M_10M", (4 << 20) + 1, 10 << 20),
    ("10M_100M", (10 << 20) + 1, 100 << 20),
    ("100M_1G", (100 << 20) + 1, 1 << 30),
    ("1G_PLUS", (1 << 30) + 1, 1 << 62),
)
"""Name, smallest and largest size of each bin of the histograms, in bytes (Darshan,
darshan-common.h, DARSHAN_BUCKET_INC)."""


@dataclass(frozen=True)
class SizeCounters:
    """Counters of the requests of one direction in one record."""

    requests: int
    bytes: int
    histogram: Sequence[int]
    """Requests in each of `BINS`; all 0 if the module has no histogram."""
    common: Sequence[tuple[int, int]] = ()
    """The most common sizes and their number."""

    def below(self, size: int) -> int:
        """Return the number of requests below a size, which is the upper bound of a bin.

        A bin includes its upper bound: requests of exactly that size are taken off if they are
        among the common sizes.
        """
        count = sum(
            requests for requests, bin in zip(self.histogram, BINS, strict=True) if bin[2] <= size
        )
        return max(count - sum(number for at, number in self.common if at == size), 0)


def request_sizes(counters: SizeCounters) -> tuple[Sizes, bool]:
    """Sizes of all requests, in bytes, and whether they agree with the histogram.

    They always add up to the bytes that were moved. Common sizes are exact. Other sizes lie in
    their bins, all at one relative position, so that the sum is right. If no sizes in the bins have
    that sum, all requests get the mean size.
    """
    if counters.requests <= 0:
        return np.zeros(0, np.int64), True
    if sum(counters.histogram) == counters.requests:
        for common in (counters.common, ()):
            sizes = _in_bins(counters, common)
            if sizes is not None:
                return sizes, True
    return _spread(counters.bytes, counters.requests), not any(counters.histogram)


def _in_bins(counters: SizeCounters, common: Sequence[tuple[int, int]]) -> Sizes | None:
    left = list(counters.histogram)
    exact: list[Sizes] = []
    remaining = counters.bytes
    for size, count in common:
        number = next((i for i, (_, low, high) in enumerate(BINS) if low <= size <= high), None)
        if number is None or size < 0:
            continue
        taken = min(count, left[number])
        left[number] -= taken
        remaining -= taken * size
        exact.append(np.full(taken, size, np.int64))
    numbers = np.repeat(np.arange(len(BINS)), left)
    low = np.array([bin[1] for bin in BINS], np.float64)[numbers]
    # The last bin has no upper bound: one request may hold all the rest.
    bounds = [float(min(bin[2], max(remaining, bin[1]))) for bin in BINS]
    high = np.array(bounds, np.float64)[numbers]
    if not low.sum() <= remaining <= high.sum():
        return None
    room = (high - low).sum()
    position = (remaining - low.sum()) / room if room else 0.0
    sizes = np.floor(low + position * (high - low)).astype(np.int64)
    missing = remaining - int(sizes.sum())
    # Rounding leaves less than a byte for each request; the larger bins have room for it.
    order = np.argsort(-(high - sizes), kind="stable")
    while missing > 0:
        room_left = (high[order].astype(np.int64) - sizes[order]) > 0
        chosen = order[room_left][:missing]
        if not len(chosen):
            return None
        sizes[chosen] += 1
        missing -= len(chosen)
    if missing < 0:
        return None
    return np.concatenate([*exact, sizes])


def _spread(total: int, count: int) -> Sizes:
    """Equal sizes with a given sum; they differ by one byte at most."""
    sizes = np.full(count, total // count, np.int64)
    sizes[: total % count] += 1
    return sizes
