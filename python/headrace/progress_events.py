"""Progress of a command as JSON lines in a file, for a program that shows it.

The variable `HEADRACE_PROGRESS_FILE` names the file; without it nothing is written. `headrace
serve` sets it for its jobs. Figures of this moment are written five times a second at most. Those
of a finished step, such as a load of a load sweep, are always written.
"""

import atexit
import contextlib
import os
import threading
import time
from collections.abc import Callable, Mapping
from typing import Any, TypeAlias

import msgspec

from headrace.ranks import current

OnStep: TypeAlias = Callable[[int, int, str], object]
"""Callback before a step: steps done, their number as far as it is known, and the step's name."""
OnCount: TypeAlias = Callable[[int], object]
"""Callback with the number of records done, once a batch."""
VARIABLE = "HEADRACE_PROGRESS_FILE"
BETWEEN_S = 0.2
"""Seconds between two lines, at least."""
MOST_STEPS = 5000
"""Finished steps that are written; a sweep may have many more."""
STEP = "step"
"""Key of the figures of a finished step: its number."""


class Progress(msgspec.Struct, frozen=True, omit_defaults=True):
    """How far a command is. A line of the file."""

    time: float
    """Seconds since the epoch."""
    title: str = ""
    done: float = 0.0
    total: float | None = None
    """What `done` is at the end; None if that is unknown."""
    text: str = ""
    figures: dict[str, Any] = {}
    """Figures of this moment, such as `{"seconds": 3.0, "operations/s": 8200}`. With the key
    `step`, those of a finished step, such as `{"step": 2, "name": "200/s", "requested": 200.0,
    "achieved": 199.8, "latency": 0.004}`."""

    @property
    def fraction(self) -> float | None:
        """Part of the work that is done; None if the total is unknown."""
        return min(1.0, self.done / self.total) if self.total else None

    @property
    def of_step(self) -> bool:
        """True for the figures of a finished step."""
        return STEP in self.figures


class _File:
    """The file of this process."""

    def __init__(self, path: str) -> None:
        self.path = path
        self._lock = threading.Lock()
        self._last = 0.0
        self._waiting: Progress | None = None
        self._steps = 0

    def moment(self, progress: Callable[[], Progress]) -> None:
        with self._lock:
            bar_, waiting = progress(), self._waiting
            if waiting is not None and waiting.title == bar_.title and not bar_.figures:
                # The line that is left out has the newest figures.
                bar_ = msgspec.structs.replace(bar_, figures=waiting.figures)
            if bar_.time - self._last < BETWEEN_S:
                self._waiting = bar_
                return
            self._write(bar_)

    def step(self, progress: Progress) -> None:
        with self._lock:
            self._steps += 1
            if self._steps <= MOST_STEPS:
                self._flush()
                self._write(progress)

    def flush(self) -> None:
        with self._lock:
            self._flush()

    def _flush(self) -> None:
        if self._waiting is not None:
            self._write(self._waiting)

    def _write(self, progress: Progress) -> None:
        self._waiting, self._last = None, progress.time
        if not current().first:
            return
        # A full disk must not end the work. One write a line: several threads and processes may
        # append.
        with contextlib.suppress(OSError):
            file = os.open(self.path, os.O_WRONLY | os.O_APPEND | os.O_CREAT | os.O_CLOEXEC, 0o600)
            try:
                os.write(file, msgspec.json.encode(progress) + b"\n")
            finally:
                os.close(file)


_file: _File | None = None


def _opened() -> _File | None:
    global _file
    path = os.environ.get(VARIABLE)
    if not path:
        return None
    if _file is None or _file.path != path:
        _file = _File(path)
        atexit.register(_file.flush)
    return _file


def wanted() -> bool:
    """Return whether there is a file for progress."""
    return bool(os.environ.get(VARIABLE))


def report(
    title: str,
    done: float = 0.0,
    total: float | None = None,
    text: str = "",
    figures: Mapping[str, Any] | None = None,
) -> None:
    """Report how far the work is. Parameters are the fields of `Progress`."""
    if (file := _opened()) is not None:
        file.moment(lambda: Progress(time.time(), title, done, total, text, dict(figures or {})))


def finish_step(number: int, name: str, figures: Mapping[str, Any]) -> None:
    """Report the figures of a finished step, the first of which has the number 1."""
    if (file := _opened()) is not None:
        known = {key: value for key, value in figures.items() if value is not None}
        file.step(Progress(time.time(), text=name, figures={STEP: number, "name": name, **known}))


def flush() -> None:
    """Write what was reported last, also if the line before it is new."""
    if (file := _opened()) is not None:
        file.flush()
