"""Queries of the catalogue."""

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from datetime import datetime
from typing import Any, NamedTuple, cast

import sqlalchemy as sa

from headrace.environment import Environment
from headrace.store import schema
from headrace.store.checksums import KEPT_APART, checksum
from headrace.store.checksums import TABLE as CHECKSUMS
from headrace.store.errors import StoreError, StoreFailure
from headrace.store.identifier import DIGITS, LENGTH
from headrace.store.insertion import Rows
from headrace.store.record import Record, moment, sha256, timestamp

LAST = "last"
"""Name of the newest result, in place of an identifier."""
NAMED = 5
"""Most identifiers in a message."""
MOST_FOUND = 1000
"""Results that the beginning of an identifier is compared with."""
AT_ONCE = 500
"""Identifiers in one statement: databases have a limit."""

LARGE = ("scenario", "document", "document_sha256")
"""Columns that a list of results goes without."""

runs = schema.runs
NEWEST_FIRST = (runs.c.started.desc(), runs.c.id.desc())


class Content(NamedTuple):
    """A table that belongs to a result."""

    name: str
    size: int
    """Bytes of its Parquet."""
    sha256: str
    data: bytes | None
    """Parquet; None if it is in a file."""


class Filter(NamedTuple):
    """Conditions on results, all of which must hold."""

    kind: str | None = None
    name: str | None = None
    labels: Mapping[str, str] | None = None
    since: datetime | None = None
    limit: int | None = None
    calls: str | None = None
    skip: int = 0
    """Number of results to skip."""
    host: str | None = None
    file_system: str | None = None
    device: str | None = None
    """A part of the name, the model or the kind."""
    search: str | None = None
    """A part of the name, of a label, or of where the result was made."""
    sort: str = ""
    """A key of `SORT_KEYS`, after "-" for the opposite order; the newest are first without it."""


def _figure(name: str, of_single: Callable[..., sa.ColumnElement[Any]]) -> sa.ScalarSelect[Any]:
    """Return a figure of all operations, or one of the single operations if there is none."""
    figure = schema.figures.c
    of_all = sa.func.max(sa.case((figure.operation == "all", figure.value)))
    single = sa.case((~figure.operation.contains(" "), figure.value))
    query = sa.select(sa.func.coalesce(of_all, of_single(single)))
    return query.where(figure.run_id == runs.c.id, figure.figure == name).scalar_subquery()


SORT_KEYS: Mapping[str, sa.ColumnElement[Any]] = {
    "name": runs.c.name,
    "started": runs.c.started,
    "kind": runs.c.kind,
    "throughput": _figure("throughput_bytes_per_s", sa.func.sum),
    "rate": _figure("operations_per_s", sa.func.sum),
    "p99": _figure("latency_p99_s", sa.func.max),
    "host": sa.select(schema.environments.c.host)
    .where(schema.environments.c.run_id == runs.c.id)
    .scalar_subquery(),
}
"""Values that results are sorted by. Results without the value are last."""


class DamagedRow(StoreFailure):
    """A row of the catalogue is malformed."""

    def __init__(self, run_id: object, problem: str) -> None:
        self.run_id = run_id
        super().__init__(
            f"{problem}: the catalogue is damaged: headrace results check lists all damage, and"
            " headrace results remove ID removes a result"
        )
        self.what = problem


def found(connection: sa.Connection, text: str) -> str:
    """The identifier that begins so, or of the `last` result. Raises StoreError."""
    newest = sa.select(runs.c.id).order_by(*NEWEST_FIRST)
    if text == LAST:
        last = connection.execute(newest.limit(1)).scalar()
        if last is None:
            raise StoreError(f'there is no "{LAST}" result: the store is empty')
        return str(last)
    beginning = text.lower()
    # The range uses the index of the primary key, where LIKE may read every row.
    begun = newest.where(
        runs.c.id >= beginning,
        runs.c.id <= beginning + DIGITS[-1] * LENGTH,
        runs.c.id.startswith(beginning, autoescape=True),
    )
    several = connection.execute(begun.limit(MOST_FOUND)).scalars().all()
    if text and len(several) == 1:
        return str(several[0])
    if not text or not several:
        raise StoreError(f'there is no result "{text}": expected one of `headrace results list`')
    named = ", ".join(several[:NAMED]) + (", …" if len(several) > NAMED else "")
    count = f"{len(several)} or more" if len(several) == MOST_FOUND else str(len(several))
    raise StoreError(f'"{text}" matches {count} results, write more of one: {named}')


