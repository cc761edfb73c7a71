"""Integrity of a store: its catalogue, its documents, and the files of its tables."""

import os
import time
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

import sqlalchemy as sa

from headrace.progress_events import OnStep
from headrace.store import queries, schema
from headrace.store.checksums import KEPT_APART
from headrace.store.errors import StoreFailure
from headrace.store.identifier import PATTERN
from headrace.store.location import Directory
from headrace.store.parquet_tables import UNPUBLISHED, read_file, remove_files
from headrace.store.record import sha256

if TYPE_CHECKING:
    from headrace.store.catalogue import Store

AGE_S = 600.0
"""Tables without a result that are younger may be those of a run that ends just now: it waits
for others for 10 s at the most, and for a slow disk."""
AT_ONCE = 50
"""Documents in memory."""


class Checked(NamedTuple):
    """Result of an integrity check."""

    results: int
    """Results that were checked."""
    removed: Sequence[Path]
    """Tables that a killed run had left, which are gone now."""
    damaged: Sequence[str]
    """Damage of the catalogue, a document or a table, one line each."""


def check(store: "Store", on_progress: OnStep | None = None) -> Checked:
    """Check every row of the catalogue, every document and every table against its digest, and
    remove tables that no result has.

    Nothing is removed if the catalogue is damaged: tables without a result may be those of a
    result that can no longer be read.

    Raises StoreFailure if the store cannot be read at all, or something in it not removed.
    """
    # Before the results: a run may end in between.
    directories = _directories(store.location)
    damaged: list[str] = []
    removed: list[Path] = []
    ids: Sequence[str] = ()
    with store.reading() as connection:
        damaged += _of_file(connection)
        try:
            ids = queries.identifiers(connection, queries.Filter())
            damaged += _of_rows(connection, ids)
            whole_catalogue = not damaged
            damaged += _of_documents(connection, ids, on_progress)
            damaged += _of_tables(connection, store.location, ids, on_progress)
        except (sa.exc.DBAPIError, UnicodeDecodeError) as error:
            if not damaged:
                raise
            damaged.append(f"{store.location}: {getattr(error, 'orig', error)}")
            whole_catalogue = False
    if whole_catalogue:
        known = set(ids)
        removed = [folder for folder in directories if folder.name not in known and _is_old(folder)]
    for directory in removed:
        try:
            remove_files(directory)
        except OSError as error:
            raise StoreFailure(f"{directory}: {(error.strerror or str(error)).lower()}") from None
    return Checked(len(ids), removed, damaged)


def _of_file(connection: sa.Connection) -> list[str]:
    """Return the damage that SQLite's own check finds."""
    if connection.dialect.name != "sqlite":
        return []
    # A quick check does not compare indexes with their tables.
    problems = connection.exec_driver_sql("PRAGMA integrity_check(20)").scalars().all()
    lines = [line for problem in problems for line in str(problem).splitlines()]
    return [f"catalogue: {line}" for line in lines if line != "ok"]


def _of_rows(connection: sa.Connection, ids: Sequence[str]) -> Iterator[str]:
    """Rows with values that they cannot have, rows that do not match their checksum, and rows of no
    result."""
    for first in range(0, len(ids), AT_ONCE):
        some = ids[first : first + AT_ONCE]
        named = set()
        for table in (schema.runs, *schema.PARTS):
            large = KEPT_APART.get(table.name, ())
            _, damaged = queries.checked_rows(connection, table, some, without=large)
            named |= {row.run_id for row in damaged}
            yield from (row.what for row in damaged)
        column = schema.checksums.c
        query = sa.select(column.run_id, column.sha256).where(column.run_id.in_(some))
        expected = dict(map(tuple, connection.execute(query)))
        for identifier, digest in queries.checksums(connection, schema.metadata, some).items():
            if identifier not in named and expected.get(identifier) != digest:
                yield queries.rows_altered(identifier)
    yield from _without_result(connection)


def _without_result(connection: sa.Connection) -> Iterator[str]:
    named = set()
    for table in schema.PARTS:
        lost = sa.select(table.c.run_id).where(table.c.run_id.not_in(sa.select(schema.runs.c.id)))
        for run_id in connection.execute(lost.distinct()).scalars():
            named.add(table.name)
            yield f"{table.name}: it has rows of {run_id}, and there is no such result"
    if connection.dialect.name == "sqlite":
        # The query above may read an index only.
        for name, *_ in connection.exec_driver_sql("PRAGMA foreign_key_check"):
            if name not in named:
                named.add(name)
                yield f"{name}: it has rows of no result"


def _of_documents(
    connection: sa.Connection, ids: Sequence[str], on_progress: OnStep | None
) -> Iterator[str]:
    column = schema.runs.c
    for first in range(0, len(ids), AT_ONCE):
        if on_progress is not None:
            on_progress(first, len(ids), "documents")
        query = sa.select(column.id, column.document, column.document_sha256)
        query = query.where(column.id.in_(ids[first : first + AT_ONCE]))
        for identifier, document, digest in connection.execute(query):
            if not isinstance(document, str) or sha256(document.encode()) != digest:
                yield queries.altered(identifier)


def _of_tables(
    connection: sa.Connection, location: object, ids: Sequence[str], on_progress: OnStep | None
) -> Iterator[str]:
    column = schema.contents.c
    inside = not isinstance(location, Directory)
    for first in range(0, len(ids), AT_ONCE):
        if on_progress is not None:
            on_progress(first, len(ids), "tables")
        query = sa.select(column.run_id, column.name, column.sha256)
        query = query.where(column.run_id.in_(ids[first : first + AT_ONCE]))
        for identifier, name, digest in connection.execute(query).all():
            subject = f'table "{name}" of {identifier}'
            try:
                if inside:
                    content = queries.content(connection, identifier, name)
                    data = (content.data if content else None) or b""
                else:
                    assert isinstance(location, Directory)
                    subject, data = _file(location, identifier, name)
            except StoreFailure as failure:
                yield str(failure)
                continue
            if sha256(data) != digest:
                yield f"{subject}: it does not match its checksum: expected SHA-256 {digest}"


def _file(location: Directory, identifier: object, name: object) -> tuple[str, bytes]:
    """A table's file and its content. Raises StoreFailure if there is none, as where the
    catalogue has a damaged name."""
    if not (isinstance(identifier, str) and PATTERN.fullmatch(identifier)):
        raise StoreFailure(f"contents.run_id = {identifier!r}: expected an identifier")
    try:
        path, data = read_file(location.tables / identifier, str(name))
    except ValueError as error:
        raise StoreFailure(f"contents.name of {identifier} = {name!r}: {error}") from None
    return str(path), data


def _directories(location: object) -> list[Path]:
    """Return the directories of results' tables; other names are skipped."""
    if not isinstance(location, Directory) or not location.tables.is_dir():
        return []
    names = sorted(os.listdir(location.tables))
    return [
        location.tables / it for it in names if PATTERN.fullmatch(it) or UNPUBLISHED.fullmatch(it)
    ]


def _is_old(directory: Path) -> bool:
    try:
        return time.time() - directory.stat().st_mtime > AGE_S
    except FileNotFoundError:
        return False
