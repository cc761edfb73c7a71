"""A process of the tree, its threads, and their last counters.

A thread whose /proc/PID/task/TID/schedstat has not changed has not run. Its other files are then
not read, which saves most of the cost of a tree that mostly sleeps.
"""

import contextlib
import os
from collections.abc import Iterator
from operator import add, sub

from headrace.profile.counters.process_files import (
    OpenFiles,
    Stat,
    ignores_children,
    parse_io,
    parse_stat,
    parse_switches,
)
from headrace.profile.counters.source import Watched, naturals

TIMES, TRANSFERS, WAITS = 4, 6, 3
"""Numbers of counters: user and system time, minor and major faults; those of /proc/PID/io; I/O
wait, voluntary and involuntary context switches."""
Counters = list[int]
FILES = ("stat", "io", "status")
THREAD_FILES = ("schedstat", "stat", "status", "children")
DEAD = "X"
"""State of a process while its parent takes its counters over."""
ENDED = (ProcessLookupError, FileNotFoundError)


class Damaged(OSError):
    """A file of a process does not have the fields that it should have."""


class Thread:
    """A thread and its last counters."""

    def __init__(self, path: str) -> None:
        self.path = path
        self.paths = {name: f"{path}/{name}" for name in THREAD_FILES}
        self.schedule: bytes | None = None
        self.state = ""
        self.time: int | None = None
        self.waits: Counters = [0] * WAITS
        self.grown = 0
        """Ticks since the sample before."""
        self.delay_ns: int | None = None
        self.delay_grown_ns = 0
        """Time that it waited for a core since the sample before."""
        self._is_new = True

    def has_run(self, files: OpenFiles) -> bool:
        """Return whether it has run since the last sample. Raises OSError if it has ended."""
        try:
            schedule = files.read(self.paths["schedstat"])
        except FileNotFoundError:
            # Kernels without scheduler statistics: the other files show whether it has ended.
            return True
        before, self.schedule = self.schedule, schedule
        if schedule == before:
            return False
        # Times on and waiting for a core, time slices: Documentation/scheduler/sched-stats.rst.
        values = naturals(schedule.split())
        if values is not None and len(values) > 1:
            self.delay_grown_ns = max(values[1] - (self.delay_ns or 0), 0)
            self.delay_ns = values[1]
        return True

    def update(self, stat: Stat, status: bytes, begin: int) -> None:
        """Take over the counters of its files."""
        if self._is_new and stat.started < begin:
            self.delay_grown_ns = 0
        self._is_new = False
        time = stat.times[0] + stat.times[1]
        if self.time is None:
            self.time = time if stat.started < begin else 0
        self.grown = max(time - self.time, 0)
        self.time = time
        self.state = stat.state
        self.waits = [stat.io_wait, *(parse_switches(status) or self.waits[1:])]


