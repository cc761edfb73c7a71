"""Contents of the catalogue as JSON."""

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import msgspec
import sqlalchemy as sa

from headrace.store import queries, rows, schema
from headrace.store.errors import StoreError
from headrace.store.figures import FIGURES, most_changed
from headrace.store.queries import LARGE
from headrace.store.record import changed_fields, scenario_fields

PLACE = {figure: number for number, figure in enumerate(FIGURES)}


class Change(msgspec.Struct, frozen=True):
    """Difference of a result from the one before it of the same name and kind."""

    previous: str
    """Identifier of the result before it."""
    fields: Mapping[str, Sequence[Any]]
    """Former and present value of each field of the scenario that differs, by path."""
    operation: str = ""
    figure: str = ""
    ratio: float | None = None
    """The figure of the operation, over that of the result before it."""


class ResultEntry(rows.RunRow, frozen=True, kw_only=True):
    """A result with its labels and figures."""

    environment: Mapping[str, Any]
    """Environment by `headrace.environment.KEYS`, as far as it is known."""
    labels: Mapping[str, str]
    figures: Mapping[str, Mapping[str, float]]
    """Catalogued figures by operation, then by name."""
    change: Change | None = None
    """None for the first result of its name and kind."""


class TableEntry(msgspec.Struct, frozen=True):
    """A table of a result."""

    bytes: int
    sha256: str


class ShownResult(ResultEntry, frozen=True, kw_only=True):
    """A result with its document."""

    tables: Mapping[str, TableEntry]
    document: Mapping[str, Any]


class ShownStep(msgspec.Struct, frozen=True):
    """A step of a load sweep."""

    id: str
    name: str
    """Name of the scenario."""
    step: Mapping[str, Any]


class Listed(NamedTuple):
    """A page of the results that are wanted."""

    entries: Sequence[ResultEntry]
    """Results with their labels and figures, newest first."""
    total: int
    """Number of results on all pages."""
    damaged: Sequence[str]
    """Damage of results that this page omits, one line each."""


def several(connection: sa.Connection, chosen: queries.Filter) -> Listed:
    """The results that are wanted. Those whose rows are damaged are left out, and named."""
    ids = queries.identifiers(connection, chosen)
    tables = (schema.runs, schema.environments, schema.labels, schema.figures)
    damaged = [
        row
        for table in tables
        for row in queries.checked_rows(connection, table, ids, without=LARGE)[1]
    ]
    bad = {row.run_id for row in damaged}
    whole = [identifier for identifier in ids if identifier not in bad]
    return Listed(
        entries(connection, whole), queries.count(connection, chosen), [row.what for row in damaged]
    )


def entries(connection: sa.Connection, ids: Sequence[str]) -> list[ResultEntry]:
    """These results with their labels and figures. Raises DamagedRow."""
    labels = queries.labels(connection, ids)
    environments = queries.environments(connection, ids)
    told: dict[str, dict[str, dict[str, float]]] = {identifier: {} for identifier in ids}
    figures = rows.figures(connection, ids)
    # A later version may have catalogued other figures.
    figures.sort(key=lambda figure: (figure.operation, PLACE.get(figure.figure, len(PLACE))))
    for row in figures:
        told[row.run_id].setdefault(row.operation, {})[row.figure] = row.value
    changes = _changes(connection, told)
    return [
        ResultEntry(
            **msgspec.structs.asdict(run),
            environment=environments[run.id],
            labels=labels[run.id],
            figures=told[run.id],
            change=changes.get(run.id),
        )
        for run in rows.runs(connection, ids)
    ]


def _changes(
    connection: sa.Connection, figures: Mapping[str, Mapping[str, Mapping[str, float]]]
) -> dict[str, Change]:
    """Return the change of each result that has a predecessor, by the results' figures."""
    before = queries.predecessors(connection, list(figures))
    texts = queries.scenarios(connection, list({*before, *before.values()}))
    former: dict[str, dict[tuple[str, str], float]] = {}
    old = list(dict.fromkeys(before.values()))
    for row in queries.checked_rows(connection, schema.figures, old)[0]:
        former.setdefault(row["run_id"], {})[row["operation"], row["figure"]] = row["value"]
    changes = {}
    for identifier, previous in before.items():
        pair = texts[previous], texts[identifier]
        fields = {} if pair[0] == pair[1] else changed_fields([*map(scenario_fields, pair)])
        own = {
            (operation, figure): value
            for operation, by_figure in figures[identifier].items()
            for figure, value in by_figure.items()
        }
        was = former.get(previous, {})
        ratios = {key: own[key] / was[key] for key in own.keys() & was.keys() if was[key]}
        key = most_changed(ratios)
        changes[identifier] = Change(
            previous, fields, *(() if key is None else (*key, ratios[key]))
        )
    return changes


def one(connection: sa.Connection, identifier: str) -> ShownResult:
    """A result with its document, and which tables it has."""
    (entry,) = entries(connection, [identifier])
    tables = {
        content.name: TableEntry(content.size, content.sha256)
        for content in queries.contents(connection, identifier)
    }
    document = queries.record(connection, identifier).contents
    return ShownResult(**msgspec.structs.asdict(entry), tables=tables, document=document)


def step(connection: sa.Connection, identifier: str, name: str) -> ShownStep:
    """Return a step of a load sweep. Raises StoreError if there is no such step."""
    document = queries.record(connection, identifier).contents
    steps = document.get("steps")
    steps = steps if isinstance(steps, list) else []
    named = [entry for entry in steps if isinstance(entry, dict) and "name" in entry]
    match = next((entry for entry in named if entry["name"] == name), None)
    if steps and not named:
        raise StoreError(
            f'--step "{name}": the steps of {identifier} have no names, as version'
            f" {document.get('version')} saved them: expected no --step"
        )
    if match is None:
        told = ", ".join(str(entry["name"]) for entry in named) or "a load sweep"
        raise StoreError(f'--step "{name}": {identifier} has no such step: expected {told}')
    return ShownStep(identifier, document["scenario"]["name"], match)
