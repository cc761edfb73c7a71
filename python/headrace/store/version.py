"""Version of the schema that this version of Headrace writes."""

HEAD = "0007"
"""The last migration."""
VERSION_TABLE = "headrace_schema"
"""Table with a database's schema version; Alembic's default name may belong to another program."""
PATIENCE_S = 10
"""Seconds that a connection waits for other writers, and for a server's answer."""
