"""Texts that users keep on the server as TOML files: drafts, and catalogues."""

import os
import re
import threading
from contextlib import suppress
from datetime import UTC, datetime
from pathlib import Path
from typing import Literal

import msgspec

from headrace.files import atomic_file
from headrace.web.settings import Settings

NAME = re.compile(r"[A-Za-z0-9](?:[A-Za-z0-9 ._-]{0,78}[A-Za-z0-9_-])?")
LARGEST_TEXT = 1 << 20
"""Bytes of a draft."""
MOST_DRAFTS = 500
"""Drafts of a kind that a user has."""
SUFFIX = ".toml"

DraftKind = Literal["worksheets", "catalogues", "scenarios", "nets"]

_CHANGES = threading.Lock()
"""Held between the test of a draft and its change."""


class Draft(msgspec.Struct, frozen=True):
    """A draft in a user's list."""

    name: str
    changed: str
    """Time of the last change in UTC, in ISO 8601."""
    size: int
    """Bytes."""


class DraftError(ValueError):
    """A draft that cannot be read or saved. `status` is that of an answer over HTTP."""

    def __init__(self, message: str, status: int) -> None:
        super().__init__(message)
        self.status = status


class Drafts:
    """Drafts of all users, with a directory for each."""

    def __init__(self, settings: Settings, kind: DraftKind = "worksheets") -> None:
        self._directory = settings.data / "designs" / kind

    def drafts(self, owner: str) -> list[Draft]:
        """Return a user's drafts, the last changed first."""
        dated = []
        with suppress(FileNotFoundError), os.scandir(self._folder(owner)) as entries:
            for entry in entries:
                name = entry.name.removesuffix(SUFFIX)
                if entry.name.endswith(SUFFIX) and NAME.fullmatch(name):
                    about = entry.stat()
                    dated.append((about.st_mtime_ns, _draft(name, about)))
        return [draft for _, draft in sorted(dated, key=lambda pair: pair[0], reverse=True)]

    def text(self, owner: str, name: str) -> str:
        """Return the text of a draft. Raises DraftError."""
        try:
            return self._path(owner, name).read_text(encoding="utf-8")
        except FileNotFoundError:
            raise DraftError(f"there is no draft {name}", 404) from None
        except (OSError, UnicodeDecodeError) as error:
            raise DraftError(f"{name} cannot be read: {error}", 500) from None

    def create(self, owner: str, name: str, text: str) -> str:
        """Save a new draft and return its name: with a number behind it if the name is taken.

        Raises:
            DraftError: The name or the text is not allowed, or there are too many drafts.
        """
        self._check(owner, name, text)
        with _CHANGES:
            self._require_room(owner)
            for number in range(1, MOST_DRAFTS + 2):
                chosen = name if number == 1 else f"{name[:74]} {number}"
                path = self._path(owner, chosen)
                if not path.exists():
                    self._write(path, text)
                    return chosen
        raise DraftError(f"the name {name} is taken: choose another one", 409)

    def save(self, owner: str, name: str, text: str, before: str | None = None) -> Draft:
        """Save the text of a draft.

        Parameters:
            owner: The user.
            name: The draft; a new one is made if there is none and `before` is None.
            text: Its text.
            before: The text that the change began with; None replaces any.

        Raises:
            DraftError: The draft has been changed elsewhere (409), removed (404), or the name or
                the text is not allowed.
        """
        self._check(owner, name, text)
        path = self._path(owner, name)
        with _CHANGES:
            if before is None and not path.exists():
                self._require_room(owner)
            if before is not None and self.text(owner, name) != before:
                raise DraftError(f"{name} has been changed elsewhere: load it again", 409)
            self._write(path, text)
        return _draft(name, path.stat())

    def rename(self, owner: str, name: str, new: str) -> None:
        """Rename a draft. Raises DraftError."""
        old, path = self._path(owner, name), self._path(owner, new)
        try:
            # Unlike a rename it does not replace another draft.
            os.link(old, path)
        except FileNotFoundError:
            raise DraftError(f"there is no draft {name}", 404) from None
        except FileExistsError:
            raise DraftError(f"the name {new} is taken: choose another one", 409) from None
        old.unlink(missing_ok=True)

    def remove(self, owner: str, name: str) -> None:
        """Remove a draft. Raises DraftError."""
        try:
            self._path(owner, name).unlink()
        except FileNotFoundError:
            raise DraftError(f"there is no draft {name}", 404) from None

    def _folder(self, owner: str) -> Path:
        if not NAME.fullmatch(owner):
            raise DraftError(f"{owner!r} is no user", 403)
        return self._directory / owner

    def _path(self, owner: str, name: str) -> Path:
        if not NAME.fullmatch(name):
            raise DraftError(
                f"{name[:100]!r}: expected a name of at most 80 letters, digits, spaces, ., _ and"
                " -, beginning with a letter or digit",
                422,
            )
        return self._folder(owner) / f"{name}{SUFFIX}"

    def _require_room(self, owner: str) -> None:
        if len(self.drafts(owner)) >= MOST_DRAFTS:
            raise DraftError(f"you have {MOST_DRAFTS} drafts: delete some", 413)

    def _check(self, owner: str, name: str, text: str) -> None:
        self._path(owner, name)
        try:
            size = len(text.encode())
        except UnicodeEncodeError:
            raise DraftError("expected a text in UTF-8", 422) from None
        if size > LARGEST_TEXT:
            raise DraftError(f"expected at most {LARGEST_TEXT:,} bytes", 413)

    def _write(self, path: Path, text: str) -> None:
        path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
        try:
            with atomic_file(path) as partial:
                partial.write_text(text, encoding="utf-8")
        except OSError as error:
            raise DraftError(f"the draft cannot be saved: {error.strerror}", 507) from None


def draft_name(text: str, otherwise: str = "worksheet") -> str:
    """Return a name for a draft that is made from a text, such as the name of a file."""
    name = re.sub(r"[^A-Za-z0-9 ._-]+", " ", text.removesuffix(SUFFIX)).strip(" ._-")[:70].strip()
    return name if NAME.fullmatch(name) else otherwise


def _draft(name: str, about: os.stat_result) -> Draft:
    changed = datetime.fromtimestamp(about.st_mtime, UTC).isoformat(timespec="seconds")
    return Draft(name, changed, about.st_size)
