"""Figures of the server for Prometheus."""

import os
import threading
import time
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING

from prometheus_client import CollectorRegistry, Counter, Histogram
from prometheus_client.core import GaugeMetricFamily, HistogramMetricFamily
from prometheus_client.exposition import generate_latest
from prometheus_client.registry import Collector

from headrace.web.jobs import JobState

if TYPE_CHECKING:
    from headrace.web.jobs import JobQueue

CONTENT_TYPE = "text/plain; version=0.0.4; charset=utf-8"
DURATIONS = (1.0, 5.0, 15.0, 60.0, 300.0, 900.0, 3600.0, 14400.0)
"""Upper bounds of the classes of jobs' durations, in seconds."""
STORE_S = 60.0
"""Seconds for which the size of the store is kept: it is measured file by file."""
METHODS = frozenset({"GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"})


class Metrics:
    """Counts requests and failed logins; reads jobs and the store when it is asked."""

    def __init__(self) -> None:
        self._registry = CollectorRegistry()
        self._requests = Counter(
            "headrace_http_requests", "Requests.", ("method", "status"), registry=self._registry
        )
        self._durations = Histogram(
            "headrace_http_request_duration_seconds",
            "Time from a request to the end of its answer.",
            ("method",),
            registry=self._registry,
        )
        self._refused = Counter(
            "headrace_http_refused", "Refused requests.", ("reason",), registry=self._registry
        )
        self._failed = Counter(
            "headrace_failed_logins", "Logins and tokens that failed.", registry=self._registry
        )

    def request(self, method: str, status: int, seconds: float) -> None:
        """Count a request."""
        method = method if method in METHODS else "other"
        self._requests.labels(method, str(status)).inc()
        self._durations.labels(method).observe(seconds)

    def refused(self, reason: str) -> None:
        """Count a refused request."""
        self._refused.labels(reason).inc()

    def failed_login(self) -> None:
        """Count a login or a token that failed."""
        self._failed.inc()

    def add_jobs(self, jobs: "JobQueue", store: Path | None) -> None:
        """Also show the jobs of a queue, and the size of a store in a directory."""
        self._registry.register(_State(jobs, store))

    def text(self) -> bytes:
        """Return all figures in the text format of Prometheus."""
        return generate_latest(self._registry)


class _State(Collector):
    def __init__(self, jobs: "JobQueue", store: Path | None) -> None:
        self._jobs, self._store = jobs, store
        self._lock = threading.Lock()
        self._size, self._measured = 0, -STORE_S

    def collect(self) -> Iterator[GaugeMetricFamily | HistogramMetricFamily]:
        """Yield the figures of this moment."""
        jobs = self._jobs.jobs()
        states = GaugeMetricFamily("headrace_jobs", "Jobs by state.", labels=("state",))
        for state in JobState:
            states.add_metric((str(state),), sum(entry.state is state for entry in jobs))
        yield states
        waiting = sum(job.state is JobState.WAITING for job in jobs)
        yield GaugeMetricFamily("headrace_queue_length", "Waiting jobs.", value=waiting)
        seconds = [job.ended - job.started for job in jobs if job.ended and job.started]
        buckets = [(f"{at}", sum(took <= at for took in seconds)) for at in DURATIONS]
        yield HistogramMetricFamily(
            "headrace_job_duration_seconds",
            "Time from start to end of the jobs that have ended.",
            buckets=[*buckets, ("+Inf", len(seconds))],
            sum_value=sum(seconds),
        )
        if self._store is not None:
            size = self._store_size(self._store)
            yield GaugeMetricFamily("headrace_store_bytes", "Size of the store's files.", size)

    def _store_size(self, store: Path) -> int:
        with self._lock:
            if time.monotonic() - self._measured >= STORE_S:
                self._size, self._measured = sum(_sizes(store)), time.monotonic()
            return self._size


def _sizes(directory: Path) -> Iterator[int]:
    for path, _, names in os.walk(directory):
        for name in names:
            with suppress(OSError):
                yield os.stat(os.path.join(path, name), follow_symlinks=False).st_size
