"""Jobs as they go on, for any number of watchers: one reading of the directory serves all."""

import asyncio
import logging
import time
from collections import deque
from collections.abc import Callable
from dataclasses import dataclass, field

from headrace.progress_events import Progress
from headrace.web.jobs.directory import JobDirectory
from headrace.web.jobs.job import Job, JobState
from headrace.web.jobs.queue import JobQueue

EVERY_S = 0.2
"""Seconds between two readings of a job that has not ended, or whose result may be found yet."""
SELDOM_S = 2.0
"""Seconds between two readings of another one."""
RESULT_S = 5.0
"""Seconds from the end of a job to its result in the store, at most as a rule."""
MOST_MOMENTS = 400
"""Figures of moments that are kept; when there are more, every other one is left out."""
RECENT = 500
"""Progress lines that are kept as they are."""

log = logging.getLogger("headrace.web.jobs")


@dataclass
class JobView:
    """A job as its watchers see it."""

    job: Job
    latest: Progress | None = None
    """The last progress that is not that of a finished step."""
    moments: list[Progress] = field(default_factory=list)
    """Progress with figures of moments, thinned out."""
    steps: list[Progress] = field(default_factory=list)
    """Progress with figures of finished steps."""
    log: str = ""
    place: int | None = None
    """Number in the queue, from 1, of a job that waits."""
    version: int = 0
    """Number of the last change."""
    recent: deque[tuple[int, Progress]] = field(default_factory=lambda: deque(maxlen=RECENT))
    """The last lines of the progress with their numbers."""

    @property
    def seconds_left(self) -> float | None:
        """Time to the end as the progress suggests it; None if it is unknown."""
        fraction = None if self.latest is None else self.latest.fraction
        spent = self.job.seconds
        if self.job.state is not JobState.RUNNING or not fraction or spent is None:
            return None
        return spent * (1 - fraction) / fraction

    def add(self, progress: Progress) -> None:
        """Add a line of the progress."""
        if progress.of_step:
            self.steps.append(progress)
            return
        self.latest = progress
        if progress.figures:
            self.moments.append(progress)
            if len(self.moments) > MOST_MOMENTS:
                del self.moments[1:-1:2]


OnChange = Callable[[JobView], object]


class Watch:
    """A job that is watched."""

    def __init__(self, queue: JobQueue, job: Job) -> None:
        self._queue, self._job = queue, job
        self._directory: JobDirectory = queue.directory(job.id)
        self._reader = self._directory.progress_reader()
        self._seen: tuple[object, ...] = ()
        self.view = JobView(job)
        self.watchers: list[OnChange] = []
        self.task: asyncio.Task[None] | None = None

    def read(self) -> bool:
        """Read what is new. Returns whether anything is."""
        job, view = self._queue.job(self._job.id), self.view
        if job is None:
            return False
        view.place = self._queue.place(job.id) if job.state is JobState.WAITING else None
        lines = self._reader.read()
        for number, progress in lines:
            view.recent.append((number, progress))
            view.add(progress)
        try:
            size = (self._directory.path / "log.txt").stat().st_size
        except OSError:
            size = 0
        seen = (job.state, job.result, job.cancelled, view.place, size)
        if size and (not self._seen or size != self._seen[-1]):
            view.log = self._directory.log()
        if not lines and seen == self._seen:
            return False
        self._seen, view.job = seen, job
        view.version += 1
        return True

    def tell(self) -> None:
        """Tell all watchers."""
        for watcher in list(self.watchers):
            try:
                watcher(self.view)
            except Exception:
                log.exception("a watcher of job %s", self._job.id)

    async def go_on(self) -> None:
        """Read and tell as long as anyone watches."""
        while self.watchers:
            job = self.view.job
            late = job.ended is not None and time.time() - job.ended > RESULT_S
            await asyncio.sleep(SELDOM_S if late or job.result else EVERY_S)
            try:
                if await asyncio.to_thread(self.read):
                    self.tell()
            except Exception:
                log.exception("job %s", self._job.id)


class Watches:
    """All jobs that are watched. Its methods belong to the event loop."""

    def __init__(self, queue: JobQueue) -> None:
        self._queue = queue
        self._watches: dict[str, Watch] = {}

    async def begin(self, job: Job, on_change: OnChange) -> Callable[[], None]:
        """Call `on_change` now and after each change, and return what ends that.

        It is called in the event loop. It must not change the view.
        """
        watch = self._watches.get(job.id)
        if watch is None:
            watch = self._watches[job.id] = Watch(self._queue, job)
            watch.watchers.append(on_change)
            await asyncio.to_thread(watch.read)
            watch.tell()
            watch.task = asyncio.create_task(watch.go_on(), name=f"watch {job.id}")
        else:
            watch.watchers.append(on_change)
            on_change(watch.view)

        def end() -> None:
            if on_change in watch.watchers:
                watch.watchers.remove(on_change)
            if not watch.watchers and self._watches.get(job.id) is watch:
                del self._watches[job.id]

        return end

    def __len__(self) -> int:
        return len(self._watches)
