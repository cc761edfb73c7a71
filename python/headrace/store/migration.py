"""Brings a catalogue to the schema of this version."""

from alembic import command
from alembic.config import Config
from alembic.script import ScriptDirectory
from sqlalchemy import Connection

from headrace.store.errors import StoreError
from headrace.store.version import HEAD


def upgrade(connection: Connection, was: str | None, where: object, to: str = HEAD) -> None:
    """Run the migrations from schema `was` on, in the connection's transaction.

    Raises StoreError, with nothing changed, if a newer version of Headrace made the schema.
    """
    config = Config()
    config.set_main_option("script_location", "headrace.store:migrations")
    config.attributes["connection"] = connection
    known = {script.revision for script in ScriptDirectory.from_config(config).walk_revisions()}
    if was is not None and was not in known:
        raise StoreError(
            f'{where}: its schema is "{was}", and this version of Headrace knows up to "{HEAD}": '
            "use a newer Headrace, or another store by HEADRACE_STORE"
        )
    command.upgrade(config, to)
