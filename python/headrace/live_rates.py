"""Rates of running benchmarks, from their progress."""

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from headrace.measure.jobs import JobsLive


class LiveRates:
    """Progress of a running measurement."""

    def __init__(self, title: str) -> None:
        self.title = title
        self.preparing = True
        self.prepared = (0, 0)
        self.removed: int | None = None
        self.seconds = 0.0
        self.operations: dict[str, tuple[int, int]] = {}
        self.rates: dict[str, tuple[float, float]] = {}
        self._before: tuple[float, dict[str, tuple[int, int]]] = (0.0, {})

    def add(self, preparing: bool, seconds: float, operations: dict[str, tuple[int, int]]) -> None:
        """Add the current progress. Rates are over one second at least."""
        self.preparing, self.seconds, self.operations = preparing, seconds, operations
        since, before = self._before
        if seconds - since < 1.0:
            return
        passed = seconds - since
        self.rates = {
            name: (
                (count - before.get(name, (0, 0))[0]) / passed,
                (moved - before.get(name, (0, 0))[1]) / passed,
            )
            for name, (count, moved) in operations.items()
        }
        self._before = (seconds, operations)


class LiveJobRates:
    """Progress of running jobs."""

    WINDOW_S = 0.5
    """Rates are over this time at least."""

    def __init__(self, title: str) -> None:
        self.title = title
        self.at: JobsLive | None = None
        self.rate: float | None = None
        self.throughput: float | None = None
        self.latency: float | None = None
        self._before: tuple[int, float, tuple[int, int, float]] = (0, 0.0, (0, 0, 0.0))

    def add(self, progress: "JobsLive") -> None:
        """Add the jobs' current progress."""
        self.at = progress
        step, since, before = self._before
        if progress.step != step:
            self._before = (progress.step, 0.0, (0, 0, 0.0))
            self.rate = self.throughput = self.latency = None
            return
        passed = progress.seconds - since
        if passed < self.WINDOW_S:
            return
        count, moved, latency = (
            now - then for now, then in zip(progress.counts, before, strict=True)
        )
        self.rate, self.throughput = count / passed, moved / passed
        self.latency = latency / count if count else None
        self._before = (step, progress.seconds, progress.counts)