def identifiers(connection: sa.Connection, chosen: Filter) -> Sequence[str]:
    """Return the identifiers of the matching results, in their order."""
    query = _chosen(sa.select(runs.c.id), chosen)
    if chosen.sort:
        key = SORT_KEYS[chosen.sort.removeprefix("-")]
        order = key.desc() if chosen.sort.startswith("-") else key.asc()
        query = query.order_by(order.nulls_last())
    query = query.order_by(*NEWEST_FIRST)
    query = query.limit(chosen.limit).offset(chosen.skip or None)
    return connection.execute(query).scalars().all()


def count(connection: sa.Connection, chosen: Filter) -> int:
    """Return the number of matching results, ignoring `limit` and `skip`."""
    query = _chosen(sa.select(sa.func.count()).select_from(runs), chosen)
    return int(connection.execute(query).scalar_one())


def _chosen(query: sa.Select[Any], chosen: Filter) -> sa.Select[Any]:
    if chosen.kind is not None:
        query = query.where(runs.c.kind == chosen.kind)
    if chosen.name is not None:
        query = query.where(runs.c.name == chosen.name)
    if chosen.calls is not None:
        query = query.where(runs.c.calls == chosen.calls)
    if chosen.since is not None:
        query = query.where(runs.c.started >= timestamp(chosen.since))
    for key, value in (chosen.labels or {}).items():
        label = schema.labels.c
        one = sa.select(label.run_id).where(label.key == key, label.value == value)
        query = query.where(runs.c.id.in_(one))
    there = schema.environments.c
    of_environment = []
    if chosen.host is not None:
        of_environment.append(there.host == chosen.host)
    if chosen.file_system is not None:
        of_environment.append(there.file_system == chosen.file_system)
    if chosen.device is not None:
        columns = (there.device, there.device_model, there.device_kind)
        of_environment.append(_any_contains(columns, chosen.device))
    if of_environment:
        query = query.where(runs.c.id.in_(sa.select(there.run_id).where(*of_environment)))
    if chosen.search is not None:
        texts = [text for text in there if isinstance(text.type, sa.Text) and text.name != "run_id"]
        label = schema.labels.c
        query = query.where(
            _any_contains((runs.c.name,), chosen.search)
            | runs.c.id.in_(sa.select(there.run_id).where(_any_contains(texts, chosen.search)))
            | runs.c.id.in_(
                sa.select(label.run_id).where(_any_contains((label.value,), chosen.search))
            )
        )
    return query


def _any_contains(columns: Iterable[sa.Column[Any]], part: str) -> sa.ColumnElement[bool]:
    return sa.or_(*(column.icontains(part, autoescape=True) for column in columns))


def rows(
    connection: sa.Connection,
    table: sa.Table,
    ids: Sequence[str],
    without: Iterable[str] = (),
    step: str | None = None,
) -> list[dict[str, Any]]:
    """Return a table's rows of these results, result by result in the order of `ids`; with `step`,
    of that step of load sweeps.

    Raises DamagedRow for a malformed row.
    """
    whole, damaged = checked_rows(connection, table, ids, without, step)
    if damaged:
        raise damaged[0]
    return whole


def checked_rows(
    connection: sa.Connection,
    table: sa.Table,
    ids: Sequence[str],
    without: Iterable[str] = (),
    step: str | None = None,
) -> tuple[list[dict[str, Any]], list[DamagedRow]]:
    """Return the well-formed rows as `rows` does, and the damage of the others."""
    key = table.c.id if table is runs else table.c.run_id
    columns = [column for column in table.c if column.name not in without]
    order = {identifier: place for place, identifier in enumerate(ids)}
    names = [column.name for column in columns]
    damage = _Damage(table, columns)
    selected: list[dict[str, Any]] = []
    damaged: list[DamagedRow] = []
    for first in range(0, len(ids), AT_ONCE):
        query = sa.select(*columns).where(key.in_(ids[first : first + AT_ONCE]))
        if step is not None:
            query = query.where(table.c.step == step)
        query = query.order_by(*table.primary_key.columns)
        for values in connection.execute(query):
            row = dict(zip(names, values, strict=True))
            loss = damage.of(values)
            if row[key.name] not in order:
                # An index says otherwise than its table.
                damaged.append(DamagedRow(row[key.name], f"{key} = {row[key.name]!r}"))
            elif loss is None:
                selected.append(row)
            else:
                damaged.append(DamagedRow(row[key.name], f"{loss[0]} of {row[key.name]}{loss[1]}"))
    return sorted(selected, key=lambda row: order[row[key.name]]), damaged


