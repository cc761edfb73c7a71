"""Capture of processes that run already: attach recorders, and merge what they leave.

A recorder follows the children that a process starts. Further processes, such as others of one
name, are attached to as the samples show them.
"""

import contextlib
import ctypes
import heapq
import os
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import IO

from headrace.files import atomic_file
from headrace.profile.capture.method import Method
from headrace.profile.capture.running_state import PositionTimes, running_state
from headrace.profile.counters.tree import ParentFinder

ATTACH_S = 10.0
"""Longest time in which a recorder attaches itself, or lets its processes go."""
LOOK_S = 0.005
PR_SET_PDEATHSIG = 1
"""linux/prctl.h"""
PTRACE_SCOPE = Path("/proc/sys/kernel/yama/ptrace_scope")


class CannotAttach(ValueError):
    """A running process cannot be recorded."""


class Attachment:
    """The recorders of running processes."""

    def __init__(self, method: Method, trace: Path) -> None:
        self.failures = 0
        """Number of processes that could not be recorded."""
        self._method = method
        self._trace = trace
        self._recorders: list[_Recorder] = []
        self._known: set[int] = set()
        self._recorded: set[int] = set()
        self._finder = ParentFinder("/proc")
        self._first: int | None = None

    def follow(self, roots: Iterable[int]) -> None:
        """Record these processes and their descendants, unless they are recorded already.

        Raises CannotAttach if none of the new ones can be recorded, with the reason of the first.
        """
        roots = list(roots)
        if self._known.issuperset(roots):
            return
        there = [number for number, _ in reversed(self._finder.descendants(roots))]
        new = [process for process in there if process not in self._known]
        self._known = {process for process in self._known if process in there} | set(new)
        # A child of a recorded process is recorded too, and so are its children.
        for count in new:
            if self._method.takes_more and self._has(count):
                self._recorded.add(count)
        new = [process for process in new if _exists(process) and not self._has(process)]
        if not new:
            return
        part, since = part_path(self._trace, len(self._recorders) + 1), time.time_ns()
        if self._recorders and self._method.takes_more:
            self._recorders[0].add(new)
            recorded = new
        else:
            refused = {pid: reason for pid in new if (reason := refusal(pid)) is not None}
            allowed = [process for process in new if process not in refused]
            recorded = []
            if allowed:
                recorder = _Recorder(self._method, allowed, part)
                recorded = recorder.wait_until_attached()
                if recorded:
                    self._recorders.append(recorder)
                else:
                    refused[allowed[0]] = recorder.error() or "it has ended"
            self.failures += len(new) - len(recorded)
            if not recorded:
                number, reason = next(iter(refused.items()))
                raise CannotAttach(f"process {number} cannot be recorded: {reason}")
        self._recorded |= set(recorded)
        if self._first is None:
            self._first = recorded[0]
        with part_path(self._trace, 0).open("a", encoding="utf-8") as file:
            file.writelines(running_state(recorded, self._first, since))

    def _has(self, number: int) -> bool:
        """Return whether a process is recorded because its parent is."""
        if self._method.takes_more:
            return int(_status(number).get("PPid", "0")) in self._recorded
        tracer = _tracer(number)
        return tracer != 0 and any(recorder.number == tracer for recorder in self._recorders)

    def finish(self) -> None:
        """Let all processes go, and merge the traces of the recorders."""
        for recorder in self._recorders:
            recorder.stop()
        for recorder in self._recorders:
            recorder.wait()
        merge_parts(self._trace)


class _Recorder:
    """A recorder of running processes, and its trace."""

    def __init__(self, method: Method, processes: Sequence[int], path: Path) -> None:
        self._takes_more = method.takes_more
        self._processes = processes
        self._errors: IO[bytes] = tempfile.TemporaryFile()  # noqa: SIM115
        more = ["--more"] if method.takes_more else []
        # In a group of its own, Ctrl-C does not reach it: it ends with the recording.
        self._process = subprocess.Popen(
            [*method.attach(processes, path), *more],
            stdin=subprocess.PIPE if method.takes_more else subprocess.DEVNULL,
            stdout=subprocess.PIPE if method.takes_more else subprocess.DEVNULL,
            stderr=self._errors,
            process_group=0,
            preexec_fn=_end_with_parent,
        )
        self.number = self._process.pid

    def wait_until_attached(self) -> list[int]:
        """Wait until the processes are recorded, and return those that are."""
        if self._takes_more:
            assert self._process.stdout is not None
            return list(self._processes) if self._process.stdout.readline() else []
        end = time.monotonic() + ATTACH_S
        while True:
            recorded = [number for number in self._processes if _tracer(number) == self.number]
            waiting = [pid for pid in self._processes if pid not in recorded and _exists(pid)]
            has_ended = self._process.poll() is not None
            if not waiting or has_ended or time.monotonic() > end:
                return [] if has_ended else recorded
            if recorded and self.error():
                return recorded  # It names the others.
            time.sleep(LOOK_S)

    def add(self, processes: Sequence[int]) -> None:
        """Record further processes."""
        assert self._process.stdin is not None
        with contextlib.suppress(BrokenPipeError):
            self._process.stdin.write(f"{' '.join(map(str, processes))}\n".encode())
            self._process.stdin.flush()

    def error(self) -> str:
        """Return the last line of its messages."""
        size = os.fstat(self._errors.fileno()).st_size
        lines = os.pread(self._errors.fileno(), min(size, 1 << 16), 0).splitlines()
        return lines[-1].decode(errors="replace").removeprefix("strace: ") if lines else ""

    def stop(self) -> None:
        """Tell it to end."""
        if self._process.stdin is not None:
            with contextlib.suppress(BrokenPipeError):
                self._process.stdin.close()
        elif self._process.poll() is None:
            self._process.send_signal(signal.SIGINT)

    def wait(self) -> None:
        """Wait for its end."""
        try:
            # A recorder that takes numbers writes its trace now, which takes its time.
            self._process.wait(None if self._takes_more else ATTACH_S)
        except subprocess.TimeoutExpired:
            # The kernel lets the traced processes go.
            self._process.kill()
            self._process.wait()
        if self._process.stdout is not None:
            self._process.stdout.close()
        if self._takes_more and (warning := self.error()):
            print(warning, file=sys.stderr)
        self._errors.close()


