"""Atomic output files. Headrace writes all its files through this module.

Where root writes, the directory may belong to another user, who can place symbolic links in it. So
names are opened relative to a descriptor of their directory, and links of other users are refused.
New files have random names and are created exclusively.
"""

import contextlib
import errno
import json
import os
import secrets
import shutil
import stat
import sys
import tempfile
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, BinaryIO, NamedTuple

from headrace import _core
from headrace.file_formats import FileFormat, check_directory_name, check_format
from headrace.interruption import defer_signals

STANDARD_OUTPUT = Path("-")
"""Name of standard output on the command line."""
MOST_LINKS = 40
"""Limit on followed symbolic links, as in the kernel (path_resolution(7))."""
NEW = os.O_RDWR | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC


class Target(NamedTuple):
    """Directory, name and status of a file that exists or is to be written."""

    directory: int
    """A descriptor of its directory."""
    name: str
    """Name in the directory; no symbolic link."""
    status: os.stat_result | None
    """Status of the file; None if it does not exist yet."""

    @property
    def kind(self) -> int:
        """File type; 0 if there is no file."""
        return 0 if self.status is None else stat.S_IFMT(self.status.st_mode)


@contextlib.contextmanager
def open_target(path: Path) -> Iterator[Target]:
    """The directory of a file, open, and its name there, symbolic links followed.

    Raises OSError if there is no such directory, ScenarioError or PermissionError if another user's
    symbolic link leads there and root works.
    """
    at = path
    for _ in range(MOST_LINKS):
        if at.name in ("", ".."):
            raise IsADirectoryError(errno.EISDIR, "Is a directory", str(path))
        directory = _directory(at.parent, path)
        try:
            link = _link(directory, at.name, path)
            if link is None:
                yield Target(directory, at.name, _status(directory, at.name, path))
                return
        finally:
            os.close(directory)
        at = at.parent / link
    raise OSError(errno.ELOOP, os.strerror(errno.ELOOP), str(path))


def _directory(directory: Path, path: Path) -> int:
    try:
        return _core.open_directory(directory)
    except FileNotFoundError:
        raise FileNotFoundError(errno.ENOENT, "No such directory", str(directory)) from None
    except OSError as error:
        raise OSError(error.errno, os.strerror(error.errno or 0), str(path)) from None


def _link(directory: int, name: str, path: Path) -> str | None:
    """Return the target of a symbolic link, or None if the name is no symbolic link."""
    try:
        link = os.open(name, os.O_PATH | os.O_NOFOLLOW | os.O_CLOEXEC, dir_fd=directory)
    except FileNotFoundError:
        return None
    except OSError as error:
        raise OSError(error.errno, error.strerror, str(path)) from None
    try:
        status = os.fstat(link)
        if not stat.S_ISLNK(status.st_mode):
            return None
        if not _core.trusts_owner(status.st_uid):
            raise PermissionError(
                errno.EPERM,
                f"refused a symbolic link of user {status.st_uid} while running as root: choose"
                " another name, or remove the link",
                str(path),
            )
        return os.readlink("", dir_fd=link)
    finally:
        os.close(link)


def _status(directory: int, name: str, path: Path) -> os.stat_result | None:
    try:
        return os.stat(name, dir_fd=directory, follow_symlinks=False)
    except FileNotFoundError:
        return None
    except OSError as error:
        raise OSError(error.errno, error.strerror, str(path)) from None


def check_writable(path: Path | None, format: FileFormat | None = None) -> None:
    """Check before long work that a file can be written, in the format of its suffix.

    None is no file. Raises OSError if it cannot, ValueError if the name is of another format.
    """
    if path is None or path == STANDARD_OUTPUT:
        return
    if format is not None:
        check_format(path, format)
    with open_target(path) as target:
        if target.kind == stat.S_IFDIR:
            raise IsADirectoryError(errno.EISDIR, "Is a directory", str(path))
        if _mode(path) is not None and not os.access(path, os.W_OK):
            raise PermissionError(errno.EACCES, "Permission denied", str(path))
        if target.kind in (0, stat.S_IFREG) and not _is_in_place(path):
            _try_new(target.directory, path)


def check_apart(outputs: Mapping[str, Path | None], inputs: Mapping[str, Path | None]) -> None:
    """Check that no output has the path of an input or of another output.

    The keys are the names in the message; None means no file. Raises ValueError if two paths are
    equal.
    """
    known = dict(inputs)
    for option, path in outputs.items():
        if path == STANDARD_OUTPUT:
            continue
        for other, taken in known.items():
            if path is not None and taken is not None and _same(path, taken):
                raise ValueError(f"{path}: {option} is also {other}: expected another file")
        known[option] = path


def _same(one: Path, other: Path) -> bool:
    try:
        # Nothing is lost if two outputs go to one device.
        return one.samefile(other) and stat.S_ISREG(one.stat().st_mode)
    except OSError:
        return os.path.realpath(one) == os.path.realpath(other)


def check_directory(path: Path | None) -> None:
    """Check that files can be written to a directory, which need not exist yet.

    None is no directory. Raises OSError if they cannot, ValueError if it has the name of an image.
    """
    if path is None:
        return
    check_directory_name(path)
    there = path
    while _mode(there) is None and there != there.parent:
        there = there.parent
    if not there.is_dir():
        raise NotADirectoryError(errno.ENOTDIR, "Not a directory", str(there))
    directory = _directory(there, there)
    try:
        _try_new(directory, there)
    finally:
        os.close(directory)


