"""Rate limits, in the memory of the server."""

import time
from collections import OrderedDict, deque
from collections.abc import Callable

MOST_KEYS = 10_000
"""Keys that are remembered; the least recently used are forgotten."""


class RequestRate:
    """Limits requests a second of each key, with bursts of ten seconds' worth."""

    def __init__(self, rate: float, clock: Callable[[], float] = time.monotonic) -> None:
        self._rate, self._burst, self._clock = rate, 10.0 * rate, clock
        self._left: OrderedDict[str, tuple[float, float]] = OrderedDict()

    def wait(self, key: str) -> float:
        """Count a request. Return 0, or the seconds after which one is allowed."""
        now = self._clock()
        left, since = self._left.pop(key, (self._burst, now))
        left = min(self._burst, left + (now - since) * self._rate)
        allowed = left >= 1.0
        self._left[key] = (left - 1.0 if allowed else left, now)
        if len(self._left) > MOST_KEYS:
            self._left.popitem(last=False)
        return 0.0 if allowed else (1.0 - left) / self._rate


class Failures:
    """Limits failed attempts of each key within a time."""

    def __init__(
        self, most: int, seconds: float = 300.0, clock: Callable[[], float] = time.monotonic
    ) -> None:
        self._most, self._seconds, self._clock = most, seconds, clock
        self._failed: OrderedDict[str, deque[float]] = OrderedDict()

    def wait(self, key: str) -> float:
        """Return 0, or the seconds after which another attempt is allowed."""
        failed = self._failed.get(key)
        if failed is None or len(failed) < self._most:
            return 0.0
        return max(0.0, failed[0] + self._seconds - self._clock())

    def add(self, key: str) -> None:
        """Count a failure."""
        failed = self._failed.pop(key, None)
        self._failed[key] = failed if failed is not None else deque(maxlen=self._most)
        self._failed[key].append(self._clock())
        if len(self._failed) > MOST_KEYS:
            self._failed.popitem(last=False)
