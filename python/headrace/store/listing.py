"""What the catalogue says, as JSON."""

import json
from collections.abc import Sequence
from typing import Any

import sqlalchemy as sa

from headrace.store import queries, schema
from headrace.store.frames import LARGE, figures


def several(connection: sa.Connection, wanted: queries.Wanted) -> list[dict[str, Any]]:
    """Results with their labels and figures, the newest first."""
    return entries(connection, queries.identifiers(connection, wanted))


def entries(connection: sa.Connection, ids: Sequence[str]) -> list[dict[str, Any]]:
    """These results with their labels and figures."""
    labels = queries.labels(connection, ids)
    told: dict[str, dict[str, dict[str, float]]] = {identifier: {} for identifier in ids}
    for identifier, operation, figure, value in figures(connection, ids).iter_rows():
        told[identifier].setdefault(operation, {})[figure] = value
    return [
        row | {"labels": labels[row["id"]], "figures": told[row["id"]]}
        for row in queries.rows(connection, schema.runs, ids, without=LARGE)
    ]


def one(connection: sa.Connection, identifier: str) -> dict[str, Any]:
    """A result with its document, and which tables it has."""
    (entry,) = entries(connection, [identifier])
    tables = {
        content.name: {"bytes": content.size, "sha256": content.sha256}
        for content in queries.contents(connection, identifier)
    }
    document = json.loads(queries.record(connection, identifier).document)
    return entry | {"tables": tables, "document": document}
