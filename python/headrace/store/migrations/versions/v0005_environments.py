"""Add the environments of results, so that results can be found and compared by them."""

import json
from collections.abc import Mapping

import sqlalchemy as sa
from alembic import op

revision = "0005"
down_revision = "0004"


def upgrade() -> None:
    """Create the table, and fill it from earlier documents: the host and the file system of most
    benchmarks."""
    environments = op.create_table(
        "environments",
        sa.Column("run_id", sa.Text, sa.ForeignKey("runs.id"), primary_key=True),
        sa.Column("host", sa.Text),
        sa.Column("client_hosts", sa.Integer),
        sa.Column("kernel", sa.Text),
        sa.Column("processor", sa.Text),
        sa.Column("processors", sa.Integer),
        sa.Column("memory_bytes", sa.BigInteger),
        sa.Column("directory", sa.Text),
        sa.Column("file_system", sa.Text),
        sa.Column("mount_point", sa.Text),
        sa.Column("mount_source", sa.Text),
        sa.Column("mount_options", sa.Text),
        sa.Column("device", sa.Text),
        sa.Column("device_model", sa.Text),
        sa.Column("device_kind", sa.Text),
        sa.Column("device_bytes", sa.BigInteger),
    )
    op.create_index("environments_by_host", "environments", ["host"])
    op.create_index("runs_by_document", "runs", ["document_sha256"])
    connection = op.get_bind()
    runs = sa.table("runs", *(sa.column(name, sa.Text) for name in ("id", "kind", "document")))
    measured = sa.select(runs.c.id).where(runs.c.kind != "simulated")
    for identifier in connection.execute(measured).scalars().all():
        query = sa.select(runs.c.document).where(runs.c.id == identifier)
        row = _place(connection.execute(query).scalar_one())
        if row:
            connection.execute(environments.insert(), [{"run_id": identifier, **row}])


def _place(text: object) -> dict[str, str]:
    """Return the place in a document of an earlier version."""
    try:
        place = json.loads(text)["place"]  # type: ignore[arg-type]
    except (json.JSONDecodeError, LookupError, RecursionError, TypeError):
        # Most documents have none; `headrace results check` names one that is damaged.
        return {}
    if not isinstance(place, Mapping):
        return {}
    settings = {key: place.get(key) for key in ("host", "file_system")}
    return {key: value for key, value in settings.items() if isinstance(value, str)}
