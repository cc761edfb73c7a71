"""Record a profile: start or watch processes, and sample until the end."""

import contextlib
import math
import os
import sys
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from itertools import count
from pathlib import Path
from typing import Any

import msgspec

from headrace import __version__, environment, ranks
from headrace.files import make_directory
from headrace.profile.counters import Watched
from headrace.profile.header import (
    FILE,
    LONGEST_S,
    SAMPLES,
    Attached,
    Header,
    Sampling,
    write_header,
)
from headrace.profile.hosts import Begin, merge_hosts, shared_begin
from headrace.profile.program import (
    CannotStart,
    End,
    NothingCame,
    Program,
    RecordingFailed,
    cannot_start,
    check_program,
    signals_given_to,
)
from headrace.profile.sampler import SHORTEST_S, Sampler
from headrace.profile.targets import ByName, by_cgroup, by_number
from headrace.profile.worksheet import facts

OnSample = Callable[[float, bool], None]
"""Gets the time of the last sample, and whether there has been a process to watch."""


@dataclass(frozen=True, kw_only=True)
class Request:
    """A profile that is to be recorded. Either `command` or one of the others is given."""

    command: Sequence[str] = ()
    pid: int | None = None
    pid_name: str | None = None
    cgroup: Path | None = None
    seconds: float | None = None
    interval_s: float = 1.0
    name: str | None = None
    output: Path | None = None
    directory: Path = field(default_factory=Path)
    """Directory whose file system the environment describes."""
    capture: str = "none"
    capture_needed: bool = True
    """Whether it is an error if running processes cannot be captured."""
    stdout: Any = None
    """Standard output of the program; None is that of this process."""

    def check(self) -> None:
        """Raise ValueError if options contradict each other."""
        watched = [key for key in ("pid", "pid_name", "cgroup") if getattr(self, key) is not None]
        options = ["--" + name.replace("_", "-") for name in watched]
        if self.command and (options or self.seconds is not None):
            raise ValueError(
                f"{(options or ['--time'])[0]} watches running processes, and {self.command[0]}"
                " is to be started: leave one of them out"
            )
        if len(options) > 1:
            raise ValueError(f"{' and '.join(options)}: expected one of them")
        if not self.command and not options and self.seconds is None:
            raise ValueError(
                "nothing to profile: expected -- and a command, --pid, --pid-name, --cgroup or"
                " --time"
            )
        if self.pid_name == "":
            raise ValueError("--pid-name: expected the name of a process")
        if not SHORTEST_S <= self.interval_s <= LONGEST_S:
            raise ValueError(
                f"--interval {self.interval_s:g}: expected {SHORTEST_S} s to {LONGEST_S:g} s:"
                " processor time is counted in ticks of 10 ms"
            )
        if self.seconds is not None and not 0 < self.seconds <= LONGEST_S:
            raise ValueError(
                f"--time {self.seconds:g}: expected a time above 0 s and up to {LONGEST_S:g} s"
            )
        if self.capture != "none" and not self.command and not options:
            raise ValueError(
                f"--capture {self.capture}: expected a command, --pid, --pid-name or --cgroup: the"
                " whole system cannot be captured"
            )
        if ranks.count() > 1 and (self.command or self.pid is not None):
            raise ValueError(
                "under mpirun, headrace profile watches: expected --time, --pid-name or --cgroup"
                "; start the program with an mpirun of its own"
            )
        if self.capture != "none" and ranks.count() > 1:
            raise ValueError(
                f"--capture {self.capture}: expected one host: under mpirun, capture none"
            )

    def attached(self) -> Attached | None:
        """Return what is watched, as the header has it; None for a command."""
        cgroup = None if self.cgroup is None else str(self.cgroup)
        attached = Attached(self.pid, self.pid_name, cgroup, self.seconds)
        return None if attached == Attached() else attached

    def profile_name(self) -> str:
        """Return the name of the application."""
        if self.name is not None:
            return self.name
        if self.command:
            return os.path.basename(self.command[0]) or "program"
        if self.cgroup is not None:
            return self.cgroup.resolve().name or "cgroup"
        if self.pid is not None:
            return Path(f"/proc/{self.pid}/comm").read_text(errors="replace").strip() or "process"
        return self.pid_name or "system"


@dataclass(frozen=True)
class Recorded:
    """A recording that has ended."""

    directory: Path
    status: int
    """Exit status: that of the program; 128 + n if signal n ended a span of time early."""