TYPES: Mapping[type, tuple[type, ...]] = {
    sa.Text: (str,),
    sa.BigInteger: (int,),
    sa.Integer: (int,),
    sa.Double: (float, int),
    sa.LargeBinary: (bytes, memoryview),
}
"""Python types of each column type. SQLite enforces none of them."""


class _Damage:
    """Look for values that a table's columns cannot have."""

    def __init__(self, table: sa.Table, columns: Sequence[sa.Column[Any]]) -> None:
        self._table, self._columns = table, columns
        self._numbers = [at for at, one in enumerate(columns) if isinstance(one.type, sa.Double)]
        self._times = [at for at, column in enumerate(columns) if column is runs.c.started]
        self._right: set[tuple[type, ...]] = set()
        """The types of whole rows that were right: most rows have the same."""

    def of(self, values: Sequence[Any]) -> tuple[str, str] | None:
        """The column and the value that is wrong in a row, if one is."""
        types = tuple(map(type, values))
        if types not in self._right:
            for column, value in zip(self._columns, values, strict=True):
                if not self._has_type(column, value):
                    return self._told(column, value)
            self._right.add(types)
        for at in self._numbers:
            if values[at] is not None and not math.isfinite(values[at]):
                return self._told(self._columns[at], values[at])
        for at in self._times:
            if not _is_timestamp(values[at]):
                return self._told(self._columns[at], values[at])
        return None

    def _has_type(self, column: sa.Column[Any], value: Any) -> bool:
        if value is None:
            return bool(column.nullable)
        return isinstance(value, TYPES[type(column.type)])

    def _told(self, column: sa.Column[Any], value: Any) -> tuple[str, str]:
        text = repr(value) if len(repr(value)) <= LONGEST else f"{repr(value)[:LONGEST]} ..."
        return f"{self._table.name}.{column.name}", f" = {text}"


LONGEST = 40
"""Characters that an error has of a value."""


def _is_timestamp(text: str) -> bool:
    try:
        return timestamp(moment(text)) == text
    except (ValueError, OverflowError):
        return False


def steps(connection: sa.Connection, ids: Sequence[str]) -> set[str]:
    """Return the names of the catalogued steps of these load sweeps."""
    column = schema.step_figures.c
    present: set[str] = set()
    for first in range(0, len(ids), AT_ONCE):
        few = ids[first : first + AT_ONCE]
        query = sa.select(column.step).where(column.run_id.in_(few)).distinct()
        present |= set(connection.execute(query).scalars())
    return present


def labels(connection: sa.Connection, ids: Sequence[str]) -> dict[str, dict[str, str]]:
    """The labels of each of these results."""
    labels: dict[str, dict[str, str]] = {identifier: {} for identifier in ids}
    for row in rows(connection, schema.labels, ids):
        labels[row["run_id"]][row["key"]] = row["value"]
    return labels


def environments(connection: sa.Connection, ids: Sequence[str]) -> dict[str, Environment]:
    """Return the environment of each result, as far as it is known."""
    result: dict[str, Environment] = {identifier: {} for identifier in ids}
    for row in rows(connection, schema.environments, ids):
        identifier = row.pop("run_id")
        known = {key: value for key, value in row.items() if value is not None}
        result[identifier] = cast(Environment, known)
    return result


def record(connection: sa.Connection, identifier: str) -> Record:
    """Return one result without its tables. Raises DamagedRow if it is malformed."""
    check_rows(connection, identifier)
    (row,) = rows(connection, runs, [identifier])
    if sha256(row["document"].encode()) != row["document_sha256"]:
        raise DamagedRow(identifier, altered(identifier))
    return Record(
        **row,
        labels=labels(connection, [identifier])[identifier],
        environment=environments(connection, [identifier])[identifier],
    )


def altered(identifier: str) -> str:
    """Return the message for a result whose document has another digest."""
    return f"runs.document of {identifier}: it does not match its checksum"


