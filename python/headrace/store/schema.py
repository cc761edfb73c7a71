"""The catalogue's tables, as they are after the last migration."""

from sqlalchemy import (
    BigInteger,
    Column,
    Double,
    ForeignKey,
    Index,
    Integer,
    LargeBinary,
    MetaData,
    Table,
    Text,
)

metadata = MetaData()

runs = Table(
    "runs",
    metadata,
    Column("id", Text, primary_key=True),
    Column("kind", Text, nullable=False),
    Column("name", Text, nullable=False),
    Column("scenario", Text),
    Column("scenario_sha256", Text),
    Column("seed", BigInteger),
    Column("version", Text, nullable=False),
    Column("machine", Text, nullable=False),
    Column("system", Text, nullable=False),
    # As text, for SQLite has no type for it; ISO 8601 is understood by both databases.
    Column("started", Text, nullable=False),
    Column("duration_s", Double),
    Column("document", Text, nullable=False),
    Column("document_sha256", Text, nullable=False),
    # NULL where none are made, as in a simulation, or where it is not said.
    Column("calls", Text),
    Index("runs_by_start", "started"),
    Index("runs_by_document", "document_sha256"),
    Index("runs_by_name", "name"),
)

environments = Table(
    "environments",
    metadata,
    Column("run_id", Text, ForeignKey("runs.id"), primary_key=True),
    # NULL where it does not apply or is not known.
    Column("host", Text),
    Column("client_hosts", Integer),
    Column("kernel", Text),
    Column("processor", Text),
    Column("processors", Integer),
    Column("memory_bytes", BigInteger),
    Column("directory", Text),
    Column("file_system", Text),
    Column("mount_point", Text),
    Column("mount_source", Text),
    Column("mount_options", Text),
    Column("device", Text),
    Column("device_model", Text),
    Column("device_kind", Text),
    Column("device_bytes", BigInteger),
    Index("environments_by_host", "host"),
)

labels = Table(
    "labels",
    metadata,
    Column("run_id", Text, ForeignKey("runs.id"), primary_key=True),
    Column("key", Text, primary_key=True),
    Column("value", Text, nullable=False),
)

figures = Table(
    "figures",
    metadata,
    Column("run_id", Text, ForeignKey("runs.id"), primary_key=True),
    Column("operation", Text, primary_key=True),
    Column("figure", Text, primary_key=True),
    Column("value", Double, nullable=False),
)

repetitions = Table(
    "repetitions",
    metadata,
    Column("run_id", Text, ForeignKey("runs.id"), primary_key=True),
    # From 1.
    Column("number", Integer, primary_key=True),
    Column("seed", BigInteger),
    Column("operation", Text, primary_key=True),
    Column("figure", Text, primary_key=True),
    Column("value", Double, nullable=False),
)

step_figures = Table(
    "step_figures",
    metadata,
    Column("run_id", Text, ForeignKey("runs.id"), primary_key=True),
    Column("step", Text, primary_key=True),
    # From 1; 0 of all together.
    Column("repetition", Integer, primary_key=True),
    Column("operation", Text, primary_key=True),
    Column("figure", Text, primary_key=True),
    Column("value", Double, nullable=False),
    # Its key is nearly all of a row, which would be there twice.
    sqlite_with_rowid=False,
)

contents = Table(
    "contents",
    metadata,
    Column("run_id", Text, ForeignKey("runs.id"), primary_key=True),
    Column("name", Text, primary_key=True),
    Column("bytes", BigInteger, nullable=False),
    Column("sha256", Text, nullable=False),
    # Parquet; NULL where it is in a file.
    Column("data", LargeBinary),
)

checksums = Table(
    "checksums",
    metadata,
    Column("run_id", Text, ForeignKey("runs.id"), primary_key=True),
    # Of all rows of the result in the other tables (`headrace.store.checksums`).
    Column("sha256", Text, nullable=False),
)

PARTS = (environments, labels, figures, repetitions, step_figures, contents, checksums)
"""Tables of a run that are removed with it."""
