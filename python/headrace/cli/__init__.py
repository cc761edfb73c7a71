"""The command line: the same calls as the Python API, with tables for people.

This module imports little: Ctrl-C must find it ready.
"""

import contextlib
import gc
import io
import os
import sys
from typing import NoReturn

from headrace import interruption

YOUNG_OBJECTS = 100_000
"""Objects between two collections of garbage. Imports make that many and hardly any garbage: by
default a tenth of a short command is spent looking for it."""


def main() -> NoReturn:
    """Run the command line and ends the process with its exit status."""
    gc.set_threshold(YOUNG_OBJECTS)
    interruption.end_at_once()
    _open_streams()
    for stream in (sys.stdout, sys.stderr):
        # Terminals that know few characters get question marks.
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="replace")
    from headrace.cli.app import run

    status = interruption.run_interruptible(lambda: run(sys.argv[1:]))
    try:
        sys.stdout.flush()
    except OSError:
        # Whoever read the output has gone, or the disk is full: nothing more can be written.
        with contextlib.suppress(OSError):
            os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        status = status or 1
    # Python would look for garbage once more in all modules, whose memory the system frees anyway.
    gc.freeze()
    sys.exit(status)


def _open_streams() -> None:
    """Open the standard streams that were closed: else the first file would take their place."""
    # Each takes the lowest number that is free; commands started from here have them as well.
    if sys.stdin is None:
        os.set_inheritable(os.open(os.devnull, os.O_RDONLY), True)
    if sys.stdout is None:
        sys.stdout = _nowhere()
    if sys.stderr is None:
        sys.stderr = _nowhere()


def _nowhere() -> io.TextIOWrapper:
    stream = open(os.devnull, "w", encoding="utf-8")  # noqa: SIM115
    os.set_inheritable(stream.fileno(), True)
    return stream