def part_path(trace: Path, number: int) -> Path:
    """Return the file of one recorder; 0 is that of the state of the processes before."""
    return trace.with_name(f"{trace.stem}-{number}{trace.suffix}")


def merge_parts(trace: Path) -> None:
    """Merge the parts of a trace in the order of their times, and remove them.

    A killed profiler leaves parts. A last line that is cut off is left out. So are calls on a file
    before its position was known, a moment after the attach. Does nothing without parts.

    Raises OSError if a file cannot be read or written.
    """
    parts = sorted(trace.parent.glob(f"{trace.stem}-*{trace.suffix}"))
    if not parts:
        return
    with contextlib.ExitStack() as stack:
        files = [stack.enter_context(part.open("rb")) for part in parts]
        with atomic_file(trace) as partial, partial.open("wb") as out:
            state = part_path(trace, 0)
            known = PositionTimes(state.read_bytes().splitlines(True) if state.exists() else ())
            lines: Iterator[bytes] = heapq.merge(*map(_whole_lines, files), key=_time)
            out.writelines(line for line in lines if not known.precedes(line))
    for part in parts:
        # Counts of what a recorder lost.
        for beside in trace.parent.glob(f"{part.name}.*"):
            beside.rename(trace.with_name(beside.name.replace(part.name, trace.name, 1)))
        part.unlink()


def _whole_lines(file: IO[bytes]) -> Iterator[bytes]:
    return (line for line in file if line.endswith(b"\n"))


def _time(line: bytes) -> float:
    try:
        return float(line.split(None, 2)[1])
    except (IndexError, ValueError):
        return 0.0


def refusal(number: int) -> str | None:
    """Return why a running process cannot be traced and what to do; None if nothing is known."""
    tracer = _tracer(number)
    if tracer:
        name = _status(tracer).get("Name", "a process")
        return f"{name} ({tracer}) traces it already: end that tracer first"
    status = _status(number)
    if not status:
        return "it has ended"
    if status.get("Kthread") == "1" or "VmSize" not in status:
        return "it is a thread of the kernel or has ended: expected a program"
    if os.geteuid() == 0:
        return None
    if set(status.get("Uid", "").split()) != {str(os.getuid())}:
        return "it belongs to another user: run as root"
    return scope_refusal()


def scope_refusal() -> str | None:
    """Return why this user cannot trace own processes that run already, and what to do; None if
    the user can."""
    if os.geteuid() == 0:
        return None
    scope = PTRACE_SCOPE.read_text().strip() if PTRACE_SCOPE.exists() else "0"
    if scope != "0":
        return (
            f"{PTRACE_SCOPE} is {scope}: run as root, or set it to 0; a program that headrace"
            " profile starts can be traced"
        )
    return None


def _exists(number: int) -> bool:
    return Path(f"/proc/{number}").exists()


def _tracer(number: int) -> int:
    """Return the process that traces another; 0 if there is none."""
    return int(_status(number).get("TracerPid", "0"))


def _status(number: int) -> dict[str, str]:
    try:
        text = Path(f"/proc/{number}/status").read_text(errors="replace")
    except OSError:
        return {}
    pairs = (line.partition(":") for line in text.splitlines())
    return {name: value.strip() for name, _, value in pairs}


def _end_with_parent() -> None:
    """Have the kernel end this process with the profiler, so that no process stays traced."""
    with contextlib.suppress(AttributeError, OSError):
        ctypes.CDLL(None).prctl(PR_SET_PDEATHSIG, signal.SIGTERM)
