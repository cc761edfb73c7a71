"""Kernel threads that do I/O: kswapd, jbd2, kworker, flush (Hindman 2011, section 5.2).

Their processor time is read from /proc/PID/schedstat (Linux, Documentation/scheduler/
sched-stats.rst), in nanoseconds.
"""

import os
import re
from collections import deque
from pathlib import Path

from headrace.profile.counters.source import (
    Columns,
    CounterFile,
    Raw,
    Read,
    Source,
    Watched,
    naturals,
    open_file,
    per_second,
)

NAME = "kernel_threads"
PARENT = 2
"""Process number of kthreadd, the parent of all kernel threads."""
NAMES = re.compile(rb"kswapd|kcompactd|jbd2|kworker|flush|xfsaild|btrfs|txg_sync|nfsd|ksmd|loop")
REFRESHED = 4
"""Samples after which the list of threads is read again."""
PER_SAMPLE = 4
"""Idle threads that are read for one sample. A system has hundreds of them, so they take turns."""


class Threads:
    """The kernel threads of a system, and their processor time."""

    def __init__(self, proc: Path) -> None:
        self._proc = proc
        self._children = CounterFile(proc / f"{PARENT}/task/{PARENT}/children")
        self._text = b""
        self._samples = 0
        self._ignored: set[int] = set()
        self._files: dict[int, CounterFile] = {}
        self._time_ns: dict[int, int] = {}
        self._ended_ns = 0
        self._busy: set[int] = set()
        self._idle: deque[int] = deque()

    def read(self) -> Raw | None:
        """Return the processor time of all these threads since the first sample."""
        if self._samples % REFRESHED == 0 and (text := self._children.read()) != self._text:
            self._text = text
            self._refresh(set(naturals(text.split()) or ()))
        self._samples += 1
        turn = [self._idle.popleft() for _ in range(min(PER_SAMPLE, len(self._idle)))]
        for number in [*self._busy, *turn]:
            self._update(number)
        return {"time_ns": self._ended_ns + sum(self._time_ns.values())}

    def _refresh(self, there: set[int]) -> None:
        for number in self._files.keys() - there:
            self._forget(number)
        self._ignored &= there
        for number in there - self._files.keys() - self._ignored:
            self._follow(number)

    def _follow(self, number: int) -> None:
        try:
            name = (self._proc / str(number) / "comm").read_bytes()
        except OSError:
            return
        file = open_file(self._proc / str(number) / "schedstat")
        time = None if file is None else _time_ns(file)
        if file is None or time is None or not NAMES.match(name):
            self._ignored.add(number)
            return
        self._files[number] = file
        # The time before the first sample does not count.
        self._time_ns[number] = time
        self._ended_ns -= time
        self._idle.append(number)

    def _update(self, number: int) -> None:
        time = _time_ns(self._files[number])
        if time is None:
            self._forget(number)
        elif time > self._time_ns[number]:
            self._time_ns[number] = time
            self._busy.add(number)
        else:
            self._busy.discard(number)
            self._idle.append(number)

    def _forget(self, number: int) -> None:
        self._files.pop(number)
        self._ended_ns += self._time_ns.pop(number)
        self._busy.discard(number)
        if number in self._idle:
            self._idle.remove(number)


def _time_ns(file: CounterFile) -> int | None:
    try:
        values = naturals(file.read().split(None, 1)[:1])
    except OSError:
        return None
    return values[0] if values else None


def _open(watched: Watched) -> Read | None:
    # Inside a container there are none.
    if not os.path.exists(watched.proc / f"{PARENT}/task/{PARENT}/children"):
        return None
    return Threads(watched.proc).read


def rates(before: Raw, after: Raw, seconds: float) -> Columns:
    """Return the processors that these threads used."""
    return {"cpu.kernel_threads": per_second(before["time_ns"], after["time_ns"], 1e9 * seconds)}


SOURCE = Source(NAME, _open, rates)
