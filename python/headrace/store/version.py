"""Which schema this version of Headrace writes."""

HEAD = "0006"
"""The last migration."""
VERSION_TABLE = "headrace_schema"
"""Where a database says which schema it has; Alembic's own name may be another program's."""
PATIENCE_S = 10
"""How long a connection waits for others that write, and for a server to answer."""