def record(request: Request, on_sample: OnSample | None = None) -> Recorded:
    """Record a profile. All ranks call it; one rank of each host samples.

    Raises:
        ValueError: for wrong options, and if running processes cannot be captured.
        CannotStart: if the program cannot be started.
        RecordingFailed: if the samples cannot be written.
        NothingCame: if no process with the name came.
        OSError: if the directory cannot be written.
    """
    request.check()
    target = _target(request)
    here = ranks.current()
    name = here.broadcast(request.profile_name() if here.first else None)
    of_directory = environment.of_directory(request.directory)
    directory = here.broadcast(_new_directory(request.output, name) if here.first else None)
    if not here.first:
        make_directory(directory)
    hosts = here.hosts()
    begin = shared_begin()
    header = Header(
        version=__version__,
        name=name,
        command=list(request.command),
        started=environment.timestamp(datetime.now(UTC)),
        interval_s=request.interval_s,
        hosts=list(hosts),
        attached=request.attached(),
        environment={**of_directory, "worksheet": msgspec.to_builtins(facts(request.directory))},
        capture=None if request.capture == "none" else request.capture,
        clock_uncertainty_s=begin.uncertainty_s if len(hosts) > 1 else None,
    )
    if here.first:
        write_header(directory, header)
    part = directory / (SAMPLES if len(hosts) == 1 else f"samples-{here.host}.jsonl")
    path = part if hosts[here.host][0] == here.number else None
    if path is None:
        _wait_only(request, begin)
        status = 0
    else:
        status = _sample(request, header, target, directory, path, begin, on_sample)
    if len(hosts) > 1:
        merge_hosts(directory, path)
    if here.first:
        write_header(directory, header)
    return Recorded(directory, status)


@dataclass(frozen=True)
class _Target:
    """The processes that are watched, and a test whether all of them have ended."""

    watched: Watched
    program: list[int]
    """The program's number, once it is started."""
    have_ended: Callable[[], bool] = lambda: False
    have_come: Callable[[], bool] = lambda: True
    """Whether there has been a process."""


def _target(request: Request) -> _Target:
    program: list[int] = []
    if request.command:
        return _Target(Watched(roots=lambda: program), program)
    if request.pid is not None:
        return _Target(Watched(roots=by_number(request.pid)), program)
    if (group := request.cgroup) is not None:
        watched = Watched(roots=by_cgroup(group), cgroup=group)
        return _Target(watched, program, lambda: not group.exists())
    if request.pid_name is not None:
        named = ByName(request.pid_name)
        return _Target(Watched(roots=named), program, named.have_ended, named.have_come)
    return _Target(Watched(), program)


def _new_directory(output: Path | None, name: str) -> Path:
    """Make the directory of a profile. Raises OSError if that fails, ValueError if it is in use."""
    if output is not None:
        directory = make_directory(output)
        if any(directory.iterdir()):
            raise ValueError(f"{output}: expected a new or an empty directory for the profile")
        return directory
    base = name.replace("/", "-")
    for number in count(1):
        path = Path(f"{base}.profile" if number == 1 else f"{base}-{number}.profile")
        try:
            path.mkdir()
        except FileExistsError:
            continue
        return path.resolve()
    raise AssertionError


def _sample(
    request: Request,
    header: Header,
    target: _Target,
    directory: Path,
    path: Path,
    begin: Begin,
    on_sample: OnSample | None,
) -> int:
    """Sample until the end, complete the header, and return the exit status."""
    cost = time.process_time()
    capture = None if request.command else _capture(request, target, directory)
    sampler = Sampler(path, target.watched, ranks.current().host, begin=begin.monotonic_s)
    program, is_empty = None, False
    end = End(request.pid, request.seconds)

    def wait(until_s: float) -> bool:
        if on_sample is not None:
            on_sample(sampler.last_s, target.have_come())
        if capture is not None:
            capture.follow()
        return target.have_ended() or end.wait(until_s, sampler.elapsed_s)

    try:
        with signals_given_to(end):
            while (left := -sampler.elapsed_s()) > 0:
                time.sleep(left)
            sampler.sample()
            if capture is not None:
                capture.follow(first=True)
            if request.command:
                program = _start(request, target, directory)
                end.of_program(program)
            try:
                sampler.run(request.interval_s, wait)
            except OSError as error:
                if program is None:
                    raise
                # The program does not depend on its recording.
                status = program.end()
                raise RecordingFailed(
                    f"{path}: {error.strerror or error}: the recording ended early; the program"
                    f" went on and ended with status {status}",
                    status or 1,
                ) from None
            if program is not None:
                header.exit_status = program.end()
                _check_started(request, directory)
    except BaseException as error:
        if program is not None:
            program.kill()
        is_empty = isinstance(error, CannotStart) or (capture is not None and capture.has_failed)
        raise
    finally:
        sampler.close()
        end.close()
        if capture is not None:
            capture.finish()
            header.not_captured = capture.failures
        if is_empty:
            _remove(directory, request)
    header.duration_s = sampler.last_s
    header.sampling = Sampling(
        samples=sampler.count,
        missed=sampler.missed,
        left_out=dict(target.watched.left_out),
        processor_s=round(time.process_time() - cost, 6),
    )
    # Under mpirun it may have come on another host.
    if ranks.count() == 1 and not target.have_come():
        raise NothingCame(
            f"--pid-name {request.pid_name}: no process with this name came within"
            f" {sampler.last_s:.3g} s: expected the name in /proc/PID/comm; the samples of the"
            f" system are in {directory}",
            1 if end.stopped_by is None else 128 + end.stopped_by,
        )
    return _status(request, header.exit_status, end)


