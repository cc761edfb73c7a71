"""Alembic environment: runs the migrations on the given connection and transaction."""

from alembic import context

from headrace.store.version import VERSION_TABLE

context.configure(
    connection=context.config.attributes["connection"],
    version_table=VERSION_TABLE,
    transactional_ddl=True,
)
with context.begin_transaction():
    context.run_migrations()