def rows_altered(identifier: str) -> str:
    """Return the message for a result whose rows have another checksum."""
    return f"the rows of {identifier}: they do not match their checksum"


def check_rows(connection: sa.Connection, identifier: str) -> None:
    """Raise DamagedRow if a result's rows do not match their checksum."""
    column = schema.checksums.c
    expected = connection.execute(sa.select(column.sha256).where(column.run_id == identifier))
    if checksums(connection, schema.metadata, [identifier])[identifier] != expected.scalar():
        raise DamagedRow(identifier, rows_altered(identifier))


def checksums(connection: sa.Connection, tables: sa.MetaData, ids: Sequence[str]) -> dict[str, str]:
    """Return the checksum of each result's rows as they are now.

    `tables` has the tables of the catalogue: during a migration, those of an earlier schema.
    """
    result: dict[str, dict[str, list[Mapping[str, Any]]]] = {identifier: {} for identifier in ids}
    for table in tables.sorted_tables:
        key = table.c.id if table.name == runs.name else table.c.get("run_id")
        if table.name == CHECKSUMS or key is None:
            continue
        apart = KEPT_APART.get(table.name, ())
        columns = [column for column in table.c if column.name not in apart]
        for row in connection.execute(sa.select(*columns).where(key.in_(ids))).mappings():
            # An index may say otherwise than its table, which `rows` reports.
            if row[key.name] in result:
                result[row[key.name]].setdefault(table.name, []).append(dict(row))
    return {identifier: checksum(rows) for identifier, rows in result.items()}


UNREADABLE = ""
"""Checksum of rows that a migration could not read, which no rows match."""
FEW = 50
"""Results whose rows are in memory at once."""


def write_checksums(connection: sa.Connection) -> None:
    """Replace the checksums of all results, at the end of a migration that changes rows."""
    tables = sa.MetaData()
    tables.reflect(connection)
    table = tables.tables[CHECKSUMS]
    connection.execute(table.delete())
    ids = [
        identifier
        for identifier in connection.execute(sa.select(tables.tables[runs.name].c.id)).scalars()
        if isinstance(identifier, str)
    ]
    for first in range(0, len(ids), FEW):
        few = ids[first : first + FEW]
        try:
            digests = checksums(connection, tables, few)
        except sa.exc.DBAPIError:
            # SQLite cannot read a damaged text; `headrace results check` names it.
            digests = {key: _checksum_if_readable(connection, tables, key) for key in few}
        connection.execute(
            table.insert(), [{"run_id": key, "sha256": digests[key]} for key in digests]
        )


def _checksum_if_readable(connection: sa.Connection, tables: sa.MetaData, identifier: str) -> str:
    try:
        return checksums(connection, tables, [identifier])[identifier]
    except sa.exc.DBAPIError:
        return UNREADABLE


def scenarios(connection: sa.Connection, ids: Sequence[str]) -> dict[str, str | None]:
    """Return the scenario of each of these results."""
    texts: dict[str, str | None] = {}
    for first in range(0, len(ids), AT_ONCE):
        query = sa.select(runs.c.id, runs.c.scenario)
        selected = connection.execute(query.where(runs.c.id.in_(ids[first : first + AT_ONCE])))
        texts |= {key: text if isinstance(text, str) else None for key, text in selected}
    return texts


def predecessors(connection: sa.Connection, ids: Sequence[str]) -> dict[str, str]:
    """Return the result before each of these results that has the same name and kind."""
    older: dict[str, str] = {}
    before = sa.func.lag(runs.c.id).over(
        partition_by=(runs.c.name, runs.c.kind), order_by=(runs.c.started, runs.c.id)
    )
    for first in range(0, len(ids), AT_ONCE):
        few = ids[first : first + AT_ONCE]
        names = sa.select(runs.c.name).where(runs.c.id.in_(few))
        every = sa.select(runs.c.id, before.label("before")).where(runs.c.name.in_(names))
        table = every.subquery()
        query = sa.select(table).where(table.c.id.in_(few), table.c.before.is_not(None))
        older |= {row.id: row.before for row in connection.execute(query)}
    return older


def contents(connection: sa.Connection, identifier: str) -> list[Content]:
    """Return the names and sizes of a result's tables."""
    return [
        Content(row["name"], row["bytes"], row["sha256"], None)
        for row in rows(connection, schema.contents, [identifier], without=("data",))
    ]


