"""The command line: the same calls as the Python API, with tables for people."""

import contextlib
import io
import os
import sys
from typing import NoReturn


def main() -> NoReturn:
    """Runs the command line and ends the process with its exit status."""
    for stream in (sys.stdout, sys.stderr):
        # Terminals that know few characters get question marks.
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="replace")
    try:
        from headrace.cli.app import run

        status = run(sys.argv[1:])
    except KeyboardInterrupt:
        print("interrupted", file=sys.stderr)
        status = 130
    try:
        sys.stdout.flush()
    except OSError:
        # Whoever read the output has gone, or the disk is full: nothing more can be written.
        with contextlib.suppress(OSError):
            os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        status = status or 1
    sys.exit(status)
