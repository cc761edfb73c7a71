"""Rate of copies within memory."""

import statistics
import time
from collections.abc import Iterator

import numpy as np
import numpy.typing as npt
import psutil

SIZE = 64 << 20
"""Bytes of each array: both are larger than the caches of most processors."""
FEWEST = 3
"""Number of copies at the least."""


def copy_rates(seconds: float) -> tuple[list[float], float]:
    """Copy an array repeatedly for some time.

    Return the rate of each third of the copies, their median, in bytes copied per second, and the
    processor time per second.
    """
    size = min(SIZE, psutil.virtual_memory().available // 8)
    source = np.ones(size, dtype=np.uint8)
    # Ones: the kernel provides memory of zeros at the first write.
    target = np.ones(size, dtype=np.uint8)
    start, used = time.perf_counter(), time.process_time()
    rates = list(_copies(source, target, seconds))
    cpu = (time.process_time() - used) / (time.perf_counter() - start)
    thirds = [rates[part::3] for part in range(3)]
    return [statistics.median(part) for part in thirds if part], cpu


def _copies(
    source: npt.NDArray[np.uint8], target: npt.NDArray[np.uint8], seconds: float
) -> Iterator[float]:
    end = time.perf_counter() + seconds
    done = 0
    while (start := time.perf_counter()) < end or done < FEWEST:
        done += 1
        np.copyto(target, source)
        yield source.nbytes / max(time.perf_counter() - start, 1e-9)
