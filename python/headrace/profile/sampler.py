"""Sampling: read all counters at an interval and append them to a file.

The schedule is absolute: a sample that is late does not delay the next one. Intervals that were
missed are counted in the next sample. Each sample is one line in one write, so a killed profiler
loses one interval at most.
"""

import os
import random
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import msgspec

from headrace.files import new_file
from headrace.profile.counters import ALL, Source, Watched
from headrace.profile.counters.reader import CounterReader

SHORTEST_S = 0.1
"""Shortest interval: processor time is counted in ticks of 10 ms."""
EARLY_S = (0.02, 0.05, 0.1, 0.15, 0.2, 0.3, 0.4, 0.5, 0.7)
"""Times of samples in the first interval, so that a program that is shorter has a verdict. Each is
two ticks after the one before at least."""


class Sampler:
    """Reads samples and appends them to a new file."""

    def __init__(
        self,
        path: Path,
        watched: Watched,
        host: str,
        *,
        begin: float | None = None,
        sources: Sequence[Source] = ALL,
    ) -> None:
        """Open the file and the sources.

        Parameters:
            path: The new file.
            watched: What the sources read.
            host: Name of this host in the samples.
            begin: Time 0 of the recording on the monotonic clock; by default now.
            sources: What is sampled.

        Raises:
            OSError: if the file exists or cannot be written.
        """
        self.watched = watched
        self.count = 0
        self.missed = 0
        self.last_s = 0.0
        self._host = host
        self._encoder = msgspec.json.Encoder()
        self._reader = CounterReader(watched, sources)
        self._begin = time.monotonic() if begin is None else begin
        self._file = new_file(path)

    def elapsed_s(self) -> float:
        """Return the time since the beginning."""
        return time.monotonic() - self._begin

    def sample(self, missed: int = 0, *, early: bool = False) -> None:
        """Read all sources and append a line. Raises OSError if the file cannot be written.

        `early` marks a sample within the first interval, which only short recordings need.
        """
        line: dict[str, Any] = {"t": round(self.elapsed_s(), 6), "host": self._host}
        if early:
            line["early"] = True
        if missed:
            line["missed"] = missed
            self.missed += missed
        line |= self._reader.read()
        if self.watched.left_out:
            line["left_out"] = dict(self.watched.left_out)
        _write(self._file, self._encoder.encode(line) + b"\n")
        self.count += 1
        self.last_s = line["t"]

    def run(
        self, interval_s: float, wait: Callable[[float], bool], early_s: Sequence[float] = EARLY_S
    ) -> None:
        """Sample until the end. `wait` gets a time of the recording, waits until then, and returns
        whether the recording ends. The last sample is at the end."""
        for due in early_s:
            # One that is late makes no interval of its own.
            if self.elapsed_s() < due < interval_s:
                if self._wait(due, wait):
                    self.sample()
                    return
                self.sample(early=True)
        due = interval_s
        while not self._wait(due, wait):
            missed = max(int((self.elapsed_s() - due) / interval_s), 0)
            self.sample(missed)
            due += (1 + missed) * interval_s
        self.sample()

    def _wait(self, due: float, wait: Callable[[float], bool]) -> bool:
        """Wait as `wait` does, and look at the program's threads meanwhile."""
        while looks := self.watched.looks:
            pause_s = max(look.shortest_s for look in looks)
            until_s = self.elapsed_s() + pause_s * random.uniform(0.5, 1.5)
            if until_s >= due:
                break
            if wait(until_s):
                return True
            for look in looks:
                look.look()
        return wait(due)

    def close(self) -> None:
        """Close the file."""
        os.close(self._file)


def _write(file: int, line: bytes) -> None:
    while line:
        line = line[os.write(file, line) :]
