"""Add a checksum of each result's rows, so that damage of any column is found."""

import sqlalchemy as sa
from alembic import op

from headrace.store.queries import write_checksums

revision = "0007"
down_revision = "0006"


def upgrade() -> None:
    """Create the table, and fill it from the rows as they are."""
    op.create_table(
        "checksums",
        sa.Column("run_id", sa.Text, sa.ForeignKey("runs.id"), primary_key=True),
        sa.Column("sha256", sa.Text, nullable=False),
        if_not_exists=True,
    )
    op.execute("DELETE FROM checksums")
    write_checksums(op.get_bind())
