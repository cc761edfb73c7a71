"""Files that users upload: stored as they come, and read later by a job under its limits."""

import errno
import os
import secrets
from collections.abc import AsyncIterator
from contextlib import suppress
from datetime import UTC, datetime
from pathlib import Path

import msgspec
from starlette.concurrency import run_in_threadpool

from headrace.web.jobs.directory import NAME
from headrace.web.settings import Settings

MOST_FILES = 1000
"""Files of a user."""
CHUNK = 1 << 20
PARTIAL = ".partial-"
"""Beginning of the names of files that are being uploaded; no user's file has it."""


class UploadedFile(msgspec.Struct, frozen=True):
    """A file that a user uploaded."""

    name: str
    size: int
    """Bytes."""
    uploaded: str
    """Time in UTC, in ISO 8601."""

    @property
    def value(self) -> str:
        """The file as the value of a parameter."""
        return f"upload:{self.name}"


class RefusedUpload(Exception):
    """A file that is not stored. `status` is that of an answer over HTTP."""

    def __init__(self, message: str, status: int) -> None:
        super().__init__(message)
        self.status = status


class Uploads:
    """The uploaded files of all users, with a directory for each."""

    def __init__(self, settings: Settings) -> None:
        self._directory, self._limits = settings.data / "uploads", settings.limits
        for path in self._directory.glob(f"*/{PARTIAL}*"):
            path.unlink(missing_ok=True)

    def files(self, owner: str) -> list[UploadedFile]:
        """Return a user's files, sorted by name."""
        with suppress(FileNotFoundError), os.scandir(self._directory / owner) as entries:
            return sorted(
                (_described(one.name, one.stat()) for one in entries if NAME.fullmatch(one.name)),
                key=lambda file: file.name,
            )
        return []

    async def store(self, owner: str, name: str, content: AsyncIterator[bytes]) -> UploadedFile:
        """Store a file.

        Raises:
            RefusedUpload: if its name is not allowed or taken, or it is too large.
        """
        if not NAME.fullmatch(name):
            raise RefusedUpload(
                f"{name[:200]!r}: expected a name of at most 101 letters, digits, ., _ and -,"
                " beginning with a letter or digit",
                422,
            )
        directory = self._directory / owner
        directory.mkdir(parents=True, exist_ok=True, mode=0o700)
        path, partial = directory / name, directory / f"{PARTIAL}{secrets.token_hex(8)}"
        if path.exists():
            raise _taken(name)
        try:
            flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW
            with open(os.open(partial, flags, 0o600), "wb", buffering=0) as file:
                buffered = bytearray()
                async for chunk in content:
                    buffered += chunk
                    if len(buffered) >= CHUNK:
                        await run_in_threadpool(self._write, file.fileno(), buffered, directory)
                        buffered.clear()
                await run_in_threadpool(self._write, file.fileno(), buffered, directory)
            # Unlike a rename it does not replace a file that came meanwhile.
            os.link(partial, path)
        except FileExistsError:
            raise _taken(name) from None
        except OSError as error:
            if error.errno not in (errno.ENOSPC, errno.EDQUOT, errno.EFBIG):
                raise
            raise RefusedUpload("the server's disk is full", 507) from None
        finally:
            partial.unlink(missing_ok=True)
        return _described(name, path.stat())

    def remove(self, owner: str, name: str) -> bool:
        """Remove a file; jobs that have it keep it. Return whether there was one."""
        path = self._directory / owner / name
        if not NAME.fullmatch(name) or not path.is_file():
            return False
        path.unlink(missing_ok=True)
        return True

    def _write(self, descriptor: int, content: bytearray, directory: Path) -> None:
        with os.scandir(directory) as entries:
            sizes = [entry.stat(follow_symlinks=False).st_size for entry in entries]
        if os.fstat(descriptor).st_size + len(content) > self._limits.upload:
            raise RefusedUpload(f"expected at most {self._limits.upload:,} bytes in a file", 413)
        if sum(sizes) + len(content) > self._limits.quota:
            raise RefusedUpload(
                f"your files would take more than {self._limits.quota:,} bytes: delete some", 413
            )
        if len(sizes) > MOST_FILES:
            raise RefusedUpload(f"you have {MOST_FILES:,} files: delete some", 413)
        left = memoryview(content)
        try:
            while left:
                left = left[os.write(descriptor, left) :]
        finally:
            left.release()


def _taken(name: str) -> RefusedUpload:
    return RefusedUpload(f"{name}: you have a file of this name; delete it first", 409)


def _described(name: str, about: os.stat_result) -> UploadedFile:
    time = datetime.fromtimestamp(about.st_mtime, UTC).isoformat(timespec="seconds")
    return UploadedFile(name, about.st_size, time)