class Process:
    """A process, read again for each sample."""

    def __init__(
        self, files: OpenFiles, proc: str, number: int, parent: int | None, watched: Watched
    ) -> None:
        self.number = number
        self._parent = parent
        self.stat: Stat | None = None
        self.transfers: Counters | None = None
        """None if another user's process does not show them."""
        self.children_faults_grown = 0
        """Minor faults of children that it waited for since the sample before."""
        self._files = files
        self._watched = watched
        self._path = f"{proc}/{number}"
        self._paths = {name: f"{self._path}/{name}" for name in FILES}
        self._status = b""
        main = Thread(f"{self._path}/task/{number}")
        self._threads = {number: main}
        self._ended_waits: Counters = [0] * WAITS
        self._had_threads = False

    def read(self, *, switches: bool, begin: int) -> None:
        """Read all counters; `begin` is the start of the recording in ticks since that of the
        system.

        Raises OSError if the process has ended or its files are damaged.
        """
        self.children_faults_grown = 0
        if self._had_threads:
            if not self._read_threads(switches, begin) and self.stat is not None:
                return
            self._read_process()
            return
        main = self._threads[self.number]
        main.grown = main.delay_grown_ns = 0
        if not main.has_run(self._files) and self.stat is not None:
            return
        stat = self._read_process()
        main.update(stat, self._status, begin)
        if stat.threads > 1:
            self._had_threads = True
            self._read_threads(switches, begin)

    def refresh(self) -> None:
        """Read the counters that the kernel adds ended children to once more."""
        grown = self.children_faults_grown
        # A process that has ended as well keeps its last counters.
        with contextlib.suppress(OSError):
            self._read_process()
        self.children_faults_grown += grown

    def has_ended(self) -> bool:
        """Return whether it has ended and its parent has waited for it."""
        try:
            stat = parse_stat(self._files.read(self._paths["stat"]))
        except ENDED:
            return True
        return stat is not None and stat.state == DEAD

    def _read_process(self) -> Stat:
        stat = parse_stat(self._files.read(self._paths["stat"]))
        if stat is None:
            raise Damaged(self._paths["stat"])
        if stat.state == DEAD or (self.stat is not None and stat.started != self.stat.started):
            raise ProcessLookupError
        before = 0 if self.stat is None else self.stat.children[2]
        self.children_faults_grown = stat.children[2] - before
        self.stat = stat
        try:
            self.transfers = self._read_transfers()
        except PermissionError:
            self.transfers = None
        self._status = self._files.read(self._paths["status"])
        return stat

    def _read_transfers(self) -> Counters | None:
        """Return its transfers and those of children that it waited for; of a tracer the latter
        alone, because /proc/PID/task/TID/io does not have them."""
        moved = parse_io(self._files.read(self._paths["io"]))
        if moved is None or not self.is_tracer:
            return moved
        own = parse_io(self._files.read(f"{self._path}/task/{self.number}/io"))
        return None if own is None else [max(a - b, 0) for a, b in zip(moved, own, strict=True)]

    def _read_threads(self, switches: bool, begin: int) -> bool:
        """Read all threads; return whether one has run, started or ended."""
        before = self._threads
        threads: dict[int, Thread] = {}
        any_run = False
        for number in self._thread_numbers():
            thread = before.get(number) or Thread(f"{self._path}/task/{number}")
            thread.grown = thread.delay_grown_ns = 0
            try:
                if thread.has_run(self._files) or number not in before:
                    any_run = True
                    stat = parse_stat(self._files.read(thread.paths["stat"]))
                    status = self._files.read(thread.paths["status"]) if switches else b""
                    if stat is not None:
                        thread.update(stat, status, begin)
            except ENDED:
                continue
            threads[number] = thread
        for number in before.keys() - threads.keys():
            any_run = True
            self._ended_waits = list(map(add, self._ended_waits, before[number].waits))
            self._close(before[number])
        self._threads = threads
        return any_run

    def _thread_numbers(self) -> list[int]:
        """Return the numbers of its threads. Raises OSError if it has ended."""
        return [int(name) for name in os.listdir(f"{self._path}/task") if name.isdigit()]

    def children(self) -> Iterator[int]:
        """Return the processes that its threads have started and that have not ended."""
        for thread in self._threads.values():
            try:
                text = self._files.read(thread.paths["children"], 1 << 16)
            except OSError:
                continue
            if text:
                yield from naturals(text.split()) or ()

    @property
    def threads(self) -> list[Thread]:
        """Its threads that have not ended."""
        return [thread for thread in self._threads.values() if thread.state not in ("", "Z", "X")]

    @property
    def parent(self) -> int | None:
        """Its parent; before it was read, that in whose list it was found."""
        return self._parent if self.stat is None else self.stat.parent

    @property
    def is_tracer(self) -> bool:
        """True if its own figures do not count."""
        return self.number == self._watched.tracer

    @property
    def ignores_children(self) -> bool:
        """True if the kernel does not add the time of ended children to it."""
        return ignores_children(self._status)

    @property
    def times(self) -> Counters:
        """Its own counters and those of the children that it waited for, in ticks and faults."""
        stat = self.stat
        if stat is None:
            return [0] * TIMES
        return stat.children if self.is_tracer else list(map(add, stat.times, stat.children))

    @property
    def waits(self) -> Counters:
        """I/O wait in ticks and context switches of all its threads."""
        total = self._ended_waits
        for thread in self._threads.values():
            total = list(map(add, total, thread.waits))
        return total

    def close(self) -> None:
        """Close its files."""
        for path in self._paths.values():
            self._files.close(path)
        for thread in self._threads.values():
            self._close(thread)

    def _close(self, thread: Thread) -> None:
        for path in thread.paths.values():
            self._files.close(path)


class Sums:
    """Counters of processes that have ended, less those from before the recording."""

    def __init__(self) -> None:
        self.times: Counters = [0] * TIMES
        self.transfers: Counters = [0] * TRANSFERS
        self.waits: Counters = [0] * WAITS

    def subtract_all(self, process: Process) -> None:
        """Subtract what a process had counted before it was first seen."""
        self.times = list(map(sub, self.times, process.times))
        self.waits = list(map(sub, self.waits, process.waits))
        if process.transfers is not None:
            self.transfers = list(map(sub, self.transfers, process.transfers))

    def add_times(self, process: Process) -> None:
        """Add time and faults of an ended process."""
        self.times = list(map(add, self.times, process.times))

    def add_transfers(self, process: Process) -> None:
        """Add the transfers of an ended process."""
        if process.transfers is not None:
            self.transfers = list(map(add, self.transfers, process.transfers))

    def add_waits(self, process: Process) -> None:
        """Add waits and context switches of an ended process, which no parent takes over."""
        if not process.is_tracer:
            self.waits = list(map(add, self.waits, process.waits))
