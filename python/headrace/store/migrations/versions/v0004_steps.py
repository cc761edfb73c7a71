"""Add the figures of each step of a load sweep by operation."""

import sqlalchemy as sa
from alembic import op

revision = "0004"
down_revision = "0003"


def upgrade() -> None:
    """Create the table. Earlier load sweeps have no latencies by operation."""
    op.create_table(
        "step_figures",
        sa.Column("run_id", sa.Text, sa.ForeignKey("runs.id"), primary_key=True),
        sa.Column("step", sa.Text, primary_key=True),
        sa.Column("repetition", sa.Integer, primary_key=True),
        sa.Column("operation", sa.Text, primary_key=True),
        sa.Column("figure", sa.Text, primary_key=True),
        sa.Column("value", sa.Double, nullable=False),
        sqlite_with_rowid=False,
    )
