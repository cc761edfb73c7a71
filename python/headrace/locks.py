"""Locks between processes, by flock(2) on a file or a directory.

A lock ends with its descriptor, also when the process is killed.
"""

import contextlib
import fcntl
import os
from collections.abc import Iterator
from pathlib import Path
from typing import IO


def try_lock(file: int | IO[bytes]) -> bool:
    """Lock an open file. Return False if another process has it.

    Raises OSError if its file system has no locks.
    """
    try:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    return True


def lock_file(path: Path) -> int | None:
    """Create a file for a lock, lock it and return its descriptor; None if another process has it.

    Raises OSError if the file cannot be created, or its file system has no locks.
    """
    file = os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
    try:
        if try_lock(file):
            return file
    except OSError:
        os.close(file)
        raise
    os.close(file)
    return None


@contextlib.contextmanager
def hold(path: Path) -> Iterator[None]:
    """Lock a file, a device or a directory during a `with` block; wait for other processes.

    Raises OSError if it cannot be opened, or its file system has no locks.
    """
    file = os.open(path, os.O_RDONLY | os.O_CLOEXEC)
    try:
        fcntl.flock(file, fcntl.LOCK_EX)
        yield
    finally:
        os.close(file)
