"""What the catalogue says, as JSON."""

import json
from collections.abc import Sequence
from typing import Any

import sqlalchemy as sa

from headrace.store import queries, schema
from headrace.store.errors import StoreError
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


def step(connection: sa.Connection, identifier: str, name: str) -> dict[str, Any]:
    """A step of a ladder, as its document has it. Raises StoreError if it has no such step."""
    document = queries.record(connection, identifier).contents
    steps = document.get("steps")
    steps = steps if isinstance(steps, list) else []
    named = [it for it in steps if isinstance(it, dict) and "name" in it]
    found = next((it for it in named if it["name"] == name), None)
    if steps and not named:
        raise StoreError(
            f'--step "{name}": the steps of {identifier} have no names, as version'
            f" {document.get('version')} kept them: expected no --step, to see the whole ladder"
        )
    if found is None:
        told = ", ".join(str(it["name"]) for it in named) or "a ladder, which it is not"
        raise StoreError(f'--step "{name}": {identifier} has none of it: expected {told}')
    return {"id": identifier, "name": document["scenario"]["name"], "step": found}
