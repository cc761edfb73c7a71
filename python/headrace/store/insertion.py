"""Insertion of a new result's rows into the catalogue.

A run ends with this. SQLite's own module does it in a few milliseconds, where importing
SQLAlchemy alone takes 0.2 s. SQLAlchemy is used only for a catalogue that must be made or upgraded
first, or one on a server.
"""

import contextlib
import itertools
import sqlite3
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

from headrace.store.errors import StoreFailure
from headrace.store.location import Directory, Location
from headrace.store.version import HEAD, PATIENCE_S, VERSION_TABLE

Rows = Mapping[str, Sequence[Mapping[str, Any]]]
"""Rows by the name of their table. A row has every column, or omits columns that are NULL."""


class AlreadyStored(Exception):
    """The catalogue has the result."""

    def __init__(self, identifier: str) -> None:
        self.identifier = identifier


def insert(
    location: Location,
    rows: Rows,
    publish: Callable[[], object] | None = None,
    same_document: bool = False,
) -> None:
    """Add a result's rows, or none.

    `publish` is called before the transaction is committed: it moves the result's files to their
    place while no other process writes. With `same_document`, a result with the same document
    counts as the same result.

    Raises AlreadyStored if the catalogue has the result; otherwise as `Database.writing`.
    """
    if isinstance(location, Directory) and _inserted(
        location.catalogue, rows, publish, same_document
    ):
        return
    from headrace.store.database import Database
    from headrace.store.queries import insert_rows

    with Database(location).writing() as connection:
        insert_rows(connection, rows, same_document)
        if publish is not None:
            publish()


def _inserted(
    catalogue: Path, rows: Rows, publish: Callable[[], object] | None, same_document: bool
) -> bool:
    """Add the rows; false if the catalogue has to be made or upgraded first."""
    if not catalogue.exists():
        return False
    (run,) = rows["runs"]
    try:
        with contextlib.closing(connect(catalogue)) as connection:
            connection.execute("BEGIN IMMEDIATE")
            if _version(connection) != HEAD:
                return False
            found = connection.execute("SELECT id FROM runs WHERE id = :id", run).fetchone()
            if found is None and same_document:
                query = "SELECT id FROM runs WHERE document_sha256 = :document_sha256"
                found = connection.execute(f"{query} ORDER BY started DESC", run).fetchone()
            if found is not None:
                raise AlreadyStored(str(found[0]))
            for table, entries in rows.items():
                for columns, same in itertools.groupby(entries, key=tuple):
                    names, values = ", ".join(columns), ", ".join(f":{it}" for it in columns)
                    line = f"INSERT INTO {table} ({names}) VALUES ({values})"
                    connection.executemany(line, same)
            if publish is not None:
                publish()
            connection.execute("COMMIT")
    except (sqlite3.Error, UnicodeDecodeError) as error:
        raise sqlite_failure(catalogue, error) from error
    return True


def _version(connection: sqlite3.Connection) -> str | None:
    there = "SELECT 1 FROM sqlite_master WHERE type = 'table' AND name = ?"
    if connection.execute(there, [VERSION_TABLE]).fetchone() is None:
        return None
    found = connection.execute(f"SELECT version_num FROM {VERSION_TABLE}").fetchone()
    return str(found[0]) if found else None


def connect(catalogue: Path) -> sqlite3.Connection:
    """A connection whose transactions are begun by hand: Python's own begin late, and end
    before tables are made."""
    connection = sqlite3.connect(catalogue, timeout=PATIENCE_S, isolation_level=None)
    connection.execute("PRAGMA foreign_keys = ON")
    return connection


def sqlite_failure(catalogue: Path, error: BaseException) -> StoreFailure:
    """Return the StoreFailure for an error of SQLite, with the catalogue's path."""
    message = str(error)
    if "not a database" in message or "malformed" in message:
        message += ": move it away, or name another store by HEADRACE_STORE"
    return StoreFailure(f"{catalogue}: {message}")
