"""Location of the store."""

import os
import re
from dataclasses import dataclass
from os import PathLike
from pathlib import Path
from urllib.parse import urlsplit

from headrace import _core
from headrace.store.errors import StoreError

VARIABLE = "HEADRACE_STORE"
SCHEMES = ("postgresql", "postgres", "postgresql+psycopg")

PASSWORD = re.compile(r"(?<=[?&]password=)[^&#]*")


@dataclass(frozen=True)
class Directory:
    """A directory with a catalogue in SQLite, and tables in Parquet beside it."""

    path: Path

    @property
    def catalogue(self) -> Path:
        """The database."""
        return self.path / "catalogue.sqlite"

    @property
    def tables(self) -> Path:
        """A directory for each result with its tables."""
        return self.path / "tables"

    def __str__(self) -> str:
        return str(self.path)


@dataclass(frozen=True)
class Server:
    """A database on a PostgreSQL server, which has the tables as well."""

    url: str

    def __str__(self) -> str:
        return _without_password(self.url)


Location = Directory | Server


def location(where: str | PathLike[str] | None = None) -> Location:
    """Return the location of a store: `where`, else HEADRACE_STORE, else the user's data directory.

    Raises StoreError if that is neither a directory's name nor a URL of PostgreSQL.
    """
    named = where if where is not None else os.environ.get(VARIABLE)
    if not named:
        # Only here: it takes some milliseconds to import.
        from platformdirs import user_data_path

        return _directory(user_data_path("headrace", appauthor=False) / "store")
    text = os.fspath(named)
    if "://" in text:
        return _server(text, "the store" if where is not None else VARIABLE)
    directory = Path(text).expanduser().absolute()
    there = directory
    while not there.exists() and there != there.parent:
        there = there.parent
    if not there.is_dir():
        place = "the store" if where is not None else VARIABLE
        raise StoreError(
            f'{place} = "{text}": {there} is a file: expected a directory, which may not exist yet,'
            ' or a database such as "postgresql://user@host/database"'
        )
    return _directory(directory)


def _directory(path: Path) -> Directory:
    """Raise StoreError if root works, and another user could exchange the files there."""
    there = path
    while not there.is_dir() and there != there.parent:
        there = there.parent
    try:
        os.close(_core.open_directory(there, strictly=True))
    except _core.ScenarioError as error:
        raise StoreError(f"the store {path}: {error}") from None
    except OSError:
        # Whoever opens the store says so.
        pass
    return Directory(path)


def _server(url: str, source: str) -> Server:
    try:
        scheme = urlsplit(url).scheme
    except ValueError:
        scheme = ""
    if scheme not in SCHEMES:
        raise StoreError(
            f'{source} = "{_without_password(url)}": expected a directory, or a database such as '
            '"postgresql://user@host/database"'
        )
    return Server("postgresql+psycopg" + url[len(scheme) :])


def _without_password(url: str) -> str:
    """A URL as it may be printed."""
    scheme, _, rest = url.partition("://")
    end = min((rest.find(mark) for mark in "/?#" if mark in rest), default=len(rest))
    user, at, host = rest[:end].rpartition("@")
    rest = PASSWORD.sub("***", rest[end:])
    return f"{scheme.partition('+')[0]}://{user.partition(':')[0]}{at}{host}{rest}"
