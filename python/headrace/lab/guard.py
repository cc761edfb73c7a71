"""Ends what a command has started when the command is over, however it ended.

A program of its own, which imports nothing of Headrace, and is there before what it is to end:
it waits until nobody has the other end of its standard input any more, so that it sees a command
that was killed too. Its argument is a line of the environment that nothing else has.
"""

import contextlib
import os
import signal
import sys
import time
from pathlib import Path

PATIENCE_S = 4.0
"""Between asking a process to end and ending it, and at most for its end then."""
PAUSE_S = 0.02


def main(mark: str) -> int:
    """Gives 1 if something is left."""
    for ignored in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        signal.signal(ignored, signal.SIG_IGN)
    sys.stdin.buffer.read()
    for how in (signal.SIGTERM, signal.SIGKILL):
        asked: set[int] = set()
        deadline = time.monotonic() + PATIENCE_S
        # Again and again: they may have started others meanwhile.
        while (found := _marked(mark)) and time.monotonic() < deadline:
            for number in found - asked:
                with contextlib.suppress(ProcessLookupError):
                    os.kill(number, how)
            asked |= found
            time.sleep(PAUSE_S)
    return 1 if _marked(mark) else 0


def _marked(mark: str) -> set[int]:
    """Processes with a line in their environment; those that have ended have none."""
    found = set()
    for folder in Path("/proc").glob("[0-9]*"):
        with contextlib.suppress(OSError):
            if mark.encode() in (folder / "environ").read_bytes().split(b"\0"):
                found.add(int(folder.name))
    return found


if __name__ == "__main__":
    sys.exit(main(sys.argv[1]))
