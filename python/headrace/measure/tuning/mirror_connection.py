"""The connection to the process of a mirror, from its parent process. No wait is unlimited."""

import contextlib
import json
import os
import select
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Mapping, Sequence
from typing import IO

from headrace._core import RunError

PATIENCE_S = 30.0
"""Time limit, in seconds, of a mirror's answer. A mirror answers from its own thread: one that does
not answer was stopped."""
START_S = 60.0
"""Time limit, in seconds, of mounting; most of it is the start of Python."""
BEAT_S = 1.0
"""Seconds between two checks of the mirror's process."""


class Connection:
    """Process of a mirror. A mirror that does not answer is killed, so that the kernel fails its
    pending requests."""

    def __init__(self, arguments: Sequence[str], name: str) -> None:
        """Start the process; `name` is its name in messages."""
        self.name = name
        # The current directory may belong to another user: do not import modules from it.
        command = [sys.executable, "-P", "-m", "headrace.measure.tuning.mirror_process"]
        command += arguments
        # In a session of its own: Ctrl-C is for the benchmark, which then takes it down.
        self.process = subprocess.Popen(
            command,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            bufsize=0,
            start_new_session=True,
        )
        self._read = b""
        self._silent: float | None = None
        # One request at a time; the supervising thread asks in between.
        self._asking = threading.Lock()
        self._closed = threading.Event()
        self._keeper = threading.Thread(target=self._look_after, daemon=True)

    def began(self) -> Mapping[str, object]:
        """Return the first answer of the process. Raises RunError if there is none."""
        with self._asking:
            answer = self._answer(START_S)
        self._keeper.start()
        return answer

    def counts(self) -> dict[str, int]:
        """Count so far. Raises RunError if it is gone."""
        with self._asking:
            with contextlib.suppress(OSError):
                _pipe(self.process.stdin).write(b"\n")
            return self._answer(PATIENCE_S)

    def close(self) -> None:
        """End it, and has it unmount; kills it if it does not."""
        self._closed.set()
        with contextlib.suppress(OSError):
            _pipe(self.process.stdin).close()
        try:
            self.process.wait(PATIENCE_S)
        except subprocess.TimeoutExpired:
            self._kill()
        if self._keeper.ident is not None:
            self._keeper.join()
        _pipe(self.process.stdout).close()

    def _look_after(self) -> None:
        with contextlib.suppress(RunError):
            while not self._closed.wait(BEAT_S):
                self.counts()

    def _answer(self, patience_s: float) -> dict[str, int]:
        """A line, within the time that it may take."""
        until = time.monotonic() + patience_s
        while b"\n" not in self._read:
            left = max(until - time.monotonic(), 0)
            ready, _, _ = select.select([_pipe(self.process.stdout)], [], [], left)
            if not ready:
                self._silent = patience_s
                self._kill()
            more = os.read(_pipe(self.process.stdout).fileno(), 1 << 16) if ready else b""
            if not more:
                raise RunError(f"the mirror at {self.name} {self._end()}")
            self._read += more
        line, _, self._read = self._read.partition(b"\n")
        answer: dict[str, int] = json.loads(line)
        return answer

    def _end(self) -> str:
        """Return how the process ended."""
        if self._silent is not None:
            return f"did not answer for {self._silent:g} s and was killed"
        with contextlib.suppress(subprocess.TimeoutExpired):
            status = self.process.wait(PATIENCE_S)
            if status < 0:
                return f"was ended by {signal.Signals(-status).name}"
        return "has ended"

    def _kill(self) -> None:
        self.process.kill()
        self.process.wait()


def _pipe(of_process: IO[bytes] | None) -> IO[bytes]:
    assert of_process is not None
    return of_process
