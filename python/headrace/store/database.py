"""Connections to the catalogue, with the schema as this version has it."""

import contextlib
from collections.abc import Iterator
from functools import cached_property

import sqlalchemy as sa
from sqlalchemy.exc import DBAPIError, SQLAlchemyError

from headrace.store import schema
from headrace.store.errors import StoreFailure
from headrace.store.insertion import connect, sqlite_failure
from headrace.store.location import Directory, Location, Server
from headrace.store.version import HEAD, PATIENCE_S, VERSION_TABLE

UPGRADE_LOCK = 0x4865616472616365
"""Of advisory locks in PostgreSQL: any number that other programs will not take."""

version_table = sa.table(VERSION_TABLE, sa.column("version_num", sa.Text))


class Database:
    """The catalogue's database."""

    def __init__(self, location: Location) -> None:
        self.location = location

    @contextlib.contextmanager
    def reading(self) -> Iterator[sa.Connection]:
        """A transaction to read in. A catalogue that does not exist yet is empty.

        Raises StoreFailure if it cannot be read, StoreError if it is of a newer version.
        """
        with self._told():
            if isinstance(self.location, Directory) and not self.location.catalogue.exists():
                with _empty() as connection:
                    yield connection
                return
            with self._engine.connect() as connection:
                found = _version(connection)
                if found == HEAD:
                    yield connection
                    return
            with _empty() if found is None else self.writing() as connection:
                yield connection

    @contextlib.contextmanager
    def writing(self) -> Iterator[sa.Connection]:
        """A transaction to write in; the catalogue is made or upgraded if need be.

        Raises as `reading`.
        """
        with self._told():
            if isinstance(self.location, Directory):
                self.location.path.mkdir(parents=True, exist_ok=True)
            engine = self._engine.execution_options(writes=True)
            with engine.begin() as connection:
                if _version(connection) != HEAD:
                    self._upgrade(connection)
                yield connection

    def _upgrade(self, connection: sa.Connection) -> None:
        # Several processes may come to this at once; SQLite's transaction excludes the others.
        if connection.dialect.name == "postgresql":
            connection.execute(sa.select(sa.func.pg_advisory_xact_lock(UPGRADE_LOCK)))
        found = _version(connection)
        if found == HEAD:
            return
        # It takes a tenth of a second to import.
        from headrace.store.migration import upgrade

        upgrade(connection, found, self.location)

    @cached_property
    def _engine(self) -> sa.Engine:
        if isinstance(self.location, Server):
            return _postgresql(self.location)
        catalogue = self.location.catalogue
        engine = sa.create_engine(
            "sqlite://", creator=lambda: connect(catalogue), poolclass=sa.NullPool
        )

        @sa.event.listens_for(engine, "begin")
        def begin(connection: sa.Connection) -> None:
            writes = connection.get_execution_options().get("writes", False)
            connection.exec_driver_sql("BEGIN IMMEDIATE" if writes else "BEGIN")

        return engine

    @contextlib.contextmanager
    def _told(self) -> Iterator[None]:
        """What the database says, as a StoreFailure in one line."""
        try:
            yield
        except DBAPIError as error:
            raise self._failure(error.orig or error) from error
        except SQLAlchemyError as error:
            raise self._failure(error) from error

    def _failure(self, error: BaseException) -> StoreFailure:
        """A database's error, told with the place."""
        if isinstance(self.location, Directory):
            return sqlite_failure(self.location.catalogue, error)
        return StoreFailure(f"{self.location}: {' '.join(str(error).split())}")


def _empty() -> contextlib.AbstractContextManager[sa.Connection]:
    """A catalogue without results, to be asked what one is asked that does not exist yet."""
    engine = sa.create_engine("sqlite://")
    schema.metadata.create_all(engine)
    return engine.begin()


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


def _version(connection: sa.Connection) -> str | None:
    """The catalogue's schema; none if there is none yet."""
    if not sa.inspect(connection).has_table(VERSION_TABLE):
        return None
    found: str | None = connection.execute(sa.select(version_table.c.version_num)).scalar()
    return found
