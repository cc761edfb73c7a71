"""Terminate the processes that a command started, as soon as the command has ended or was killed.

This is a separate program that imports nothing of Headrace and starts before those processes. It
reads standard input until end of file, so it also notices that the command was killed. Its argument
is a unique line of the processes' environment.
"""

import contextlib
import os
import signal
import sys
import time
from pathlib import Path

PATIENCE_S = 4.0
"""Seconds between SIGTERM and SIGKILL, and the longest wait after SIGKILL."""
PAUSE_S = 0.02


def main(mark: str) -> int:
    """Terminate all marked processes; return 1 if some survive."""
    for ignored in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        signal.signal(ignored, signal.SIG_IGN)
    sys.stdin.buffer.read()
    for how in (signal.SIGTERM, signal.SIGKILL):
        asked: set[int] = set()
        deadline = time.monotonic() + PATIENCE_S
        # Repeat, because they may have started other processes.
        while (left := _marked(mark)) and time.monotonic() < deadline:
            for number in left - asked:
                with contextlib.suppress(ProcessLookupError):
                    os.kill(number, how)
            asked |= left
            time.sleep(PAUSE_S)
    return 1 if _marked(mark) else 0


def _marked(mark: str) -> set[int]:
    """Return the processes with a line in their environment; zombies have no environment."""
    pids = set()
    for folder in Path("/proc").glob("[0-9]*"):
        with contextlib.suppress(OSError):
            if mark.encode() in (folder / "environ").read_bytes().split(b"\0"):
                pids.add(int(folder.name))
    return pids


if __name__ == "__main__":
    sys.exit(main(sys.argv[1]))
