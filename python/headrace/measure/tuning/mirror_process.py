"""Main program of a mirror's process: mounts, answers each line with its counts, and unmounts when
its input ends or at a signal."""

import contextlib
import json
import os
import signal
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from headrace import _core

ENDING = (signal.SIGTERM, signal.SIGINT, signal.SIGHUP)
"""Signals that ask it to end."""


def main() -> int:
    """Serve until its input ends."""
    directory, at, options = sys.argv[1:]
    given: dict[str, Any] = json.loads(options)
    for number in ENDING:
        signal.signal(number, _end)
    try:
        mirror = _core.Mirror(Path(directory), Path(at), **given)
    except OSError as error:
        _say({"error": error.strerror or str(error)})
        return 1
    try:
        _say({})
        for _ in sys.stdin:
            _say(dict(mirror.counts()))
    finally:
        mirror.unmount()
        # Whoever made the directory may be gone.
        with contextlib.suppress(OSError):
            Path(at).rmdir()
    return 0


def _end(number: int, _: object) -> None:
    # Unmount once, whatever signals arrive meanwhile.
    for one in ENDING:
        signal.signal(one, signal.SIG_IGN)
    sys.exit(128 + number)


def _say(answer: Mapping[str, int | str]) -> None:
    # Whoever asked may be gone: its input ends then, too. Nothing is left to be written at the end.
    with contextlib.suppress(BrokenPipeError):
        os.write(sys.stdout.fileno(), f"{json.dumps(answer)}\n".encode())


if __name__ == "__main__":
    sys.exit(main())
