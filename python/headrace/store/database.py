"""Connections to the catalogue, with the schema as this version has it."""

import contextlib
import sqlite3
from collections.abc import Iterator
from functools import lru_cache
from pathlib import Path
from tempfile import TemporaryDirectory

import sqlalchemy as sa
from sqlalchemy.exc import DBAPIError, SQLAlchemyError

from headrace.store import schema
from headrace.store.errors import StoreFailure
from headrace.store.insertion import connect, sqlite_failure
from headrace.store.location import Directory, Location, Server
from headrace.store.version import HEAD, PATIENCE_S, VERSION_TABLE

UPGRADE_LOCK = 0x4865616472616365
"""Key of a PostgreSQL advisory lock, chosen to be unlike that of other programs."""

PRIMARY = 0xFF
"""Mask of the primary bits in an extended error code of SQLite."""
NOT_WRITABLE = (
    sqlite3.SQLITE_PERM,
    sqlite3.SQLITE_READONLY,
    sqlite3.SQLITE_FULL,
    sqlite3.SQLITE_CANTOPEN,
)
"""SQLite's errors for a file or a directory that can be read only, and for a full disk."""

version_table = sa.table(VERSION_TABLE, sa.column("version_num", sa.Text))


class Database:
    """The catalogue's database."""

    def __init__(self, location: Location) -> None:
        self.location = location

    @contextlib.contextmanager
    def reading(self) -> Iterator[sa.Connection]:
        """A transaction to read in. A catalogue that does not exist yet is empty; one of an older
        schema that cannot be written is upgraded in a copy.

        Raises StoreFailure if it cannot be read, StoreError if it is of a newer version.
        """
        with self._one_line_failure():
            engine = self._engine
            if isinstance(self.location, Server):
                # PostgreSQL's default lets each statement see what others have written since the
                # last one: rows and their checksum would be of two states.
                engine = engine.execution_options(isolation_level="REPEATABLE READ")
            if isinstance(self.location, Directory) and not self.location.catalogue.exists():
                with _empty() as connection:
                    yield connection
                return
            with engine.connect() as connection:
                version = self._version(connection)
                if version == HEAD:
                    yield connection
                    return
            if version is None:
                with _empty() as connection:
                    yield connection
            elif self._upgraded():
                with engine.connect() as connection:
                    yield connection
            else:
                assert isinstance(self.location, Directory)
                with _upgraded_copy(self.location) as connection:
                    yield connection

    @contextlib.contextmanager
    def writing(self) -> Iterator[sa.Connection]:
        """A transaction to write in; the catalogue is made or upgraded if need be.

        Raises as `reading`.
        """
        with self._one_line_failure(), self._writing() as connection:
            yield connection

    @contextlib.contextmanager
    def _writing(self) -> Iterator[sa.Connection]:
        if isinstance(self.location, Directory):
            self.location.path.mkdir(parents=True, exist_ok=True)
        engine = self._engine.execution_options(writes=True)
        with engine.begin() as connection:
            if self._version(connection) != HEAD:
                self._upgrade(connection)
            yield connection

    def _upgraded(self) -> bool:
        """Upgrade the catalogue; false if it is a file that cannot be written."""
        try:
            with self._writing():
                return True
        except DBAPIError as error:
            code = getattr(error.orig, "sqlite_errorcode", 0) & PRIMARY
            if code not in NOT_WRITABLE:
                raise
            return False

    def _upgrade(self, connection: sa.Connection) -> None:
        # Several processes may come to this at once; SQLite's transaction excludes the others.
        if connection.dialect.name == "postgresql":
            connection.execute(sa.select(sa.func.pg_advisory_xact_lock(UPGRADE_LOCK)))
        version = self._version(connection)
        if version == HEAD:
            return
        # It takes a tenth of a second to import.
        from headrace.store.migration import upgrade

        upgrade(connection, version, self.location)

    def _version(self, connection: sa.Connection) -> str | None:
        """Return the catalogue's schema; None if there is none yet.

        Raises StoreFailure if there are tables of an unknown schema.
        """
        tables = sa.inspect(connection)
        # Another process may make all tables between two of these questions: those that are there
        # at the first one have their version at the second.
        has_runs = tables.has_table(schema.runs.name)
        version: str | None = None
        if tables.has_table(VERSION_TABLE):
            version = connection.execute(sa.select(version_table.c.version_num)).scalar()
        if version is None and has_runs:
            raise StoreFailure(
                f"{self.location}: the catalogue is damaged: it does not say which schema it has:"
                " move it away, or name another store by HEADRACE_STORE"
            )
        return version

    @property
    def _engine(self) -> sa.Engine:
        if isinstance(self.location, Server):
            return _postgresql(self.location)
        return _sqlite(self.location.catalogue)

    @contextlib.contextmanager
    def _one_line_failure(self) -> Iterator[None]:
        """Return the database's error as a StoreFailure with one line."""
        try:
            yield
        except DBAPIError as error:
            raise self._failure(error.orig or error) from error
        except SQLAlchemyError as error:
            raise self._failure(error) from error
        except UnicodeDecodeError as error:
            # SQLite's messages quote names of a damaged schema.
            raise StoreFailure(f"{self.location}: the catalogue is damaged: {error}") from error

    def _failure(self, error: BaseException) -> StoreFailure:
        """Return the StoreFailure for a database's error, with its location."""
        if isinstance(self.location, Directory):
            return sqlite_failure(self.location.catalogue, error)
        return StoreFailure(f"{self.location}: {' '.join(str(error).split())}")


@contextlib.contextmanager
def _upgraded_copy(original: Directory) -> Iterator[sa.Connection]:
    """A connection to a copy of a catalogue, with the schema of this version."""
    with TemporaryDirectory(prefix="headrace-") as folder:
        copy = Directory(Path(folder))
        with (
            contextlib.closing(connect(original.catalogue)) as source,
            contextlib.closing(sqlite3.connect(copy.catalogue)) as target,
        ):
            source.backup(target)
        database = Database(copy)
        with database._writing():
            pass
        with database._engine.connect() as connection:
            yield connection


def _empty() -> contextlib.AbstractContextManager[sa.Connection]:
    """Return a catalogue without results, in place of one that does not exist yet."""
    engine = sa.create_engine("sqlite://")
    schema.metadata.create_all(engine)
    return engine.begin()


# An engine remembers the statements that it has compiled. It keeps no connection.
@lru_cache(8)
def _sqlite(catalogue: Path) -> sa.Engine:
    engine = sa.create_engine(
        "sqlite://", creator=lambda: connect(catalogue), poolclass=sa.NullPool
    )

    @sa.event.listens_for(engine, "begin")
    def begin(connection: sa.Connection) -> None:
        writes = connection.get_execution_options().get("writes", False)
        connection.exec_driver_sql("BEGIN IMMEDIATE" if writes else "BEGIN")

    return engine


@lru_cache(8)
def _postgresql(server: Server) -> sa.Engine:
    try:
        url = sa.make_url(server.url)
        if "connect_timeout" not in url.query:
            url = url.update_query_dict({"connect_timeout": str(PATIENCE_S)})
        return sa.create_engine(url, poolclass=sa.NullPool)
    except ModuleNotFoundError as error:
        raise StoreFailure(
            f"{server}: PostgreSQL needs a driver ({error.name}): "
            "pip install 'headrace[postgresql]'"
        ) from None
