"""What is asked of the catalogue."""

from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime
from typing import Any, NamedTuple

import sqlalchemy as sa

from headrace.store import schema
from headrace.store.errors import StoreError
from headrace.store.record import Record, timestamp

LAST = "last"
"""In the place of an identifier: the result that was started last."""
NAMED = 5
"""How many identifiers a message names at the most."""
AT_ONCE = 500
"""Identifiers in one statement: databases have a limit."""

runs = schema.runs
NEWEST_FIRST = (runs.c.started.desc(), runs.c.id.desc())


class Content(NamedTuple):
    """A table that belongs to a result."""

    name: str
    size: int
    """Bytes of its Parquet."""
    sha256: str
    data: bytes | None
    """Parquet; none if it is in a file."""


class Wanted(NamedTuple):
    """Which results: those that fit all that is given."""

    kind: str | None = None
    name: str | None = None
    labels: Mapping[str, str] | None = None
    since: datetime | None = None
    limit: int | None = None
    calls: str | None = None


def found(connection: sa.Connection, text: str) -> str:
    """The identifier that begins so, or of the `last` result. Raises StoreError."""
    newest = sa.select(runs.c.id).order_by(*NEWEST_FIRST)
    if text == LAST:
        last = connection.execute(newest.limit(1)).scalar()
        if last is None:
            raise StoreError(f'there is no "{LAST}" result: the store is empty')
        return str(last)
    begun = newest.where(runs.c.id.startswith(text.lower(), autoescape=True))
    several = connection.execute(begun).scalars().all()
    if text and len(several) == 1:
        return str(several[0])
    if not text or not several:
        raise StoreError(f'there is no result "{text}": expected one of `headrace results list`')
    named = ", ".join(several[:NAMED]) + (", …" if len(several) > NAMED else "")
    raise StoreError(f'"{text}" begins {len(several)} results, write more of one: {named}')


def identifiers(connection: sa.Connection, wanted: Wanted) -> Sequence[str]:
    """Those that are wanted, the newest first."""
    query = sa.select(runs.c.id).order_by(*NEWEST_FIRST).limit(wanted.limit)
    if wanted.kind is not None:
        query = query.where(runs.c.kind == wanted.kind)
    if wanted.name is not None:
        query = query.where(runs.c.name == wanted.name)
    if wanted.calls is not None:
        query = query.where(runs.c.calls == wanted.calls)
    if wanted.since is not None:
        query = query.where(runs.c.started >= timestamp(wanted.since))
    for key, value in (wanted.labels or {}).items():
        label = schema.labels.c
        one = sa.select(label.run_id).where(label.key == key, label.value == value)
        query = query.where(runs.c.id.in_(one))
    return connection.execute(query).scalars().all()


def rows(
    connection: sa.Connection,
    table: sa.Table,
    ids: Sequence[str],
    without: Iterable[str] = (),
    step: str | None = None,
) -> list[dict[str, Any]]:
    """A table's rows of these results, result by result in the order of `ids`; those of a step
    of ladders, if one is given."""
    key = table.c.id if table is runs else table.c.run_id
    columns = [column for column in table.c if column.name not in without]
    order = {identifier: place for place, identifier in enumerate(ids)}
    found: list[dict[str, Any]] = []
    for first in range(0, len(ids), AT_ONCE):
        query = sa.select(*columns).where(key.in_(ids[first : first + AT_ONCE]))
        if step is not None:
            query = query.where(table.c.step == step)
        query = query.order_by(*table.primary_key.columns)
        found += [dict(row) for row in connection.execute(query).mappings()]
    return sorted(found, key=lambda row: order[row[key.name]])


def steps(connection: sa.Connection, ids: Sequence[str]) -> set[str]:
    """The steps of these ladders whose figures are catalogued."""
    column = schema.step_figures.c
    found: set[str] = set()
    for first in range(0, len(ids), AT_ONCE):
        few = ids[first : first + AT_ONCE]
        query = sa.select(column.step).where(column.run_id.in_(few)).distinct()
        found |= set(connection.execute(query).scalars())
    return found


def labels(connection: sa.Connection, ids: Sequence[str]) -> dict[str, dict[str, str]]:
    """The labels of each of these results."""
    labels: dict[str, dict[str, str]] = {identifier: {} for identifier in ids}
    for row in rows(connection, schema.labels, ids):
        labels[row["run_id"]][row["key"]] = row["value"]
    return labels


def record(connection: sa.Connection, identifier: str) -> Record:
    """All of one result but its tables."""
    (row,) = rows(connection, runs, [identifier])
    return Record(**row, labels=labels(connection, [identifier])[identifier])


def contents(connection: sa.Connection, identifier: str) -> list[Content]:
    """Which tables a result has."""
    return [
        Content(row["name"], row["bytes"], row["sha256"], None)
        for row in rows(connection, schema.contents, [identifier], without=("data",))
    ]


def content(connection: sa.Connection, identifier: str, name: str) -> Content | None:
    """One table of a result; none if it has none of that name."""
    column = schema.contents.c
    query = sa.select(column.name, column.bytes, column.sha256, column.data)
    query = query.where(column.run_id == identifier, column.name == name)
    row = connection.execute(query).one_or_none()
    return None if row is None else Content(*row)


def known(connection: sa.Connection, document_sha256: str) -> str | None:
    """A result with the same document, if there is one."""
    query = sa.select(runs.c.id).where(runs.c.document_sha256 == document_sha256)
    identifier: str | None = connection.execute(query.order_by(*NEWEST_FIRST)).scalars().first()
    return identifier


def has(connection: sa.Connection, identifier: str) -> bool:
    """Whether there is this result."""
    return (
        connection.execute(sa.select(runs.c.id).where(runs.c.id == identifier)).first() is not None
    )


def remove(connection: sa.Connection, identifier: str) -> None:
    """Removes a result and what belongs to it."""
    for table in schema.PARTS:
        connection.execute(table.delete().where(table.c.run_id == identifier))
    connection.execute(runs.delete().where(runs.c.id == identifier))