def make_directory(path: Path) -> Path:
    """Make a directory for output, and the directories above it; return its absolute path.

    Raises OSError if that fails, ScenarioError or PermissionError if another user's symbolic link
    leads there and root works.
    """
    if path.name not in ("", ".."):
        with _directory_target(path) as target:
            if target.status is None:
                with contextlib.suppress(FileExistsError):
                    os.mkdir(target.name, dir_fd=target.directory)
    os.close(_directory(path, path))
    return path.resolve()


@contextlib.contextmanager
def _directory_target(path: Path) -> Iterator[Target]:
    """As `open_target`, with the directories above made."""
    if _mode(path.parent) is None:
        make_directory(path.parent)
    with open_target(path) as target:
        yield target


def new_file(path: Path) -> int:
    """Create a file that does not exist yet, and return its descriptor.

    Raises OSError if that fails, ScenarioError or PermissionError if another user's symbolic link
    leads there and root works.
    """
    with open_target(path) as target:
        try:
            return os.open(target.name, NEW, 0o666, dir_fd=target.directory)
        except OSError as error:
            raise OSError(error.errno, error.strerror, str(path)) from None


def open_to_append(path: Path) -> BinaryIO:
    """Open a file to read it and append to it; it is made if it does not exist.

    Raises OSError if that fails, ScenarioError or PermissionError if another user's symbolic link
    leads there and root works.
    """
    flags = os.O_RDWR | os.O_APPEND | os.O_CREAT | os.O_NOFOLLOW | os.O_CLOEXEC
    with open_target(path) as target:
        try:
            return os.fdopen(os.open(target.name, flags, 0o666, dir_fd=target.directory), "a+b")
        except OSError as error:
            raise OSError(error.errno, error.strerror, str(path)) from None


@contextlib.contextmanager
def atomic_file(path: Path) -> Iterator[Path]:
    """Yield a temporary file that takes the name `path` when it is complete.

    If writing fails, the temporary file is removed and `path` is unchanged. Devices and pipes are
    written in place. The yielded path refers to the open file, even if its directory is moved.
    `-` is standard output, which the complete file is copied to.
    """
    if path == STANDARD_OUTPUT:
        with tempfile.NamedTemporaryFile(prefix="headrace-") as whole:
            yield Path(whole.name)
            sys.stdout.flush()
            # The name may be that of another file by now, which replaced it.
            with open(whole.name, "rb") as content:
                shutil.copyfileobj(content, sys.stdout.buffer)
        return
    with open_target(path) as target:
        if target.kind == stat.S_IFDIR:
            raise IsADirectoryError(errno.EISDIR, "Is a directory", str(path))
        if target.kind == 0 and _is_in_place(path):
            # For example /dev/stdout to a pipe, whose link has no target name.
            yield path
        elif target.kind in (0, stat.S_IFREG):
            yield from _replaced(target, path)
        else:
            there = os.open(target.name, os.O_PATH | os.O_NOFOLLOW, dir_fd=target.directory)
            with _descriptor(there, path) as given:
                yield given


def _replaced(target: Target, path: Path) -> Iterator[Path]:
    partial = f".headrace-{secrets.token_hex(8)}.partial"
    try:
        new = os.open(partial, NEW, 0o666, dir_fd=target.directory)
    except OSError as error:
        raise OSError(error.errno, error.strerror, str(path)) from None
    try:
        with _descriptor(new, path) as given:
            yield given
            if target.status is not None:
                os.fchmod(new, stat.S_IMODE(target.status.st_mode))
            os.replace(
                partial, target.name, src_dir_fd=target.directory, dst_dir_fd=target.directory
            )
    except OSError as error:
        if error.filename in (partial, target.name):
            error.filename = str(path)
            # The second name of a rename.
            error.filename2 = None
        raise
    finally:
        with contextlib.suppress(FileNotFoundError):
            os.unlink(partial, dir_fd=target.directory)


@contextlib.contextmanager
def _descriptor(descriptor: int, path: Path) -> Iterator[Path]:
    """Yield a path to an open descriptor and close it at the end; errors name `path`."""
    given = Path(f"/proc/{os.getpid()}/fd/{descriptor}")
    try:
        yield given
    except OSError as error:
        if error.filename is None or str(error.filename) == str(given):
            name_failure(error, path, str(given))
        raise
    finally:
        os.close(descriptor)


UNNAMED = frozenset((errno.ENOSPC, errno.EDQUOT, errno.EFBIG, errno.EIO))
"""Errors of writing, which have no name of a file."""


def name_failure(error: OSError, path: Path, internal: str | None = None) -> None:
    """Name the file in an error of writing that has no name, or an internal one."""
    unnamed = error.filename is None and error.errno in UNNAMED
    if unnamed or (internal is not None and str(error.filename).startswith(internal)):
        error.filename = str(path)


def _is_in_place(path: Path) -> bool:
    """Return whether a name leads to a device or a pipe."""
    mode = _mode(path)
    return mode is not None and not stat.S_ISREG(mode)


def _mode(path: Path) -> int | None:
    """Return the file mode behind a name, links followed, or None if it does not exist. Raises
    OSError."""
    try:
        return path.stat().st_mode
    except FileNotFoundError:
        return None


def _try_new(directory: int, named: Path) -> None:
    """Create a file in a directory and remove it: permissions alone do not show whether that
    works."""
    name = f".headrace-{secrets.token_hex(8)}.partial"
    try:
        with defer_signals():
            os.close(os.open(name, NEW, 0o666, dir_fd=directory))
            os.unlink(name, dir_fd=directory)
    except OSError as error:
        raise OSError(error.errno, error.strerror, str(named)) from None


def save_json(path: Path, document: Mapping[str, Any]) -> None:
    """Write a document in one line, atomically. Raises OSError if it cannot be written."""
    with atomic_file(path) as partial:
        partial.write_text(json.dumps(document, allow_nan=False) + "\n", encoding="utf-8")
