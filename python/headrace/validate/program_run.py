"""Runs of a program in fresh working directories."""

import errno
import os
import resource
import shlex
import shutil
import signal
import stat
import subprocess
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import IO

import psutil

from headrace._core import RunError
from headrace.calibrate.case import QUIESCE_S
from headrace.interruption import defer_signals
from headrace.profile.program import CannotStart, cannot_start, check_program

PREFIX = "headrace-twin-"
"""Beginning of the names of working directories."""
LINES = 10
"""Last lines of standard error that the error of a failed program has."""
ATTEMPTS, PAUSE_S = 5, 0.1
"""Attempts to remove a working directory in which a process still writes, and the time between."""
LONGEST_NAME = 60
"""Longest name of a command in tables and figures."""


@dataclass(frozen=True)
class ProcessorUse:
    """Use of the processors by a captured program, which the tracer hardly changes."""

    user_s: float
    """Time in which the program itself computed, over all its processes, in seconds."""
    faults: int
    """Page faults that read no file."""


@dataclass(frozen=True)
class ProgramRun:
    """One run of a program."""

    seconds: float
    """Time from the start to the exit."""
    directory: Path
    """The removed working directory."""
    others: float
    """Share of the processors that other programs and the kernel used."""
    use: ProcessorUse
    """Use of the processors by the ended children of the command: under a tracer, the program's."""


@dataclass(frozen=True)
class ProgramRuns:
    """A command, and the conditions of each of its runs."""

    command: tuple[str, ...]
    directory: Path
    """Directory in which the working directories are made."""
    prepare: str | None = None
    """Shell command that is run in the working directory before each run."""
    cold: bool = False
    """True if the files of the working directory are evicted from the page cache before a run."""

    @classmethod
    def of_command(
        cls, command: Sequence[str], directory: Path, prepare: str | None, cold: bool
    ) -> "ProgramRuns":
        """Return the runs of a command.

        A relative path of an existing program is that of the current directory, because the
        program runs in another one.

        Raises
        ------
        RunError
            If there is no such program, unless a `prepare` may make it.
        """
        program, *arguments = command
        if "/" in program and Path(program).exists():
            program = str(Path(program).absolute())
        elif prepare is None or "/" not in program:
            try:
                check_program(program)
            except CannotStart as error:
                raise RunError(str(error)) from None
        return cls((program, *arguments), directory.resolve(), prepare, cold)

    @property
    def name(self) -> str:
        """The command in one line, shortened."""
        name = " ".join(shlex.join(self.command).split())
        return name if len(name) <= LONGEST_NAME else f"{name[: LONGEST_NAME - 3]}..."

    @contextmanager
    def working_directory(self) -> Iterator[Path]:
        """Make and prepare a working directory, and remove it at the end.

        Raises
        ------
        RunError
            If the preparation fails.
        OSError
            If the directory cannot be made or removed.
        """
        path: Path | None = None
        try:
            with defer_signals():
                path = Path(tempfile.mkdtemp(prefix=PREFIX, dir=self.directory))
            if self.prepare is not None:
                _run(["/bin/sh", "-c", self.prepare], path, f"--prepare {self.prepare}")
            os.sync()
            if self.cold:
                evict(path)
            # Throttling then no longer counts the preparation.
            time.sleep(QUIESCE_S)
            yield path
        finally:
            with defer_signals():
                if path is not None:
                    remove(path)

    def run(self, wrap: Callable[[list[str]], list[str]] | None = None) -> ProgramRun:
        """Run the program once in a fresh working directory.

        Parameters
        ----------
        wrap
            Returns the command that captures a command; None for a run without capture.

        Raises
        ------
        RunError
            If the program cannot be started, or exits with another status than 0. The message has
            the last lines of its standard error.
        OSError
            As `working_directory`.
        """
        command = list(self.command)
        with self.working_directory() as path:
            own, busy = _children_s(), _busy_s()
            seconds, use = _run(command if wrap is None else wrap(command), path, self.name)
            others = (_busy_s() - busy) - (_children_s() - own)
        processors = psutil.cpu_count() or 1
        return ProgramRun(seconds, path, max(others / (seconds * processors), 0.0), use)


