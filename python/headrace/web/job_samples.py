"""The samples of this host during measuring jobs: `monitor.parquet` in the job's directory."""

import sqlite3
import threading
import time
from contextlib import suppress
from pathlib import Path

import polars as pl

from headrace.files import atomic_file
from headrace.monitors.history import Row
from headrace.monitors.service import Monitors
from headrace.parquet import as_parquet
from headrace.web.jobs import Job, JobQueue

FILE = "monitor.parquet"
LOOK_S = 2.0
AFTER_S = 3.0
"""Time after the end of a job at which its last sample is there."""
SCHEMA = {
    "time": pl.Float64,
    "seconds": pl.Float64,
    "figure": pl.String,
    "mean": pl.Float64,
    "smallest": pl.Float64,
    "largest": pl.Float64,
}


class Window:
    """The time of a job on the charts."""

    def __init__(self, job: Job) -> None:
        self.id, self.title = job.id, job.title
        self.begin = job.started or job.created
        self.end = job.ended or time.time()


def windows(jobs: JobQueue, begin: float, end: float) -> list[Window]:
    """Return the measuring jobs that ran within a time, the oldest first."""
    spans = [Window(job) for job in jobs.jobs() if job.measures and job.started is not None]
    return sorted(
        (it for it in spans if it.end >= begin and it.begin <= end), key=lambda window: window.begin
    )


class JobSamples:
    """Saves the samples of measuring jobs when they have ended."""

    def __init__(self, jobs: JobQueue, monitors: Monitors) -> None:
        self._jobs, self._monitors = jobs, monitors
        self._done: set[str] = set()
        self._over = threading.Event()
        self._thread = threading.Thread(target=self._run, name="headrace-samples", daemon=True)
        self._thread.start()

    def close(self) -> None:
        """End the thread."""
        self._over.set()
        self._thread.join()

    def _run(self) -> None:
        while not self._over.wait(LOOK_S):
            now = time.time()
            for job in self._jobs.jobs():
                if job.id in self._done or job.ended is None or job.ended > now - AFTER_S:
                    continue
                # Without a directory, it has been removed meanwhile.
                with suppress(OSError, sqlite3.Error):
                    self._save(job)
                self._done.add(job.id)

    def _save(self, job: Job) -> None:
        path = self._jobs.directory(job.id).path / FILE
        if job.measures and job.started is not None and path.parent.exists() and not path.exists():
            save_samples(self._monitors, self._monitors.local_name, job.started, job.ended, path)


def save_samples(
    monitors: Monitors, host: str, begin: float, end: float | None, path: Path
) -> None:
    """Save the samples of a host within a time, or their finest means that are still there.

    Columns: time (start of an interval, or end of a sample), seconds, figure, mean, smallest and
    largest. Without samples there is no file.
    """
    end = time.time() if end is None else end
    # The first sample that ends after the job has its last part.
    level = monitors.history.level_for(begin, begin)
    rows = monitors.history.rows(host, begin, end + 2.0, level)
    if rows:
        with atomic_file(path) as partial:
            partial.write_bytes(as_parquet(_frame(rows)))


def _frame(rows: list[Row]) -> pl.DataFrame:
    return pl.concat(
        [
            pl.DataFrame(
                {
                    "time": [row.time] * len(row.names),
                    "seconds": [row.seconds] * len(row.names),
                    "figure": list(row.names),
                    "mean": row.values[0],
                    "smallest": row.values[1],
                    "largest": row.values[2],
                },
                schema=SCHEMA,
            )
            for row in rows
        ]
    )
