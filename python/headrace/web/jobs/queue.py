"""The queue of jobs."""

import json
import logging
import os
import select
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterable, Mapping
from contextlib import suppress
from datetime import UTC, datetime
from pathlib import Path
from typing import Protocol

import msgspec

from headrace import confined
from headrace.confined import Confinement
from headrace.locks import lock_file
from headrace.store.identifier import new_identifier
from headrace.web.access.permissions import Action, Kind, require
from headrace.web.access.users import User
from headrace.web.jobs import runner
from headrace.web.jobs.command_line import arguments
from headrace.web.jobs.commands import Runnable, runnable
from headrace.web.jobs.directory import CONFINEMENT, NAME, REMOVED, JobDirectory, remove_rests
from headrace.web.jobs.endings import ending
from headrace.web.jobs.forms import CommandForm, FormField
from headrace.web.jobs.job import Job, JobRequest, JobState, RefusedRequest, UnwritableJob
from headrace.web.jobs.scheduling import fits, in_turn
from headrace.web.settings import Settings

POLL_S = 0.1
"""Seconds between two looks at the running jobs; at the end of a runner there is one at once."""
BEGIN_S = 10.0
"""Seconds in which a runner begins. A job whose runner does not is started again."""
MOST_STARTS = 3
SHORT_S = 2.0
"""Time from the start of a job after which the next runner is started beside it."""
LONGEST_TITLE = 200


class JobPaths(Protocol):
    """Paths of a job that is being ordered."""

    def path_of(self, value: str, field: FormField) -> Path | str:
        """Return what the command gets for a value of a path or text parameter. Raises
        RefusedRequest."""

    def options(self) -> list[str]:
        """Return further options of the command."""

    def confinement(self) -> Confinement:
        """Return the files that the command may open, once all values have paths."""


PathsFor = Callable[[JobRequest, Runnable, CommandForm, str, JobDirectory], JobPaths]

RESULT_LABEL = "job"
"""Label of a result in the store: the identifier of its job."""
log = logging.getLogger("headrace.web.jobs")


class DamagedJob(msgspec.Struct, frozen=True):
    """A directory among the jobs that holds no readable job."""

    name: str
    reason: str


