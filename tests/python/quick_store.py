"""Stores of the tests: new catalogues by statements, and no waiting for the disk.

To migrate a new SQLite catalogue takes a twentieth of a second, and a transaction waits for the
disk three times. The migrations are run once in each process of the tests, and the statements
that make the same are run in each new catalogue. What a transaction has written reaches the disk
only when the system writes it: that is lost in a power cut, which no test has. Tests of damaged,
full and older stores (`test_store_faults.py`) use the store as it is.
"""

import functools
import os
import sqlite3
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path

from sqlalchemy import Connection

from headrace.store import database, insertion, migration
from headrace.store.location import Directory
from headrace.store.version import HEAD

_migrate = migration.upgrade
_connect = insertion.connect
_is_quick = True


@functools.cache
def statements() -> Sequence[str]:
    """Return what the migrations make of an empty catalogue."""
    with tempfile.TemporaryDirectory() as folder, real_store():
        location = Directory(Path(folder))
        with database.Database(location).writing():
            pass
        catalogue = sqlite3.connect(os.fspath(location.catalogue))
        made = [it for it in catalogue.iterdump() if it not in ("BEGIN TRANSACTION;", "COMMIT;")]
        catalogue.close()
        return made


def statements_to_use() -> Sequence[str]:
    """Return the statements for new catalogues of a command; none if it uses the real store."""
    return statements() if _is_quick else ()


def use(made: Sequence[str]) -> None:
    """Make new catalogues of this process by statements, and do not wait for the disk."""

    def upgrade(connection: Connection, found: str | None, where: object, to: str = HEAD) -> None:
        if found is not None or to != HEAD or connection.dialect.name != "sqlite":
            _migrate(connection, found, where, to)
            return
        for statement in made:
            connection.exec_driver_sql(statement)

    def connect(catalogue: Path) -> sqlite3.Connection:
        connection = _connect(catalogue)
        # It reads the schema. If that is damaged, so says the first statement of the store.
        with suppress(sqlite3.Error):
            connection.execute("PRAGMA synchronous = OFF")
        return connection

    _set(upgrade, connect)


@contextmanager
def real_store() -> Iterator[None]:
    """Use the store as it is meanwhile, in this process and in commands."""
    global _is_quick
    before = migration.upgrade, insertion.connect
    was_quick, _is_quick = _is_quick, False
    _set(_migrate, _connect)
    try:
        yield
    finally:
        _set(*before)
        _is_quick = was_quick


def _set(upgrade: object, connect: object) -> None:
    migration.upgrade = upgrade  # type: ignore[assignment]
    insertion.connect = database.connect = connect  # type: ignore[assignment,attr-defined]
