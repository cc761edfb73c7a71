"""What Alembic runs the migrations by: on the connection and in the transaction it is given."""

from alembic import context

from headrace.store.version import VERSION_TABLE

context.configure(
    connection=context.config.attributes["connection"],
    version_table=VERSION_TABLE,
    transactional_ddl=True,
)
with context.begin_transaction():
    context.run_migrations()