class JobQueue:
    """Jobs of all users: submits, starts in their order, watches and cancels them.

    All methods may be called from any thread.
    """

    def __init__(
        self, settings: Settings, forms: Mapping[tuple[str, ...], CommandForm], paths_for: PathsFor
    ) -> None:
        """Find the jobs of earlier servers, and go on with them.

        Raises ValueError if another server uses the data directory.
        """
        self._settings, self._forms, self._paths_for = settings, forms, paths_for
        self._directory = settings.data / "jobs"
        self._directory.mkdir(parents=True, exist_ok=True, mode=0o700)
        self._held = _alone(settings.data)
        self._lock = threading.RLock()
        self._jobs: dict[str, Job] = {}
        self.damaged: list[DamagedJob] = []
        """Directories that were skipped."""
        self._unsaved: set[str] = set()
        self._endings: dict[str, runner.Ending] = {}
        """Ends of commands whose runner is gone."""
        self._next_runner: subprocess.Popen[bytes] | None = None
        """A runner that waits for a job, so that a job need not wait for its start."""
        self._runners: list[int] = []
        """Descriptors of the processes of jobs that this server has started."""
        self._wake, self._is_over = os.eventfd(0), False
        remove_rests(self._directory)
        self._load()
        self._thread = threading.Thread(target=self._watch, name="headrace-jobs", daemon=True)
        self._thread.start()

    def submit(self, request: JobRequest, owner: str) -> Job:
        """Add a job to the queue.

        Raises:
            RefusedRequest: if the command may not run, or a parameter is wrong.
            UnwritableJob: if its directory cannot be written.
        """
        entry, form = runnable(request.command), self._forms.get(request.command)
        if entry is None or form is None:
            raise RefusedRequest(f"headrace {' '.join(request.command)}: no job may run this")
        if entry.runs_program(request.values) and not self._settings.programs:
            raise RefusedRequest(
                "programs of users are not allowed here: the operator allows them by"
                " headrace serve --allow-programs"
            )
        if len(request.title) > LONGEST_TITLE or not request.title.isprintable():
            raise RefusedRequest(f"title: expected one line of at most {LONGEST_TITLE} characters")
        with self._lock:
            waiting = [each for each in self._jobs.values() if each.state is JobState.WAITING]
        own = sum(one.owner == owner for one in waiting)
        if own >= self._settings.limits.waiting:
            raise RefusedRequest(
                f"{owner} has {own} waiting jobs, the most that are allowed: wait for some to"
                " end, or cancel some"
            )
        job = Job(
            id=new_identifier(datetime.now(UTC)),
            owner=owner,
            request=request,
            created=time.time(),
            measures=entry.measures,
        )
        directory = self.directory(job.id)
        try:
            directory.path.mkdir(mode=0o700)
            # Others need not wait while the files that a request names are checked.
            self._write_order(job, entry, form, directory)
            directory.save(job)
        except OSError as error:
            directory.remove()
            raise UnwritableJob(f"the job cannot be written: {error.strerror}") from None
        except BaseException:
            directory.remove()
            raise
        with self._lock:
            self._jobs[job.id] = job
            self._start_due()
        return job

    def jobs(self, states: Iterable[JobState] | None = None, owner: str | None = None) -> list[Job]:
        """Return the jobs in these states and of this owner, the newest first."""
        states_ = None if states is None else frozenset(states)
        with self._lock:
            matching = [
                job
                for job in self._jobs.values()
                if (states_ is None or job.state in states_) and owner in (None, job.owner)
            ]
        return sorted(matching, key=lambda job: (job.created, job.id), reverse=True)

    def job(self, identifier: str) -> Job | None:
        """Return a job."""
        with self._lock:
            return self._jobs.get(identifier)

    def place(self, identifier: str) -> int | None:
        """Return the number of a waiting job in the queue, from 1; None if it does not wait."""
        with self._lock:
            order = [job.id for job in in_turn(self._jobs.values())]
        return order.index(identifier) + 1 if identifier in order else None

    def directory(self, identifier: str) -> JobDirectory:
        """Return the directory of a job."""
        if not NAME.fullmatch(identifier):
            raise RefusedRequest(f"there is no job {identifier}")
        return JobDirectory(self._directory / identifier)

    def cancel(self, identifier: str, user: User | None = None) -> None:
        """End a job: its command is interrupted, and killed if it does not end.

        Raises:
            KeyError: if there is no such job.
            NotAllowed: if this user may not. None is the server itself.
        """
        with self._lock:
            job = self._jobs[identifier]
            if user is not None:
                require(user, Action.CHANGE, Kind.JOB, job.owner)
            if job.state is JobState.WAITING:
                job.state, job.ended, job.cancelled = JobState.CANCELLED, time.time(), True
                self._save(job)
            elif job.state is JobState.RUNNING:
                # The thread that watches sends the signal, also if the runner has yet to begin.
                job.cancelled = True
                self._save(job)

    def remove(self, identifier: str, user: User | None = None) -> None:
        """Remove a job that has ended, with its files. Its result stays in the store.

        Raises:
            KeyError: if there is no such job.
            NotAllowed: as `cancel` does.
            RefusedRequest: if the job has not ended.
        """
        with self._lock:
            job = self._jobs[identifier]
            if user is not None:
                require(user, Action.REMOVE, Kind.JOB, job.owner)
            if not job.state.ended:
                raise RefusedRequest(f"the job is {job.state}: cancel it first")
            self._forget(job)

    def close(self) -> None:
        """Stop watching. Running jobs go on."""
        if self._is_over:
            return
        self._is_over = True
        os.eventfd_write(self._wake, 1)
        self._thread.join()
        if self._next_runner is not None:
            self._next_runner.kill()
            self._next_runner.communicate()
        for file in (self._held, self._wake, *self._runners):
            os.close(file)

    def _load(self) -> None:
        for path in sorted(self._directory.iterdir()):
            if path.name.startswith(REMOVED):
                continue
            try:
                job = JobDirectory(path).load()
                if job.id != path.name:
                    raise ValueError(f"its record is of job {job.id}")
            except (OSError, ValueError) as error:
                self.damaged.append(DamagedJob(path.name, str(error)))
                log.warning("skipped the damaged job %s: %s", path, error)
                continue
            self._jobs[job.id] = job

    def _write_order(
        self, job: Job, entry: Runnable, form: CommandForm, directory: JobDirectory
    ) -> None:
        for name, text in job.request.inputs.items():
            directory.write_input(name, text)
        paths = self._paths_for(job.request, entry, form, job.owner, directory)
        words = arguments(job.request, entry, form, job.id, job.owner, paths.path_of)
        at = len(entry.command)
        words[at:at] = paths.options()
        limits = self._settings.limits
        confinement = directory.path / CONFINEMENT
        confinement.write_bytes(msgspec.json.encode(paths.confinement()))
        order = {
            # -P: a file of the request must not be imported as a module.
            "command": [
                *(sys.executable, "-P", "-m", confined.__name__, str(confinement)),
                *("headrace", *words),
            ],
            "memory": limits.memory,
            "seconds": limits.seconds,
        }
        (directory.path / "order.json").write_text(json.dumps(order))

    def _watch(self) -> None:
        while not self._is_over:
            ends = select.poll()
            with self._lock:
                for file in (self._wake, *self._runners):
                    ends.register(file, select.POLLIN)
            for file, _ in ends.poll(1e3 * POLL_S):
                if file == self._wake:
                    os.eventfd_read(file)
                    continue
                with self._lock:
                    self._runners.remove(file)
                os.close(file)
            try:
                self._look_at_all()
            except Exception:
                # Without this thread no job would start or end any more.
                log.exception("the queue of jobs")

    def _look_at_all(self) -> None:
        ended = []
        with self._lock:
            for job in list(self._jobs.values()):
                if job.state is JobState.RUNNING:
                    self._try(job, self._look_at)
                    if job.state.ended:
                        ended.append(job)
            for identifier in list(self._unsaved):
                self._save(self._jobs[identifier])
            self._start_due()
            self._prepare_runner()
            if ended:
                self._forget_oldest()
        for job in ended:
            # Outside the lock: the store may be slow.
            self._try(job, self._find_result)

    def _try(self, job: Job, work: Callable[[Job], None]) -> None:
        """Do something with a job. A failure must not end the watching of the others."""
        try:
            work(job)
        except Exception:
            log.exception("job %s", job.id)

    def _look_at(self, job: Job) -> None:
        directory = self.directory(job.id)
        # First the processes: they may end between the two looks.
        alive, end = directory.processes(), directory.end()
        if end is not None:
            job.status, job.ended = end.status, end.ended
            # Its files are named as the request names them.
            text = directory.log().replace(f"{directory.path.resolve()}/", "")
            job.state, job.message = ending(end, directory.order(), text, job.cancelled)
        elif alive.runner:
            if job.cancelled:
                directory.cancel()
            return
        elif alive.command is not None:
            # Nobody watches its limits any more.
            self._endings.setdefault(job.id, runner.Ending(alive.command)).go_on()
            return
        elif not directory.path.is_dir():
            self._lose(job, "its directory was removed")
        elif alive.begun:
            self._lose(job, "its process was killed, or the machine was restarted")
        elif time.time() - (job.started or 0) > BEGIN_S and directory.never_began():
            job.state, job.started = JobState.WAITING, None
            if job.cancelled:
                job.state, job.ended = JobState.CANCELLED, time.time()
            elif job.starts >= MOST_STARTS or directory.order() is None:
                self._lose(job, "its process did not begin")
        else:
            return
        self._endings.pop(job.id, None)
        self._save(job)

    def _lose(self, job: Job, message: str) -> None:
        job.state, job.ended, job.message = JobState.LOST, time.time(), message

    def _find_result(self, job: Job) -> None:
        path = _result_of(job.id)
        if path is not None:
            with self._lock:
                job.result = path
                self._save(job)

    def _forget_oldest(self) -> None:
        ended = [each for each in self._jobs.values() if each.state.ended]
        ended.sort(key=lambda one: one.ended or one.created)
        for job in ended[: max(0, len(ended) - self._settings.limits.ended)]:
            self._try(job, self._forget)

    def _forget(self, job: Job) -> None:
        del self._jobs[job.id]
        self._unsaved.discard(job.id)
        directory = self.directory(job.id)
        if directory.path.exists():
            directory.remove()

    def _save(self, job: Job) -> None:
        """Write a job's record, later if that is not possible now."""
        directory = self.directory(job.id)
        try:
            directory.save(job)
        except OSError as error:
            # Written again until that succeeds: a full disk must not fill the log, too.
            if job.id not in self._unsaved:
                log.warning("cannot write the record of job %s: %s", job.id, error)
            if directory.path.is_dir():
                self._unsaved.add(job.id)
                return
        self._unsaved.discard(job.id)

    def _start_due(self) -> None:
        running = [each for each in self._jobs.values() if each.state is JobState.RUNNING]
        if len(running) >= self._settings.cores or any(one.measures for one in running):
            return
        for job in in_turn(self._jobs.values()):
            if not fits(job, running, self._settings.cores):
                # In their order: a later job that fits does not pass an earlier one.
                return
            self._try(job, self._start)
            if job.state is JobState.RUNNING:
                running.append(job)

    def _start(self, job: Job) -> None:
        directory = self.directory(job.id)
        job.state, job.started = JobState.RUNNING, time.time()
        job.starts += 1
        try:
            directory.save(job)
            process, self._next_runner = self._next_runner, None
            if process is None or not _gets(process, directory):
                process = _new_runner()
                _gets(process, directory)
            with suppress(OSError):
                self._runners.append(os.pidfd_open(process.pid))
                os.eventfd_write(self._wake, 1)
        except OSError as error:
            job.state, job.ended = JobState.FAILED, time.time()
            job.message = f"its process could not be started: {error}"
            self._save(job)

    def _prepare_runner(self) -> None:
        """Start the next runner, unless that would disturb a measurement or a short job."""
        disturbs = any(
            job.measures or time.time() - (job.started or 0) < SHORT_S
            for job in self._jobs.values()
            if not job.state.ended
        )
        if self._next_runner is None and not disturbs:
            try:
                self._next_runner = _new_runner()
            except OSError as error:
                log.warning("cannot start a process for the next job: %s", error)


