"""The process of a mirror: it mounts, answers each line with its counts, and unmounts when there
is nobody to ask any more, or at SIGTERM."""

import contextlib
import json
import signal
import sys
from pathlib import Path
from typing import Any

from headrace import _core


def main() -> int:
    """Serves until its input ends."""
    directory, at, options = sys.argv[1:]
    given: dict[str, Any] = json.loads(options)
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(128 + signal.SIGTERM))
    try:
        mirror = _core.Mirror(Path(directory), Path(at), **given)
    except OSError as error:
        print(json.dumps({"error": error.strerror or str(error)}), flush=True)
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


def _say(answer: dict[str, int]) -> None:
    # Whoever asked may be gone: its input ends then, too.
    with contextlib.suppress(BrokenPipeError):
        print(json.dumps(answer), flush=True)


if __name__ == "__main__":
    sys.exit(main())
