"""Rename the kind `ladder` to `load-sweep`; documents stay as they were saved."""

import sqlalchemy as sa
from alembic import op

revision = "0006"
down_revision = "0005"


def upgrade() -> None:
    """Rename the kind in the catalogue's rows."""
    runs = sa.table("runs", sa.column("kind", sa.Text))
    op.execute(runs.update().where(runs.c.kind == "ladder").values(kind="load-sweep"))