def _gets(process: "subprocess.Popen[bytes]", directory: JobDirectory) -> bool:
    """Name the directory of its job to a runner. Return false if the runner has ended."""
    assert process.stdin is not None
    try:
        with process.stdin as name:
            name.write(os.fsencode(directory.path))
    except BrokenPipeError:
        return False
    return process.poll() is None


def _new_runner() -> "subprocess.Popen[bytes]":
    """Start a runner. It waits for the directory of its job on its standard input."""
    return subprocess.Popen(
        [sys.executable, "-P", runner.__file__],
        stdin=subprocess.PIPE,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        env=os.environ | runner.VARIABLES,
        start_new_session=True,
    )


def _alone(data: Path) -> int:
    """Lock the data directory for this server and return the lock's descriptor."""
    held = lock_file(data / "serve.lock")
    if held is None:
        raise ValueError(
            f"{data}: another headrace serve uses this directory: expected another --data-directory"
        )
    return held


def _result_of(job: str) -> str | None:
    """Return the identifier of a job's result in the store; None if it has none."""
    from headrace import store

    try:
        listed = store.open().listed(store.make_filter(labels={RESULT_LABEL: job}, limit=1))
    except (store.StoreError, store.StoreFailure, OSError) as error:
        log.warning("cannot look for the result of job %s: %s", job, error)
        return None
    return str(listed.entries[0].id) if listed.entries else None
