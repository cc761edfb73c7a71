"""Sets of time intervals, and their intersections."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray


@dataclass(frozen=True)
class Intervals:
    """Times in ns. The intervals are in order and have nothing in common."""

    starts: NDArray[np.int64]
    ends: NDArray[np.int64]

    @classmethod
    def of(cls, starts: ArrayLike, ends: ArrayLike) -> "Intervals":
        """Build a set from intervals in any order, which may overlap; empty ones are dropped."""
        begins = np.asarray(starts, dtype=np.int64)
        stops = np.asarray(ends, dtype=np.int64)
        real = stops > begins
        begins, stops = begins[real], stops[real]
        if not len(begins):
            return cls(begins, stops)
        order = np.argsort(begins, kind="stable")
        begins, latest = begins[order], np.maximum.accumulate(stops[order])
        first = np.concatenate(([True], begins[1:] > latest[:-1]))
        last = np.concatenate((first[1:], [True]))
        return cls(begins[first], latest[last])

    @property
    def seconds(self) -> float:
        """Total length of the intervals in seconds."""
        return float(np.sum(self.ends - self.starts)) * 1e-9

    def common(self, other: "Intervals") -> "Intervals":
        """Return the intersection of both sets."""
        return self._where(other, inside=True)

    def without(self, other: "Intervals") -> "Intervals":
        """Return the intervals of this set that are not in the other."""
        return self._where(other, inside=False)

    def within(self, other: "Intervals") -> NDArray[np.float64]:
        """Return, for each of these intervals, the seconds that lie in the other set."""
        inside = other.until(self.ends) - other.until(self.starts)
        return inside.astype(np.float64) * np.float64(1e-9)

    def until(self, times: NDArray[np.int64]) -> NDArray[np.int64]:
        """Return the length of the set, in ns, before each instant."""
        before = np.concatenate(([0], np.cumsum(self.ends - self.starts)))
        at = np.searchsorted(self.starts, times, side="right")
        if not len(self.starts):
            return np.zeros(len(times), dtype=np.int64)
        last = np.maximum(at - 1, 0)
        over = np.maximum(self.ends[last] - times, 0)
        reached: NDArray[np.int64] = np.where(at > 0, before[at] - over, 0)
        return reached

    def _where(self, other: "Intervals", *, inside: bool) -> "Intervals":
        cuts = np.unique(np.concatenate((self.starts, self.ends, other.starts, other.ends)))
        starts, ends = cuts[:-1], cuts[1:]
        chosen = self._has(starts) & (other._has(starts) == inside)
        return Intervals.of(starts[chosen], ends[chosen])

    def _has(self, times: NDArray[np.int64]) -> NDArray[np.bool_]:
        if not len(self.starts):
            return np.zeros(len(times), dtype=np.bool_)
        at = np.searchsorted(self.starts, times, side="right") - 1
        inside: NDArray[np.bool_] = (at >= 0) & (times < self.ends[np.maximum(at, 0)])
        return inside
