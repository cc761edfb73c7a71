"""Add the figures of each replication, so that results can be compared by them."""

import json
from collections.abc import Iterator
from typing import Any

import sqlalchemy as sa
from alembic import op

revision = "0002"
down_revision = "0001"


def upgrade() -> None:
    """Make the table, and fills it from the documents."""
    repetitions = op.create_table(
        "repetitions",
        sa.Column("run_id", sa.Text, sa.ForeignKey("runs.id"), primary_key=True),
        sa.Column("number", sa.Integer, primary_key=True),
        sa.Column("seed", sa.BigInteger),
        sa.Column("operation", sa.Text, primary_key=True),
        sa.Column("figure", sa.Text, primary_key=True),
        sa.Column("value", sa.Double, nullable=False),
    )
    connection = op.get_bind()
    runs = sa.table("runs", sa.column("id", sa.Text), sa.column("document", sa.Text))
    for identifier in connection.execute(sa.select(runs.c.id)).scalars().all():
        query = sa.select(runs.c.document).where(runs.c.id == identifier)
        try:
            document = json.loads(connection.execute(query).scalar_one())
            rows = [{"run_id": identifier, **row} for row in _rows(document)]
        except (json.JSONDecodeError, AttributeError, LookupError, RecursionError, TypeError):
            # `headrace results check` names a document that was damaged.
            continue
        if rows:
            connection.execute(repetitions.insert(), rows)


def _rows(document: dict[str, Any]) -> Iterator[dict[str, Any]]:
    """Return the figures of each replication in a document of the earlier schema."""
    for number, replication in enumerate(document.get("replications", ()), 1):
        common = {"number": number, "seed": replication["seed"]}
        for operation, value in replication["throughput"].items():
            figure = {"operation": operation, "figure": "throughput_bytes_per_s"}
            if value is not None:
                yield common | figure | {"value": value}
        if replication["mean_latency"] is not None:
            figure = {"operation": "all", "figure": "latency_mean_s"}
            yield common | figure | {"value": replication["mean_latency"]}
