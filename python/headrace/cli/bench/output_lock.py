"""A file that one benchmark saves to, and no other at the same time."""

import atexit
import contextlib
import os
import stat
from pathlib import Path

from headrace.files import open_target
from headrace.locks import try_lock

LONGEST = 200
"""Characters of a file's name in that of its lock: names have a limit of 255."""
_held: set[Path] = set()


def lock_output(path: Path) -> None:
    """Lock an output file until the command ends, so that no other benchmark saves to it or resumes
    from it.

    The lock is a separate file beside it, because each save replaces the output file. If the lock
    file cannot be created, or the file system has no locks, nothing is locked.

    Raises ValueError if another benchmark holds the lock.
    """
    beside = Path(os.path.realpath(path))
    if beside in _held:
        return
    with contextlib.suppress(OSError), open_target(path) as target:
        if target.kind not in (0, stat.S_IFREG):
            return
        name = f".headrace-{target.name[-LONGEST:]}.lock"
        lock = _locked(path, target.directory, name)
        if lock is not None:
            _held.add(beside)
            atexit.register(_release, os.dup(target.directory), name, lock)


def _release(directory: int, name: str, lock: int) -> None:
    # The name goes while the lock holds: who waits for it looks again.
    with contextlib.suppress(OSError):
        os.unlink(name, dir_fd=directory)
    os.close(lock)


def _locked(path: Path, directory: int, name: str) -> int | None:
    flags = os.O_CREAT | os.O_RDWR | os.O_NOFOLLOW | os.O_CLOEXEC
    while True:
        try:
            lock = os.open(name, flags, 0o644, dir_fd=directory)
        except OSError:
            return None
        try:
            locked = try_lock(lock)
        except OSError:
            # A file system without locks.
            os.close(lock)
            return None
        if not locked:
            os.close(lock)
            raise ValueError(
                f"{path}: another benchmark is saving to it:"
                " wait until it ends, or choose another file"
            )
        with contextlib.suppress(OSError):
            if os.path.samestat(os.fstat(lock), os.stat(name, dir_fd=directory)):
                return lock
        # Another process held the lock and has removed the file since it was opened.
        os.close(lock)