class _RunningCapture:
    """Capture of the watched processes, as the samples show them."""

    def __init__(self, request: Request, target: _Target, directory: Path) -> None:
        from headrace.profile.capture import METHODS
        from headrace.profile.capture.attachment import Attachment

        self.has_failed = False
        self._needed = request.capture_needed
        self._attachment = Attachment(METHODS[request.capture], trace_path(directory, request))
        self._was_reported = False
        roots = target.watched.roots
        assert roots is not None
        self._last: list[int] = []

        def remembered() -> list[int]:
            self._last = list(roots())
            return self._last

        target.watched.roots = remembered

    def follow(self, *, first: bool = False) -> None:
        """Record the processes of the last sample. Raises CannotAttach if the first ones cannot be
        recorded and have to be; later ones are reported once."""
        from headrace.profile.capture.attachment import CannotAttach

        try:
            self._attachment.follow(self._last)
        except CannotAttach as error:
            if first and self._needed:
                self.has_failed = True
                raise
            if not self._was_reported:
                print(f"warning: {error}", file=sys.stderr)
            self._was_reported = True

    @property
    def failures(self) -> int:
        """Number of processes that could not be recorded."""
        return self._attachment.failures

    def finish(self) -> None:
        """Let the processes go and complete the trace."""
        self._attachment.finish()


def _capture(request: Request, target: _Target, directory: Path) -> _RunningCapture | None:
    return None if request.capture == "none" else _RunningCapture(request, target, directory)


def _start(request: Request, target: _Target, directory: Path) -> Program:
    command = list(request.command)
    is_traced = request.capture != "none"
    if is_traced:
        from headrace.profile.capture import METHODS

        check_program(command[0])
        command = METHODS[request.capture].wrap(command, trace_path(directory, request))
    program = Program(command, request.stdout, is_traced=is_traced)
    if is_traced:
        target.watched.tracer = program.number
    target.program.append(program.number)
    return program


def _check_started(request: Request, directory: Path) -> None:
    """Raise CannotStart if a tracer could not execute the program."""
    if request.capture == "none":
        return
    from headrace.profile.capture import METHODS

    error = METHODS[request.capture].start_error(trace_path(directory, request))
    if error is not None:
        raise cannot_start(request.command[0], error)


def trace_path(directory: Path, request: Request) -> Path:
    """Return the file of the captured trace."""
    from headrace.profile.capture import METHODS

    return directory / f"trace{METHODS[request.capture].suffix}"


def _status(request: Request, of_program: int | None, end: End) -> int:
    if of_program is not None:
        return of_program
    cut_short = end.stopped_by is not None and request.seconds is not None
    return 128 + (end.stopped_by or 0) if cut_short else 0


def _wait_only(request: Request, begin: Begin) -> None:
    """Wait for the end on a rank that does not sample."""
    end = End(None, request.seconds)
    try:
        with signals_given_to(end):
            while not end.wait(math.inf, lambda: time.monotonic() - begin.monotonic_s):
                pass
    finally:
        end.close()


def _remove(directory: Path, request: Request) -> None:
    """Remove a recording of a program that could not be started, or not be captured."""
    files = [directory / FILE, directory / SAMPLES]
    if request.capture != "none":
        files.append(trace_path(directory, request))
    with contextlib.suppress(OSError):
        for path in files:
            path.unlink(missing_ok=True)
        directory.rmdir()