def content(connection: sa.Connection, identifier: str, name: str) -> Content | None:
    """Return one table of a result; None if there is none of that name."""
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
    """Return whether a result exists."""
    return (
        connection.execute(sa.select(runs.c.id).where(runs.c.id == identifier)).first() is not None
    )


def insert_rows(connection: sa.Connection, rows: Rows, same_document: bool) -> str | None:
    """Add a result's rows. Return the identifier of the same result instead if there is one."""
    if connection.dialect.name == "postgresql":
        # SQLite's transaction excludes others by itself.
        connection.execute(sa.select(sa.func.pg_advisory_xact_lock(INSERT_LOCK)))
    (run,) = rows["runs"]
    there = run["id"] if has(connection, run["id"]) else None
    if there is None and same_document:
        there = known(connection, run["document_sha256"])
    if there is None:
        for table, entries in rows.items():
            if entries:
                connection.execute(schema.metadata.tables[table].insert(), list(entries))
    return there


INSERT_LOCK = 0x4865616472616366
"""Key of a PostgreSQL advisory lock, chosen to be unlike that of other programs."""


def set_labels(
    connection: sa.Connection, identifier: str, labels: Mapping[str, str | None]
) -> None:
    """Set labels of a result, and remove those whose value is None.

    Raises DamagedRow if the result's rows are damaged: a new checksum would hide it.
    """
    own = schema.checksums.c.run_id == identifier
    # Another process may change labels of the same result.
    connection.execute(sa.select(schema.checksums).where(own).with_for_update())
    check_rows(connection, identifier)
    table = schema.labels
    of_it = table.c.run_id == identifier
    connection.execute(table.delete().where(of_it, table.c.key.in_(list(labels))))
    new = [
        {"run_id": identifier, "key": key, "value": value}
        for key, value in labels.items()
        if value is not None
    ]
    if new:
        connection.execute(table.insert(), new)
    digest = checksums(connection, schema.metadata, [identifier])[identifier]
    connection.execute(schema.checksums.update().where(own).values(sha256=digest))


def operations(connection: sa.Connection, chosen: Filter) -> Sequence[tuple[str, str]]:
    """Return the operations and figures that the matching results have, in alphabetical order."""
    column = schema.figures.c
    ids = _chosen(sa.select(runs.c.id), chosen)
    query = sa.select(column.operation, column.figure).where(column.run_id.in_(ids)).distinct()
    selected = connection.execute(query.order_by(column.operation, column.figure))
    return [(operation, figure) for operation, figure in selected]


def history(
    connection: sa.Connection, chosen: Filter, operation: str, figure: str
) -> Sequence[sa.Row[Any]]:
    """Return identifier, start, version, kind, host and value of a figure of the matching results,
    the oldest first."""
    column, there = schema.figures.c, schema.environments
    query = sa.select(
        runs.c.id, runs.c.started, runs.c.version, runs.c.kind, there.c.host, column.value
    )
    query = query.join(schema.figures, column.run_id == runs.c.id)
    query = query.outerjoin(there, there.c.run_id == runs.c.id)
    query = query.where(column.operation == operation, column.figure == figure)
    newest = _chosen(query, chosen).order_by(*NEWEST_FIRST).limit(chosen.limit)
    selected = connection.execute(newest).all()[::-1]
    for row in selected:
        if not isinstance(row.started, str) or not _is_timestamp(row.started):
            raise DamagedRow(row.id, f"runs.started of {row.id} = {row.started!r}")
        if not isinstance(row.value, int | float) or not math.isfinite(row.value):
            raise DamagedRow(row.id, f"figures.value of {row.id} = {row.value!r}")
    return selected


def names(connection: sa.Connection) -> Sequence[str]:
    """Return the names of all results, those of the newest first."""
    newest = sa.func.max(runs.c.started)
    query = sa.select(runs.c.name).group_by(runs.c.name).order_by(newest.desc(), runs.c.name)
    return connection.execute(query).scalars().all()


def remove(connection: sa.Connection, identifier: str) -> None:
    """Remove a result and its rows in all tables."""
    for table in schema.PARTS:
        connection.execute(table.delete().where(table.c.run_id == identifier))
    connection.execute(runs.delete().where(runs.c.id == identifier))