def _children_s() -> float:
    """Return the processor time of this process's ended children, in seconds."""
    usage = resource.getrusage(resource.RUSAGE_CHILDREN)
    return usage.ru_utime + usage.ru_stime


def _busy_s() -> float:
    """Return the busy time of all processors so far, in seconds."""
    times = psutil.cpu_times()
    return float(times.user + times.nice + times.system)


def _use_of_children(pid: int) -> ProcessorUse:
    """Return the processors' use by the ended children of a process that has not been waited for.

    Source: proc_pid_stat(5), fields 11 (cminflt) and 16 (cutime).
    """
    text = Path(f"/proc/{pid}/stat").read_text(encoding="ascii", errors="replace")
    # The second field is a name in parentheses.
    fields = text[text.rindex(")") + 2 :].split()
    return ProcessorUse(int(fields[13]) / os.sysconf("SC_CLK_TCK"), int(fields[8]))


def _run(command: Sequence[str], place: Path, name: str) -> tuple[float, ProcessorUse]:
    """Run a command in a directory. Its output is hidden.

    Returns its seconds, and the processors' use by its ended children.

    Raises RunError if it fails.
    """
    with tempfile.TemporaryFile() as errors:
        start = time.perf_counter()
        try:
            # A session of its own, so that an interruption ends all of its processes.
            process = subprocess.Popen(
                command,
                cwd=place,
                stdin=subprocess.DEVNULL,
                stdout=subprocess.DEVNULL,
                stderr=errors,
                start_new_session=True,
            )
        except OSError as error:
            raise RunError(str(cannot_start(command[0], error))) from None
        try:
            os.waitid(os.P_PID, process.pid, os.WEXITED | os.WNOWAIT)
            seconds = time.perf_counter() - start
            use = _use_of_children(process.pid)
            status = process.wait()
        except BaseException:
            with suppress(ProcessLookupError):
                os.killpg(process.pid, signal.SIGKILL)
            process.wait()
            raise
        if status != 0:
            raise RunError(f"{name}: {_ending(status)}{_last_lines(errors)}")
    return seconds, use


def _ending(status: int) -> str:
    if status < 0:
        return f"ended by signal {signal.Signals(-status).name}"
    return f"exited with status {status}"


def _last_lines(errors: IO[bytes]) -> str:
    """Return the last lines of a program's standard error for a message."""
    errors.seek(0, os.SEEK_END)
    errors.seek(max(errors.tell() - 100 * LINES, 0))
    lines = errors.read().decode(errors="replace").splitlines()[-LINES:]
    text = " | ".join(line.strip() for line in lines if line.strip())
    return f": {text}" if text else "; its standard error is empty"


def remove(directory: Path) -> None:
    """Remove a working directory, unless the program has removed it.

    Raises
    ------
    RunError
        If something of it cannot be removed, or a process that the program left still writes there.
    """
    for attempt in range(ATTEMPTS):
        try:
            shutil.rmtree(directory)
        except FileNotFoundError:
            # A name that another process removed at the same time, or the directory itself.
            if not directory.exists():
                return
        except OSError as error:
            if error.errno != errno.ENOTEMPTY or attempt == ATTEMPTS - 1:
                reason = os.strerror(error.errno or errno.EIO).lower()
                if error.errno == errno.ENOTEMPTY:
                    reason = "a process that the program left behind still writes there"
                raise RunError(
                    f"{directory}: the working directory was not removed: {reason}: remove it by"
                    " hand"
                ) from None
        else:
            return
        time.sleep(PAUSE_S)


def evict(directory: Path) -> None:
    """Evict the data of a directory's files from the page cache; it must have been written.

    Raises
    ------
    OSError
        If a file cannot be opened.
    """
    for folder, _, names in os.walk(directory):
        for name in names:
            path = os.path.join(folder, name)
            if not stat.S_ISREG(os.lstat(path).st_mode):
                continue
            descriptor = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_CLOEXEC)
            try:
                os.posix_fadvise(descriptor, 0, 0, os.POSIX_FADV_DONTNEED)
            finally:
                os.close(descriptor)
