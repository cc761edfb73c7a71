"""Runs with their labels, figures and tables."""

import sqlalchemy as sa
from alembic import op

revision = "0001"
down_revision = None


def upgrade() -> None:
    """Make the first catalogue."""
    op.create_table(
        "runs",
        sa.Column("id", sa.Text, primary_key=True),
        sa.Column("kind", sa.Text, nullable=False),
        sa.Column("name", sa.Text, nullable=False),
        sa.Column("scenario", sa.Text),
        sa.Column("scenario_sha256", sa.Text),
        sa.Column("seed", sa.BigInteger),
        sa.Column("version", sa.Text, nullable=False),
        sa.Column("machine", sa.Text, nullable=False),
        sa.Column("system", sa.Text, nullable=False),
        sa.Column("started", sa.Text, nullable=False),
        sa.Column("duration_s", sa.Double),
        sa.Column("document", sa.Text, nullable=False),
        sa.Column("document_sha256", sa.Text, nullable=False),
    )
    op.create_index("runs_by_start", "runs", ["started"])
    op.create_index("runs_by_name", "runs", ["name"])
    op.create_table(
        "labels",
        sa.Column("run_id", sa.Text, sa.ForeignKey("runs.id"), primary_key=True),
        sa.Column("key", sa.Text, primary_key=True),
        sa.Column("value", sa.Text, nullable=False),
    )
    op.create_table(
        "figures",
        sa.Column("run_id", sa.Text, sa.ForeignKey("runs.id"), primary_key=True),
        sa.Column("operation", sa.Text, primary_key=True),
        sa.Column("figure", sa.Text, primary_key=True),
        sa.Column("value", sa.Double, nullable=False),
    )
    op.create_table(
        "contents",
        sa.Column("run_id", sa.Text, sa.ForeignKey("runs.id"), primary_key=True),
        sa.Column("name", sa.Text, primary_key=True),
        sa.Column("bytes", sa.BigInteger, nullable=False),
        sa.Column("sha256", sa.Text, nullable=False),
        sa.Column("data", sa.LargeBinary),
    )
