"""An instance of the kernel's tracing that is ours alone (Linux, Documentation/trace/ftrace.rst,
"Instances"): its own buffer, its own events."""

import contextlib
import itertools
import os
import re
import time
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from types import TracebackType
from typing import Self

from headrace.kernel_trace.formats import Format, format_of
from headrace.kernel_trace.ring_buffer import PageHeader, Records, records
from headrace.tracefs import KernelTraceError, tracefs

BUFFER = 128 << 20
"""Bytes of the buffers of all processors: more than a million records, allocated at once."""
CLOCK = "mono"
"""Trace clock equal to CLOCK_MONOTONIC, which is the same on all processors."""
NAME = re.compile(r"headrace-(\d+)-(\d+)-\d+")
_numbers = itertools.count()


class Instance:
    """Records events between `start` and `stop`. Removed when its `with` ends."""

    def __init__(self, *, buffer: int = BUFFER) -> None:
        """Make it; removes those of processes that have died.

        Raises KernelTraceError if that cannot be done.
        """
        root = tracefs()
        remove_orphans(root)
        name = f"headrace-{_namespace()}-{os.getpid()}-{next(_numbers)}"
        self.path = root / "instances" / name
        self._formats: dict[str, Format] = {}
        with _told("make an instance"):
            self.path.mkdir()
        try:
            self._write("tracing_on", "0")
            self._write("trace_clock", CLOCK)
            # The first records stay: of what came later, the kernel says how many were lost.
            self._write("options/overwrite", "0")
            self._write("buffer_size_kb", str(max(buffer // (os.cpu_count() or 1) >> 10, 4)))
        except BaseException:
            self.remove()
            raise

    def has(self, event: str) -> bool:
        """Return whether the kernel has an event, given as block/block_rq_issue."""
        return (self.path / "events" / event / "format").exists()

    def enable(self, events: Mapping[str, str | None]) -> None:
        """Ask for events, each with a filter or none. Those the kernel lacks are left out."""
        for event, chosen in events.items():
            if not self.has(event):
                continue
            folder = self.path / "events" / event
            with _told(f"read the format of the event {event}"):
                text = (folder / "format").read_text(encoding="ascii", errors="replace")
            self._formats[event] = format_of(text, event)
            if chosen is not None:
                self._write(f"events/{event}/filter", chosen)
            self._write(f"events/{event}/enable", "1")

    def follow(self, threads: Iterable[int]) -> None:
        """Record these threads only, and those that they start from now on."""
        self._write("options/event-fork", "1")
        self._write("set_event_pid", " ".join(map(str, threads)))

    def follow_also(self, threads: Iterable[int]) -> None:
        """Record these threads besides, and those that they start from now on."""
        with _told("follow more threads"):
            # Opened without O_TRUNC, which would clear the list.
            file = os.open(self.path / "set_event_pid", os.O_WRONLY)
            try:
                os.write(file, " ".join(map(str, threads)).encode("ascii"))
            finally:
                os.close(file)

    def start(self) -> None:
        """Begin to record."""
        self._write("tracing_on", "1")

    def stop(self) -> None:
        """Records no longer."""
        self._write("tracing_on", "0")

    @property
    def formats(self) -> Mapping[str, Format]:
        """Return the formats of the requested events that the kernel has."""
        return self._formats

    def lost(self) -> int:
        """Records for which there was no room."""
        lost = 0
        for path in self.path.glob("per_cpu/cpu*/stats"):
            with _told("read what was lost"):
                text = path.read_text(encoding="ascii")
            for label in ("overrun", "commit overrun", "dropped events"):
                match = re.search(rf"^{label}: (\d+)$", text, re.MULTILINE)
                lost += int(match[1]) if match else 0
        return lost

    def take(self) -> list[Records]:
        """All records so far, for each processor; they are gone from the buffer."""
        header = self.page_header()
        size = self.page_size()
        with _told("read the trace"):
            return [records(_pages(pipe, size), header) for pipe in self.pipes()]

    def pipes(self) -> list[Path]:
        """Return the files from which the pages of each processor are read, each page once."""
        processors = sorted(self.path.glob("per_cpu/cpu*"), key=lambda path: int(path.name[3:]))
        return [processor / "trace_pipe_raw" for processor in processors]

    def page_size(self) -> int:
        """Return the bytes of a page of the buffer."""
        with contextlib.suppress(OSError, ValueError):
            return int((self.path / "buffer_subbuf_size_kb").read_text()) << 10
        return 4096

    def remove(self) -> None:
        """Remove the instance from the tracing file system."""
        _remove(self.path)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        _kind: type[BaseException] | None,
        _error: BaseException | None,
        _trace: TracebackType | None,
    ) -> None:
        self.remove()

    def page_header(self) -> PageHeader:
        """Return the layout of the buffer's pages. Raises KernelTraceError if it is unknown."""
        with _told("read the trace"):
            text = (self.path.parents[1] / "events" / "header_page").read_text(encoding="ascii")
        data = re.search(r"data;\s*offset:(\d{1,4});", text)
        word = re.search(r"commit;\s*offset:\d{1,4};\s*size:([48]);", text)
        if data is None or word is None:
            raise KernelTraceError("the kernel does not report the header of its trace pages")
        return PageHeader(int(data[1]), int(word[1]))

    def _write(self, name: str, value: str) -> None:
        with _told(f"set {name} to {value}"):
            (self.path / name).write_text(value, encoding="ascii")


def remove_orphans(root: Path) -> None:
    """Remove instances whose process has died."""
    with contextlib.suppress(OSError):
        for path in (root / "instances").iterdir():
            match = NAME.fullmatch(path.name)
            # A process of another namespace is indistinguishable from a dead one.
            if match and match[1] == str(_namespace()) and not _lives(int(match[2])):
                with contextlib.suppress(KernelTraceError):
                    _remove(path)


def _namespace() -> int:
    """Return the identifier of the PID namespace."""
    return os.stat("/proc/self/ns/pid").st_ino


def _lives(process: int) -> bool:
    try:
        os.kill(process, 0)
    except ProcessLookupError:
        return False
    except OSError:
        return True
    return True


def _remove(path: Path) -> None:
    with contextlib.suppress(OSError):
        (path / "tracing_on").write_text("0", encoding="ascii")
    for attempt in range(20):
        try:
            path.rmdir()
        except FileNotFoundError:
            return
        except OSError:
            # Somebody looks at it.
            time.sleep(0.01 * attempt)
        else:
            return
    raise KernelTraceError(f"{path} is in use and was not removed: remove it by rmdir")


def _pages(path: Path, size: int) -> Iterator[bytes]:
    file = os.open(path, os.O_RDONLY | os.O_NONBLOCK)
    try:
        while True:
            try:
                page = os.read(file, size)
            except BlockingIOError:
                return
            if not page:
                return
            yield page
    finally:
        os.close(file)


@contextlib.contextmanager
def _told(action: str) -> Iterator[None]:
    try:
        yield
    except OSError as error:
        reason = error.strerror or str(error)
        raise KernelTraceError(
            f"the kernel's tracing does not allow headrace to {action}: {reason}"
        ) from None
