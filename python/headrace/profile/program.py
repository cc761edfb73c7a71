"""A program that is profiled, and the end of a recording."""

import contextlib
import errno
import os
import select
import shutil
import signal
import subprocess
import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from types import FrameType
from typing import Any

from headrace.profile.counters.tree import ParentFinder

FORWARDED = (signal.SIGTERM, signal.SIGHUP)
"""Signals that are passed on to the program. A terminal sends Ctrl-C and Ctrl-\\ to both."""
FROM_TERMINAL = (signal.SIGINT, signal.SIGQUIT)
NOT_FOUND, NOT_EXECUTABLE = 127, 126
"""Exit statuses for programs that cannot be started (POSIX, Shell Command Language, 2.8.2)."""
LONGEST_S = 3600.0
"""Seconds of one wait; the system limits them."""
LOOK_S = 0.05
"""Seconds between two checks for the end of a process on kernels that do not report it."""


class CannotStart(Exception):
    """A program could not be started."""

    def __init__(self, message: str, status: int) -> None:
        super().__init__(message)
        self.status = status


def cannot_start(name: str, error: OSError) -> CannotStart:
    """Return the error of a program whose execution failed."""
    present = error.errno not in (errno.ENOENT, errno.ENOTDIR)
    reason = error.strerror or str(error)
    hint = "" if present else ": expected a program in PATH, or its path"
    if error.errno == errno.ENOEXEC:
        hint = ": expected a program, or a script with #! and its interpreter in the first line"
    elif not present and os.path.exists(name):
        hint = ": expected the interpreter in its first line, or the libraries that it needs"
    return CannotStart(
        f"{name}: cannot start: {reason[:1].lower()}{reason[1:]}{hint}",
        NOT_EXECUTABLE if present else NOT_FOUND,
    )


def check_program(name: str) -> None:
    """Raise CannotStart if there is no such program; a tracer would start, and fail."""
    if shutil.which(name) is not None:
        return
    there = os.path.exists(name)
    reason = "permission denied" if there else "no such file or directory"
    hint = "" if there else ": expected a program in PATH, or its path"
    status = NOT_EXECUTABLE if there else NOT_FOUND
    raise CannotStart(f"{name}: cannot start: {reason}{hint}", status)


class NothingCame(Exception):
    """No process came that was to be watched."""

    def __init__(self, message: str, status: int) -> None:
        super().__init__(message)
        self.status = status


class RecordingFailed(Exception):
    """A program ended, and its recording did not: the file system was full, for instance."""

    def __init__(self, message: str, status: int) -> None:
        super().__init__(message)
        self.status = status


class Program:
    """A program in the foreground, with the streams of this process."""

    def __init__(
        self, command: Sequence[str], stdout: Any = None, *, is_traced: bool = False
    ) -> None:
        """Start it. Raises CannotStart if that fails; `stdout` is as in subprocess.Popen. The
        command of a traced program is that of its tracer."""
        self._is_traced = is_traced
        try:
            self._process = subprocess.Popen(command, stdout=stdout)
        except OSError as error:
            raise cannot_start(command[0], error) from None
        except ValueError as error:
            raise CannotStart(f"{command[0]!r}: cannot start: {error}", NOT_FOUND) from None
        self.number = self._process.pid

    def send(self, number: int) -> None:
        """Send it a signal, unless it has ended.

        A tracer gets none: strace with an output file blocks them (strace(1), -I).
        """
        if not self._is_traced:
            self._process.send_signal(number)
            return
        for traced in self._children():
            with contextlib.suppress(ProcessLookupError):
                os.kill(traced, number)

    def _children(self) -> list[int]:
        """Return the processes that the tracer has started, unless it has ended."""
        if self._process.poll() is not None:
            return []
        return [
            number
            for number, parent in ParentFinder("/proc").descendants([self.number])
            if parent == self.number
        ]

    def end(self) -> int:
        """Wait for its end and return its exit status, 128 + n after signal n."""
        status = self._process.wait()
        return 128 - status if status < 0 else status

    def kill(self) -> None:
        """End it at once, if the recording has failed."""
        if self._is_traced:
            self.send(signal.SIGKILL)
        self._process.kill()
        self._process.wait()


class End:
    """Waits for the end of a recording: of a process, of a time, or by a signal."""

    def __init__(self, process: int | None, seconds: float | None) -> None:
        """Wait for the end of a running process, or of a time in seconds, if they are given."""
        self.stopped_by: int | None = None
        """Signal that ended the recording."""
        self._seconds = seconds
        self._program: Program | None = None
        self._poll = select.poll()
        self._wake, self._woken = os.pipe2(os.O_CLOEXEC | os.O_NONBLOCK)
        self._poll.register(self._wake, select.POLLIN)
        self._process = process
        self._descriptor = self._open(process)

    def of_program(self, program: Program) -> None:
        """Wait for the end of a program, and pass signals on to it from now on."""
        self._program = program
        self._process = program.number
        self._descriptor = self._open(program.number)
        if self.stopped_by is not None:
            # The signal came while the program was started.
            os.read(self._wake, 1 << 10)
            self.signal(self.stopped_by)
            self.stopped_by = None

    def signal(self, number: int) -> None:
        """Pass a signal on to the program; without one, end the recording."""
        if self._program is None:
            self.stopped_by = number
            os.write(self._woken, b"x")
        elif number in FORWARDED:
            self._program.send(number)

    def _open(self, process: int | None) -> int | None:
        """Register a descriptor that is readable when a process has ended."""
        if process is None:
            return None
        try:
            descriptor = os.pidfd_open(process)
        except OSError:
            # The kernel is older than Linux 5.3, or the process has ended.
            return None
        self._poll.register(descriptor, select.POLLIN)
        return descriptor

    def wait(self, until_s: float, now_s: Callable[[], float]) -> bool:
        """Wait until a time of the recording. Return whether the recording ends."""
        end = until_s if self._seconds is None else min(until_s, self._seconds)
        while True:
            left = max(end - now_s(), 0.0)
            # Without a descriptor, the end of the process must be checked for.
            checked = self._process is not None and self._descriptor is None
            left = min(left, LOOK_S if checked else LONGEST_S)
            if self._poll.poll(1e3 * left):
                return True
            if checked and self._has_ended():
                return True
            if now_s() >= end:
                return self._seconds is not None and end >= self._seconds

    def _has_ended(self) -> bool:
        assert self._process is not None
        try:
            flags = os.WEXITED | os.WNOHANG | os.WNOWAIT
            return os.waitid(os.P_PID, self._process, flags) is not None
        except ChildProcessError:
            return not os.path.exists(f"/proc/{self._process}")

    def close(self) -> None:
        """Close the descriptors."""
        for descriptor in (self._wake, self._woken, self._descriptor):
            if descriptor is not None:
                os.close(descriptor)


@contextmanager
def signals_given_to(end: End) -> Iterator[None]:
    """Give the signals that end programs to the end of a recording."""
    if threading.current_thread() is not threading.main_thread():
        yield  # They come to the main thread alone.
        return
    before = {number: signal.getsignal(number) for number in (*FORWARDED, *FROM_TERMINAL)}

    def handle(number: int, _frame: FrameType | None) -> None:
        end.signal(number)

    for number, handler in before.items():
        # nohup ignores the end of a terminal, and so does the program.
        if handler is not signal.SIG_IGN:
            signal.signal(number, handle)
    try:
        yield
    finally:
        for number, handler in before.items():
            if handler is not None:
                signal.signal(number, handler)
