"""Add the calls of measurements, so that results of different calls are not merged."""

import sqlalchemy as sa
from alembic import op

revision = "0003"
down_revision = "0002"


def upgrade() -> None:
    """Add the column. Documents before this schema do not say it."""
    op.add_column("runs", sa.Column("calls", sa.Text))
