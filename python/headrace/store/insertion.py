"""Insertion of new results' rows into the catalogue.

A run ends with this. SQLite's own module does it in a few milliseconds, where importing
SQLAlchemy alone takes 0.2 s. SQLAlchemy is used only for a catalogue that must be made or upgraded
first, or one on a server.
"""

import contextlib
import itertools
import sqlite3
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from headrace.store.errors import StoreFailure
from headrace.store.location import Directory, Location
from headrace.store.version import HEAD, PATIENCE_S, VERSION_TABLE

Rows = Mapping[str, Sequence[Mapping[str, Any]]]
"""Rows by the name of their table. A row has every column, or omits columns that are NULL."""


class NewResult(NamedTuple):
    """A result to insert."""

    rows: Rows
    publish: Callable[[], object]
    """Moves the result's files to their place. It is called before the transaction is committed,
    while no other process writes."""


def insert(
    location: Location, results: Sequence[NewResult], same_document: bool = False
) -> list[str | None]:
    """Add the rows of all these results, or none, in one transaction.

    Parameters:
        location: The store.
        results: The results.
        same_document: Whether a result with the same document counts as the same result.

    Returns:
        For each result the identifier of the same result, if the catalogue had it, and None if it
        was added.

    Raises:
        StoreFailure: as `Database.writing`.
        StoreError: as `Database.writing`.
    """
    if isinstance(location, Directory):
        known = _inserted(location.catalogue, results, same_document)
        if known is not None:
            return known
    from headrace.store.database import Database
    from headrace.store.queries import insert_rows

    with Database(location).writing() as connection:
        return _insert_all(results, lambda rows: insert_rows(connection, rows, same_document))


def _insert_all(
    results: Sequence[NewResult], insert_one: Callable[[Rows], str | None]
) -> list[str | None]:
    """Insert and publish results, and return as `insert`. `insert_one` returns the identifier of
    the same result if the catalogue has it."""
    known = []
    for result in results:
        there = insert_one(result.rows)
        if there is None:
            result.publish()
        known.append(there)
    return known


def _inserted(
    catalogue: Path, results: Sequence[NewResult], same_document: bool
) -> list[str | None] | None:
    """Insert as `insert`; None if the catalogue has to be made or upgraded first."""
    if not catalogue.exists():
        return None
    try:
        with contextlib.closing(connect(catalogue)) as connection:
            connection.execute("BEGIN IMMEDIATE")
            if _version(connection) != HEAD:
                return None
            known = _insert_all(results, lambda rows: _insert_rows(connection, rows, same_document))
            connection.execute("COMMIT")
    except (sqlite3.Error, UnicodeDecodeError) as error:
        raise sqlite_failure(catalogue, error) from error
    return known


def _insert_rows(connection: sqlite3.Connection, rows: Rows, same_document: bool) -> str | None:
    (run,) = rows["runs"]
    known = connection.execute("SELECT id FROM runs WHERE id = :id", run).fetchone()
    if known is None and same_document:
        query = "SELECT id FROM runs WHERE document_sha256 = :document_sha256"
        known = connection.execute(f"{query} ORDER BY started DESC", run).fetchone()
    if known is not None:
        return str(known[0])
    for table, entries in rows.items():
        for columns, same in itertools.groupby(entries, key=tuple):
            names, values = ", ".join(columns), ", ".join(f":{column}" for column in columns)
            connection.executemany(f"INSERT INTO {table} ({names}) VALUES ({values})", same)
    return None


def _version(connection: sqlite3.Connection) -> str | None:
    there = "SELECT 1 FROM sqlite_master WHERE type = 'table' AND name = ?"
    if connection.execute(there, [VERSION_TABLE]).fetchone() is None:
        return None
    known = connection.execute(f"SELECT version_num FROM {VERSION_TABLE}").fetchone()
    return str(known[0]) if known else None


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
