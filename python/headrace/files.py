"""Output files: whole or not there at all."""

import contextlib
import os
import stat
from collections.abc import Iterator
from pathlib import Path


def check_writable(path: Path) -> None:
    """Makes sure that a file can be written before long work begins.

    Raises OSError if it cannot.
    """
    if path.is_dir():
        raise IsADirectoryError(21, "Is a directory", str(path))
    if path.exists():
        if not os.access(path, os.W_OK):
            raise PermissionError(13, "Permission denied", str(path))
    elif not path.parent.is_dir():
        raise FileNotFoundError(2, "No such directory", str(path.parent))
    elif not os.access(path.parent, os.W_OK | os.X_OK):
        raise PermissionError(13, "Permission denied", str(path.parent))


def check_directory(path: Path) -> None:
    """Makes sure that files can be written to a directory, which may still have to be made.

    Raises OSError if they cannot.
    """
    there = path
    while not there.exists() and there != there.parent:
        there = there.parent
    if not there.is_dir():
        raise NotADirectoryError(20, "Not a directory", str(there))
    if not os.access(there, os.W_OK | os.X_OK):
        raise PermissionError(13, "Permission denied", str(there))


@contextlib.contextmanager
def whole_file(path: Path) -> Iterator[Path]:
    """A file to write, which takes the name `path` when all is written.

    If the writing fails, nothing is left and what was at `path` stays.
    """
    target = Path(os.path.realpath(path))
    if target.exists() and not stat.S_ISREG(target.stat().st_mode):
        # A device or a pipe: what is written is gone, and the name stays.
        yield target
        return
    partial = target.with_name(f".{target.stem}.{os.getpid()}.partial{target.suffix}")
    try:
        yield partial
        if target.exists():
            partial.chmod(stat.S_IMODE(target.stat().st_mode))
        partial.replace(target)
    except OSError as error:
        if error.filename == str(partial):
            error.filename = str(path)
        raise
    finally:
        partial.unlink(missing_ok=True)
