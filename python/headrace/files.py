"""Output files: whole or not there at all. Everything that Headrace writes passes here."""

import contextlib
import itertools
import json
import os
import stat
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from headrace.interruption import held

LONGEST_SUFFIX = 16
_numbers = itertools.count()


def check_writable(path: Path) -> None:
    """Makes sure that a file can be written before long work begins.

    Raises OSError if it cannot.
    """
    mode = _mode(path)
    if mode is None and not path.parent.is_dir():
        raise FileNotFoundError(2, "No such directory", str(path.parent))
    if mode is not None and stat.S_ISDIR(mode):
        raise IsADirectoryError(21, "Is a directory", str(path))
    if mode is not None and not os.access(path, os.W_OK):
        raise PermissionError(13, "Permission denied", str(path))
    if mode is None or stat.S_ISREG(mode):
        _try_partial(Path(os.path.realpath(path)), path)


def check_apart(outputs: Mapping[str, Path | None], inputs: Mapping[str, Path | None]) -> None:
    """Makes sure that no output takes the place of an input or of another output.

    Both by what they are called in the message; None is none. Raises ValueError if one does.
    """
    known = dict(inputs)
    for what, path in outputs.items():
        for other, taken in known.items():
            if path is not None and taken is not None and _same(path, taken):
                raise ValueError(f"{path}: {what} is also {other}: expected another file")
        known[what] = path


def _same(one: Path, other: Path) -> bool:
    try:
        # Nothing is lost if two outputs go to one device.
        return one.samefile(other) and stat.S_ISREG(one.stat().st_mode)
    except OSError:
        return os.path.realpath(one) == os.path.realpath(other)


def check_directory(path: Path) -> None:
    """Makes sure that files can be written to a directory, which may still have to be made.

    Raises OSError if they cannot.
    """
    there = path
    while _mode(there) is None and there != there.parent:
        there = there.parent
    if not there.is_dir():
        raise NotADirectoryError(20, "Not a directory", str(there))
    _try_partial(there / "file", there)


@contextlib.contextmanager
def whole_file(path: Path) -> Iterator[Path]:
    """A file to write, which takes the name `path` when all is written.

    If the writing fails, nothing is left and what was at `path` stays. Devices and pipes are
    written in place: a file must never take their name.
    """
    mode = _mode(path)
    if mode is not None and not stat.S_ISREG(mode):
        yield path
        return
    target = Path(os.path.realpath(path))
    partial = _partial(target)
    try:
        yield partial
        if mode is not None:
            partial.chmod(stat.S_IMODE(mode))
        partial.replace(target)
    except OSError as error:
        if error.filename == str(partial):
            error.filename = str(path)
            # The second name of a rename.
            error.filename2 = None
        raise
    finally:
        partial.unlink(missing_ok=True)


def _mode(path: Path) -> int | None:
    """What a name stands for, links followed; None if for nothing. Raises OSError."""
    try:
        return path.stat().st_mode
    except FileNotFoundError:
        return None


def _partial(target: Path) -> Path:
    """The name of a file until it is whole: no longer than most, for names have a limit."""
    suffix = target.suffix if len(target.suffix) <= LONGEST_SUFFIX else ""
    return target.with_name(f".headrace-{os.getpid()}-{next(_numbers)}.partial{suffix}")


def _try_partial(target: Path, named: Path) -> None:
    """Makes a file beside `target` and takes it away: permissions alone do not tell."""
    partial = _partial(target)
    try:
        with held():
            partial.touch(exist_ok=False)
            partial.unlink()
    except OSError as error:
        raise OSError(error.errno, error.strerror, str(named)) from None


def save_json(path: Path, document: Mapping[str, Any]) -> None:
    """Writes a document in one line; the file appears when it is whole. Raises OSError if it
    cannot."""
    with whole_file(path) as partial:
        partial.write_text(json.dumps(document, allow_nan=False) + "\n", encoding="utf-8")
