"""Users of a server and their tokens."""

import contextlib
import hmac
import os
import re
import secrets
import threading
from collections.abc import Iterator
from hashlib import sha256
from pathlib import Path

import msgspec

from headrace.fields import decode_json
from headrace.locks import hold

LOCAL = "local"
"""Name of the user who started a server on a loopback address."""
SECRET_LENGTH = 43
"""Characters of a secret of 256 bits."""
NAME = re.compile(r"[a-z0-9][a-z0-9_-]{0,31}")
"""Names of users: they are also names of directories and values of labels."""


class User(msgspec.Struct, frozen=True):
    """Someone who uses the pages or the API."""

    name: str
    operator: bool = False
    """Whether the user may cancel jobs of others and change settings."""


class DamagedUsers(ValueError):
    """The file of users cannot be read."""


class Entry(msgspec.Struct, frozen=True):
    """A user in the file."""

    name: str
    operator: bool
    id: str
    """A new one for each token, so that the sessions of a removed user end."""
    salt: str
    digest: str
    """SHA-256 of salt and token. A token has 256 random bits: a slow hash adds nothing."""

    @property
    def user(self) -> User:
        """The user."""
        return User(self.name, self.operator)


class UserFile:
    """The users of a data directory, in `users.json` (mode 0600).

    A running server sees a change at the next request.

    Parameters:
        data: The data directory.
        local_token: Token of the user `local`, an operator, who is in no file; None if there is
            none.
    """

    def __init__(self, data: Path, local_token: str | None = None) -> None:
        self._path = data / "users.json"
        self._local: tuple[Entry, ...] = ()
        if local_token is not None:
            # The identifier depends on the token, so that sessions end with it.
            self._local = (
                Entry(LOCAL, True, _digest("id", local_token)[:16], "", _digest("", local_token)),
            )
        self._lock = threading.Lock()
        self._read: tuple[tuple[int, int, int] | None, tuple[Entry, ...]] = (None, ())

    def entries(self) -> tuple[Entry, ...]:
        """Return all users. Raises DamagedUsers if the file cannot be read."""
        try:
            about = self._path.stat()
        except FileNotFoundError:
            return ()
        except OSError as error:
            raise DamagedUsers(f"{self._path}: {error.strerror}") from None
        version = (about.st_ino, about.st_mtime_ns, about.st_size)
        with self._lock:
            if self._read[0] != version:
                try:
                    entries = decode_json(self._path.read_bytes(), tuple[Entry, ...])
                except (ValueError, OSError) as error:
                    raise DamagedUsers(f"{self._path}: {error}") from None
                self._read = (version, entries)
            return self._read[1]

    def add(self, name: str, operator: bool = False) -> str:
        """Add a user and return the token, of which only a hash is saved.

        Raises:
            ValueError: if the name is not allowed, or taken.
        """
        if not NAME.fullmatch(name) or name == LOCAL:
            raise ValueError(
                f"{name!r}: expected 1 to 32 of a-z, 0-9, _ and -, beginning with a letter or"
                f" digit, and not {LOCAL!r}"
            )
        token, salt = secrets.token_urlsafe(32), secrets.token_hex(16)
        with self._changed() as entries:
            if any(entry.name == name for entry in entries):
                raise ValueError(f"there is a user {name} already")
            entries.append(Entry(name, operator, secrets.token_hex(8), salt, _digest(salt, token)))
        return token

    def remove(self, name: str) -> None:
        """Remove a user. The user's sessions end. Raises ValueError if there is none."""
        with self._changed() as entries:
            if all(entry.name != name for entry in entries):
                raise ValueError(f"there is no user {name}")
            entries[:] = [entry for entry in entries if entry.name != name]

    def with_token(self, token: str) -> Entry | None:
        """Return the user whose token this is. The time does not depend on the token."""
        user = None
        for entry in (*self._local, *self.entries()):
            if hmac.compare_digest(entry.digest, _digest(entry.salt, token)):
                user = entry
        return user

    def with_id(self, identifier: str) -> Entry | None:
        """Return the user with an identifier."""
        return next((it for it in (*self._local, *self.entries()) if it.id == identifier), None)

    @contextlib.contextmanager
    def _changed(self) -> Iterator[list[Entry]]:
        self._path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
        with hold(self._path.parent):
            entries = list(self.entries())
            yield entries
            partial = self._path.with_suffix(".partial")
            partial.unlink(missing_ok=True)
            flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW
            with open(os.open(partial, flags, 0o600), "wb") as file:
                file.write(msgspec.json.format(msgspec.json.encode(entries)))
            partial.rename(self._path)


def local_token(data: Path) -> str:
    """Return the token of the user `local`, from the file `token`, which the first start makes."""
    return secret(data / "token")


def secret(path: Path) -> str:
    """Return the secret in a file, 256 bits that are made if there is none."""
    with contextlib.suppress(FileNotFoundError, UnicodeDecodeError):
        # A full disk may have left an empty file, which anyone could guess.
        if len(text := path.read_text()) >= SECRET_LENGTH:
            return text
    path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
    text, partial = secrets.token_urlsafe(32), path.with_suffix(".partial")
    partial.unlink(missing_ok=True)
    with open(os.open(partial, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "w") as file:
        file.write(text)
    partial.rename(path)
    return text


def _digest(salt: str, token: str) -> str:
    return sha256(f"{salt}:{token}".encode(errors="surrogatepass")).hexdigest()
