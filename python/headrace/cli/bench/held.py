"""A file that one benchmark saves to, and no other at the same time."""

import atexit
import contextlib
import fcntl
import os
import stat
from pathlib import Path

LONGEST = 200
"""Characters of a file's name in that of its lock: names have a limit of 255."""
_held: dict[Path, int] = {}


def hold(path: Path) -> None:
    """Keeps others from saving to a file, or going on with it, until the command ends.

    What is locked is a file beside it, since the file itself is another one with each saving.
    Where that cannot be made, or the file system knows no locks, nothing is kept.

    Raises ValueError if another benchmark has it.
    """
    beside = _beside(path)
    if beside in _held or _is_device(path):
        return
    lock = _locked(path)
    if lock is not None:
        _held[beside] = lock
        atexit.register(_release, beside, lock)


def _release(beside: Path, lock: int) -> None:
    # The name goes while the lock holds: who waits for it looks again.
    with contextlib.suppress(OSError):
        beside.unlink()
    os.close(lock)


def _locked(path: Path) -> int | None:
    beside = _beside(path)
    while True:
        try:
            lock = os.open(beside, os.O_CREAT | os.O_RDWR | os.O_NOFOLLOW | os.O_CLOEXEC, 0o644)
        except OSError:
            return None
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            os.close(lock)
            raise ValueError(
                f"{path}: another benchmark is saving to it: wait for its end, or take another file"
            ) from None
        except OSError:
            os.close(lock)
            return None
        with contextlib.suppress(OSError):
            if os.path.samestat(os.fstat(lock), beside.stat()):
                return lock
        # Another had it, and has removed the name since it was opened.
        os.close(lock)


def _beside(path: Path) -> Path:
    target = Path(os.path.realpath(path))
    return target.with_name(f".headrace-{target.name[-LONGEST:]}.lock")


def _is_device(path: Path) -> bool:
    try:
        return not stat.S_ISREG(path.stat().st_mode)
    except OSError:
        return False
