"""The queue of jobs."""

import json
import os
import shutil
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Mapping
from contextlib import suppress
from datetime import UTC, datetime
from pathlib import Path
from typing import Protocol

import msgspec

from headrace.store.identifier import new_identifier
from headrace.web.jobs.command_line import arguments
from headrace.web.jobs.commands import Runnable, runnable
from headrace.web.jobs.directory import JobDirectory
from headrace.web.jobs.forms import CommandForm, FormField
from headrace.web.jobs.job import Job, JobRequest, JobState, RefusedRequest
from headrace.web.settings import Settings

POLL_S = 0.25
"""Seconds between two looks at the running jobs."""


class JobPaths(Protocol):
    """Paths of a job that is being ordered: both raise RefusedRequest."""

    def path_of(self, value: str, field: FormField) -> Path | str:
        """Return what the command gets for a value of a path or text parameter."""

    def options(self) -> list[str]:
        """Check what its files name, and return further options of the command."""


PathsFor = Callable[[JobRequest, CommandForm, str, JobDirectory], JobPaths]


class JobQueue:
    """Jobs of all users: submits, starts in their order, watches and cancels them.

    All methods may be called from any thread.
    """

    def __init__(
        self,
        settings: Settings,
        forms: Mapping[tuple[str, ...], CommandForm],
        paths_for: PathsFor,
    ) -> None:
        self._settings, self._forms, self._paths_for = settings, forms, paths_for
        self._directory = settings.data / "jobs"
        self._directory.mkdir(parents=True, exist_ok=True, mode=0o700)
        self._lock = threading.RLock()
        self._jobs: dict[str, Job] = {}
        self._over = threading.Event()
        self._load()
        self._thread = threading.Thread(target=self._watch, name="headrace-jobs", daemon=True)
        self._thread.start()

    def submit(self, request: JobRequest, owner: str) -> Job:
        """Add a job to the queue.

        Raises:
            RefusedRequest: if the command may not run, or a parameter is wrong.
        """
        entry, form = runnable(request.command), self._forms.get(request.command)
        if entry is None or form is None:
            raise RefusedRequest(f"headrace {' '.join(request.command)}: no job may run this")
        runs_program = entry.programs is not None and entry.programs(request.values)
        if runs_program and not self._settings.programs:
            raise RefusedRequest(
                "programs of users are not allowed here: the operator allows them by"
                " headrace serve --allow-programs"
            )
        with self._lock:
            waiting = [it for it in self._jobs.values() if it.state is JobState.WAITING]
            if sum(it.owner == owner for it in waiting) >= self._settings.limits.waiting:
                raise RefusedRequest(f"{owner} has {len(waiting)} waiting jobs: wait for some")
            job = Job(
                id=new_identifier(datetime.now(UTC)),
                owner=owner,
                request=request,
                created=time.time(),
                measures=entry.measures,
            )
            directory = self.directory(job.id)
            directory.path.mkdir(mode=0o700)
            try:
                self._write_order(job, entry, form, directory)
            except BaseException:
                shutil.rmtree(directory.path)
                raise
            directory.save(job)
            self._jobs[job.id] = job
            self._start_due()
            return job

    def jobs(self) -> list[Job]:
        """Return all jobs, the newest first."""
        with self._lock:
            return sorted(self._jobs.values(), key=lambda it: it.created, reverse=True)

    def job(self, identifier: str) -> Job | None:
        """Return a job."""
        with self._lock:
            return self._jobs.get(identifier)

    def directory(self, identifier: str) -> JobDirectory:
        """Return the directory of a job."""
        return JobDirectory(self._directory / identifier)

    def cancel(self, identifier: str) -> None:
        """End a job: its command is interrupted, and ended if it does not stop."""
        with self._lock:
            job = self._jobs[identifier]
            if job.state is JobState.WAITING:
                job.state, job.ended, job.cancelled = JobState.CANCELLED, time.time(), True
                self.directory(identifier).save(job)
            elif job.state is JobState.RUNNING:
                job.cancelled = True
                self.directory(identifier).save(job)
                self._signal(identifier)

    def close(self) -> None:
        """Stop watching. Running jobs go on."""
        self._over.set()
        self._thread.join()

    def _load(self) -> None:
        for path in sorted(self._directory.iterdir()):
            with suppress(OSError, msgspec.MsgspecError):
                job = JobDirectory(path).load()
                self._jobs[job.id] = job

    def _write_order(
        self, job: Job, entry: Runnable, form: CommandForm, directory: JobDirectory
    ) -> None:
        for name, text in job.request.inputs.items():
            directory.write_input(name, text)
        paths = self._paths_for(job.request, form, job.owner, directory)
        words = arguments(job.request, entry, form, job.id, job.owner, paths.path_of)
        at = len(entry.command)
        words[at:at] = paths.options()
        limits = self._settings.limits
        order = {
            "command": [sys.executable, "-m", "headrace", *words],
            "memory": limits.memory,
            "seconds": limits.seconds,
        }
        (directory.path / "order.json").write_text(json.dumps(order))

    def _watch(self) -> None:
        while not self._over.wait(POLL_S):
            with self._lock:
                for job in self._jobs.values():
                    if job.state is JobState.RUNNING:
                        self._look_at(job)
                self._start_due()

    def _look_at(self, job: Job) -> None:
        directory = self.directory(job.id)
        # First whether it runs: it may end between the two looks.
        runs, end = directory.runs(), directory.end()
        if end is not None:
            job.status, job.ended = end["status"], end["ended"]
            job.state = JobState.DONE if job.status == 0 else JobState.FAILED
            if job.cancelled:
                job.state = JobState.CANCELLED
            if job.state is JobState.FAILED:
                job.message = end["reason"] or _last_line(directory.log())
        elif not runs and time.time() - (job.started or 0) > 10.0:
            job.state, job.ended = JobState.LOST, time.time()
            job.message = "its process ended without a status: killed, or the machine restarted"
        if job.state.ended:
            directory.save(job)

    def _start_due(self) -> None:
        running = [it for it in self._jobs.values() if it.state is JobState.RUNNING]
        for job in sorted(self._jobs.values(), key=lambda it: it.created):
            if job.state is not JobState.WAITING:
                continue
            alone = job.measures or any(it.measures for it in running)
            if running and (alone or len(running) >= self._settings.cores):
                # In their order: a later job that fits does not pass an earlier one.
                return
            self._start(job)
            running.append(job)

    def _start(self, job: Job) -> None:
        directory = self.directory(job.id)
        job.state, job.started = JobState.RUNNING, time.time()
        directory.save(job)
        subprocess.Popen(
            [sys.executable, "-m", "headrace.web.jobs.runner", str(directory.path)],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            start_new_session=True,
        )

    def _signal(self, identifier: str) -> None:
        names = self.directory(identifier)._json("process.json")
        if names is not None:
            with suppress(ProcessLookupError):
                os.kill(names["pid"], signal.SIGTERM)


def _last_line(log: str) -> str:
    lines = log.strip().splitlines()
    return lines[-1] if lines else ""
