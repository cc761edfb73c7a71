"""The store itself: add, find, list, read, remove."""

from collections.abc import Iterable, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import asdict
from datetime import UTC, datetime
from functools import cached_property, partial
from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING, Any

from headrace.environment import started_of
from headrace.store.checksums import TABLE as CHECKSUMS
from headrace.store.checksums import checksum
from headrace.store.errors import StoreError
from headrace.store.figures import chosen_pair, figures, repetitions, step_figures
from headrace.store.insertion import NewResult, insert
from headrace.store.location import Directory, Location, location
from headrace.store.parquet_tables import (
    checked,
    from_parquet,
    publish_files,
    read_file,
    remove_files,
    write_files,
)
from headrace.store.record import Record, as_json, sha256

if TYPE_CHECKING:
    import polars as pl
    import sqlalchemy as sa

    from headrace.progress_events import OnStep
    from headrace.store.comparison import Comparison
    from headrace.store.database import Database
    from headrace.store.integrity import Checked
    from headrace.store.listing import Listed, ShownResult, ShownStep
    from headrace.store.queries import Content, Filter


class Store:
    """A store of results.

    An identifier may be abbreviated, or `last`. Every method raises StoreFailure if the store
    cannot be reached, read or written, and StoreError for an invalid request.

    Examples:
        >>> store = hr.store.open()
        >>> scenario = hr.load("scenarios/striped-read.toml")
        >>> before = hr.run(scenario).keep(labels={"disk": "old"})
        >>> after = hr.run(scenario.with_({"servers.count": 8})).keep()
        >>> store.find("last") == after, store.names(), store.known([before]) == {before}
        (True, ['striped read'], True)
        >>> store.list(labels={"disk": "old"})["name"].to_list()
        ['striped read']
        >>> store.set_labels(before, {"note": "before the upgrade"}) == before
        True
        >>> store.shown(before).labels["note"], store.record(before).seed
        ('before the upgrade', 1)
        >>> sorted(content.name for content in store.contents(before))
        ['latency_distribution', 'series', 'server_series']
        >>> store.table(before, "series").columns[:3], store.parquet(before, "series")[:4]
        (['seed', 'time_s', 'window_s'], b'PAR1')
        >>> store.remove(after) == after, store.check().results
        (True, 1)
    """

    def __init__(self, where: Location) -> None:
        self.location = where

    def add(
        self,
        document: Mapping[str, Any],
        tables: "Mapping[str, pl.DataFrame] | None" = None,
        *,
        kind: str = "simulated",
        started: datetime | None = None,
        labels: Mapping[str, str] | None = None,
        host: Mapping[str, str] | None = None,
        environment: Mapping[str, Any] | None = None,
    ) -> str:
        """Save a result in the store.

        Parameters:
            document: All figures of the result.
            tables: Its tables, by name.
            kind: One of `headrace.kinds.STORED`.
            started: Start of the run; by default now.
            labels: Labels by which the result can be found.
            host: `machine` and `system`; by default those of this host.
            environment: Environment of a document that does not contain it.

        Returns:
            The identifier of the result.

        Raises:
            StoreError: if the document lacks a required field.
            StoreFailure: if the store cannot be written.

        Examples:
            >>> result = hr.run("scenarios/striped-read.toml")
            >>> store = hr.store.open()
            >>> identifier = store.add(result.document, result.saved_tables, labels={"disk": "new"})
            >>> store.record(identifier).labels
            {'disk': 'new'}
        """
        record = Record.of(
            document,
            kind=kind,
            # The document's own start is that of the measurement, not of the command.
            started=started or started_of(document) or datetime.now(UTC),
            labels=labels,
            host=host,
            environment=environment,
        )
        return self.keep(record, _as_parquet(tables))[0]

    def add_once(
        self,
        document: Mapping[str, Any],
        tables: "Mapping[str, pl.DataFrame] | None" = None,
        *,
        kind: str = "simulated",
        started: datetime | None,
        labels: Mapping[str, str] | None = None,
        host: Mapping[str, str] | None = None,
        environment: Mapping[str, Any] | None = None,
    ) -> tuple[str, bool]:
        """Save a result unless there is one with the same document; give its identifier, and
        whether it is new.

        Examples:
            >>> document = hr.run("scenarios/striped-read.toml").document
            >>> store = hr.store.open()
            >>> store.add_once(document, started=None)[1], store.add_once(document, started=None)[1]
            (True, False)
            >>> store.with_document(document) == store.find("last")
            True
        """
        record = Record.of(
            document,
            kind=kind,
            started=started or datetime.now(UTC),
            labels=labels,
            host=host,
            environment=environment,
        )
        return self.keep(record, _as_parquet(tables), same_document=True)

    def keep(
        self, record: Record, contents: Mapping[str, bytes], *, same_document: bool = False
    ) -> tuple[str, bool]:
        """Save a record with its tables in Parquet, as `keep_all`.

        Examples:
            >>> identifier = hr.run("scenarios/striped-read.toml").keep()
            >>> record, copies = hr.store.open().record(identifier), hr.store.open("copies")
            >>> copies.keep(record, {}) == (identifier, True), copies.keep_all([(record, {})])[0][1]
            (True, False)
        """
        return self.keep_all([(record, contents)], same_document=same_document)[0]

    def keep_all(
        self, results: Sequence[tuple[Record, Mapping[str, bytes]]], *, same_document: bool = False
    ) -> Sequence[tuple[str, bool]]:
        """Save records of different identifiers with their tables in Parquet: all or none.

        Returns the identifier of each, and whether the result is new to the store. A result of the
        same identifier is the same, and with `same_document` one of the same document: then that
        one stays as it is.
        """
        new: list[NewResult] = []
        unpublished: dict[Path, Path] = {}
        try:
            # Files first, rows in a transaction after them: a process that is killed in between
            # leaves files without a result, never a result without its files.
            for record, contents in results:
                files = self._files(record.id) if contents else None
                rows = _rows(record, contents, files is None)
                if files is None:
                    new.append(NewResult(rows, lambda: None))
                else:
                    unpublished[files] = written = write_files(files, contents)
                    new.append(NewResult(rows, partial(publish_files, written, files)))
            known = insert(self.location, new, same_document)
        except Exception:
            # The transaction may have failed at its end, when they had been moved.
            for files, written in unpublished.items():
                if not written.exists():
                    remove_files(files)
            raise
        finally:
            for written in unpublished.values():
                remove_files(written)
        return [
            (there or record.id, there is None)
            for (record, _), there in zip(results, known, strict=True)
        ]

    def list(
        self,
        *,
        kind: str | None = None,
        name: str | None = None,
        labels: Mapping[str, str] | None = None,
        since: str | datetime | None = None,
        limit: int | None = None,
        calls: str | None = None,
        skip: int = 0,
        host: str | None = None,
        file_system: str | None = None,
        device: str | None = None,
        search: str | None = None,
    ) -> "pl.DataFrame":
        """Return the results that match all conditions, newest first.

        Parameters:
            kind: One of `headrace.kinds.STORED`.
            name: Name of the scenario.
            labels: Labels that the results have.
            since: Earliest start: a datetime, a date as text, or an age such as `7 d`.
            limit: Largest number of results.
            calls: Calls of the measurement: one of `record.CALLS`.
            skip: Number of newest results to skip.
            host: Host of the measurement.
            file_system: Type of the file system, such as `ext4`.
            device: A part of the name, model or kind of the device.
            search: A part of the name, of a label, or of the environment.

        Returns:
            One row for each result.

        Raises:
            StoreError: if a condition is invalid.
        """
        from headrace.store import frames, queries
        from headrace.store.filters import make_filter

        with self._database.reading() as connection:
            chosen = make_filter(
                kind,
                name,
                labels,
                since,
                limit,
                calls,
                skip,
                host=host,
                file_system=file_system,
                device=device,
                search=search,
            )
            return frames.runs(connection, queries.identifiers(connection, chosen))

    def listed(self, chosen: "Filter") -> "Listed":
        """The results that are wanted, with their labels and figures.

        Examples:
            >>> identifier = hr.run("scenarios/striped-read.toml").keep()
            >>> listed = hr.store.open().listed(hr.store.make_filter(name="striped read"))
            >>> [entry.name for entry in listed.entries]
            ['striped read']
        """
        from headrace.store import listing

        with self._database.reading() as connection:
            return listing.several(connection, chosen)

    def shown(self, text: str) -> "ShownResult":
        """Return a result without its tables."""
        from headrace.store import listing, queries

        with self._database.reading() as connection:
            return listing.one(connection, queries.found(connection, text))

    def shown_step(self, text: str, step: str) -> "ShownStep":
        """Return a step of a load sweep. Raises StoreError if there is no such step.

        Examples:
            >>> import json
            >>> from pathlib import Path
            >>> document = json.loads(Path("tests/data/documents/load-sweep.json").read_text())
            >>> store = hr.store.open()
            >>> identifier = store.add(document, kind="load-sweep")
            >>> store.shown_step(identifier, "50/s").step["achieved_per_second"]
            45.0
        """
        from headrace.store import listing, queries

        with self._database.reading() as connection:
            return listing.step(connection, queries.found(connection, text), step)

    def figures(self, ids: Sequence[str] | None = None) -> "pl.DataFrame":
        """The catalogued figures of these results, or of all, the newest first: throughput,
        rates and latency.

        Examples:
            >>> identifier = hr.run("scenarios/striped-read.toml").keep()
            >>> hr.store.open().figures([identifier])["figure"].unique().sort().to_list()[:2]
            ['latency_mean_s', 'latency_p50_s']
        """
        from headrace.store import frames, queries

        with self._database.reading() as connection:
            if ids is None:
                return frames.figures(connection, queries.identifiers(connection, queries.Filter()))
            return frames.figures(connection, [queries.found(connection, key) for key in ids])

    def step_figures(self, ids: Sequence[str]) -> "pl.DataFrame":
        """Return the catalogued figures of the steps of load sweeps by operation: throughput,
        rates, service time (`latency_…`) and response time. `repetition` is 0 for all repetitions
        together.

        Examples:
            >>> import json
            >>> from pathlib import Path
            >>> document = json.loads(Path("tests/data/documents/load-sweep.json").read_text())
            >>> store = hr.store.open()
            >>> figures = store.step_figures([store.add(document, kind="load-sweep")])
            >>> figures.columns
            ['id', 'step', 'repetition', 'operation', 'figure', 'value']
        """
        from headrace.store import frames, queries

        with self._database.reading() as connection:
            return frames.step_figures(connection, [queries.found(connection, key) for key in ids])

    def compare(
        self,
        ids: Sequence[str] = (),
        *,
        by: str | None = None,
        kind: str | None = None,
        name: str | None = None,
        labels: Mapping[str, str] | None = None,
        since: str | datetime | None = None,
        calls: str | None = None,
        step: str | None = None,
        host: str | None = None,
        file_system: str | None = None,
        device: str | None = None,
        search: str | None = None,
    ) -> "Comparison":
        """Compare results, each with the first; or those that `list` returns for the same
        conditions, grouped by `version` or by `date`. Results measured by different or unknown
        calls are in groups of their own. With `step`, compare that step of load sweeps by
        operation.

        Examples:
            >>> scenario = hr.load("scenarios/striped-read.toml")
            >>> ids = [hr.run(scenario.with_({"servers.count": count})).keep() for count in (4, 8)]
            >>> table = hr.store.open().compare(ids).table
            >>> rows = table.filter(operation="read", figure="throughput_bytes_per_s")
            >>> rows["ratio"].round(2).to_list()
            [None, 1.96]
        """
        from headrace.store import comparison, histogram_merge
        from headrace.store.filters import compared

        groups = compared(
            ids,
            by,
            kind,
            name,
            labels,
            since,
            calls,
            host=host,
            file_system=file_system,
            device=device,
            search=search,
        )
        with self._database.reading() as connection:
            if groups is None:
                return comparison.of_results(connection, ids, step)
            return comparison.of_groups(
                connection,
                *groups,
                lambda several: histogram_merge.merge_histograms(self, several, step),
                step,
            )

    def set_labels(self, text: str, labels: Mapping[str, str | None]) -> str:
        """Set labels of a result, remove those whose value is None, and return its identifier.

        The label `note` is its note. Raises StoreError for an empty key, or characters that a
        database cannot store.
        """
        from headrace.store import queries

        for label in (*labels, *(value for value in labels.values() if value is not None)):
            if "\0" in label:
                raise StoreError(f"{label!r}: expected a label without zero bytes")
        if "" in labels:
            raise StoreError("a label without a key: expected KEY=VALUE")
        with self._database.writing() as connection:
            identifier = queries.found(connection, text)
            queries.set_labels(connection, identifier, labels)
        return identifier

    def names(self) -> Sequence[str]:
        """Return the names of all results, those of the newest first."""
        from headrace.store import queries

        with self._database.reading() as connection:
            return queries.names(connection)

    def operations(self, chosen: "Filter") -> Sequence[tuple[str, str]]:
        """Return the operations and figures that the matching results have.

        Examples:
            >>> identifier = hr.run("scenarios/striped-read.toml").keep()
            >>> chosen = hr.store.make_filter(name="striped read")
            >>> hr.store.open().operations(chosen)[0]
            ('all', 'latency_mean_s')
            >>> f"{hr.store.open().history(chosen, 'all', 'latency_mean_s')['value'][0]:.4f} s"
            '0.2793 s'
        """
        from headrace.store import queries

        with self._database.reading() as connection:
            return queries.operations(connection, chosen)

    def history(
        self, chosen: "Filter", operation: str | None = None, figure: str | None = None
    ) -> "pl.DataFrame":
        """Return a figure of the matching results over time, the oldest first.

        Parameters:
            chosen: Conditions; of more results than its limit the newest are taken.
            operation: An operation, a group of operations, or `all`; by default the first that the
                results have.
            figure: A catalogued figure, such as `latency_p99_s`; by default their first.

        Returns:
            Identifier, start, version, kind, host and value of each result that has the figure,
            and the operation and figure.
        """
        from headrace.store import frames, queries

        with self._database.reading() as connection:
            if operation is None or figure is None:
                pairs = queries.operations(connection, chosen)
                pair = chosen_pair(pairs, operation, figure) or ("", "")
                operation, figure = operation or pair[0], figure or pair[1]
            return frames.history(connection, chosen, operation, figure)

    def find(self, text: str) -> str:
        """Return the full identifier."""
        from headrace.store import queries

        with self._database.reading() as connection:
            return queries.found(connection, text)

    def known(self, identifiers: Iterable[str]) -> set[str]:
        """Return those of these full identifiers that have a result."""
        from headrace.store import queries

        with self._database.reading() as connection:
            return {identifier for identifier in identifiers if queries.has(connection, identifier)}

    def with_document(self, document: Mapping[str, Any]) -> str | None:
        """The identifier of a result with exactly these figures, if there is one."""
        from headrace.store import queries

        with self._database.reading() as connection:
            return queries.known(connection, sha256(as_json(document).encode()))

    def export(
        self, ids: Sequence[str], path: str | PathLike[str], on_progress: "OnStep | None" = None
    ) -> Sequence[str]:
        """Write results with their tables to one file, atomically, for `import_archive`; return
        their identifiers.

        Examples:
            >>> identifier = hr.run("scenarios/striped-read.toml").keep()
            >>> hr.store.open().export(["last"], "results.zip") == [identifier]
            True
            >>> hr.store.open("copies").import_archive("results.zip") == {identifier: True}
            True
        """
        from headrace.store.archive import write_archive

        return write_archive(self, ids, Path(path), on_progress)

    def export_csv(self, ids: Sequence[str], path: str | PathLike[str]) -> Sequence[str]:
        """Write the catalogued figures of results to a CSV file, one a row, atomically; return
        their identifiers.

        Examples:
            >>> identifier = hr.run("scenarios/striped-read.toml").keep()
            >>> hr.store.open().export_csv(["last"], "results.csv") == [identifier]
            True
        """
        from headrace.store.csv_table import write_csv

        return write_csv(self, ids, Path(path))

    def import_archive(
        self,
        path: str | PathLike[str],
        on_progress: "OnStep | None" = None,
        labels: Mapping[str, str] | None = None,
    ) -> dict[str, bool]:
        """Import the results in a file of `export`; return each identifier, and whether it is new.
        Nothing is imported from an incomplete file. New results have the given labels, too."""
        from headrace.store.archive import read_archive

        return read_archive(self, Path(path), on_progress, labels)

    def record(self, text: str) -> Record:
        """All of a result but its tables."""
        from headrace.store import queries

        with self._database.reading() as connection:
            return queries.record(connection, queries.found(connection, text))

    def contents(self, text: str) -> "Sequence[Content]":
        """Return the names and sizes of a result's tables."""
        from headrace.store import queries

        with self._database.reading() as connection:
            return queries.contents(connection, queries.found(connection, text))

    def table(self, text: str, name: str) -> "pl.DataFrame":
        """One of a result's tables."""
        identifier = self.find(text)
        return from_parquet(self.parquet(identifier, name), f'table "{name}" of {identifier}')

    def parquet(self, text: str, name: str) -> bytes:
        """One of a result's tables, as the content of a Parquet file."""
        from headrace.store import queries

        with self._database.reading() as connection:
            identifier = queries.found(connection, text)
            content = queries.content(connection, identifier, name)
        if content is None:
            has = ", ".join(entry.name for entry in self.contents(identifier)) or "none"
            raise StoreError(f'{identifier} has no table "{name}": expected one of: {has}')
        if content.data is not None:
            return checked(content.data, content.sha256, f'table "{name}" of {identifier}')
        directory = self._files(identifier)
        assert directory is not None
        path, data = read_file(directory, name)
        return checked(data, content.sha256, path)

    def check(self, on_progress: "OnStep | None" = None) -> "Checked":
        """Check the catalogue, all documents and all tables, and removes tables that no result
        has."""
        from headrace.store import integrity

        return integrity.check(self, on_progress)

    def reading(self) -> "AbstractContextManager[sa.Connection]":
        """A transaction to read the catalogue in.

        Examples:
            >>> import sqlalchemy as sa
            >>> identifier = hr.run("scenarios/striped-read.toml").keep()
            >>> with hr.store.open().reading() as connection:
            ...     connection.scalar(sa.text("select count(*) from runs"))
            1
        """
        return self._database.reading()

    def remove(self, text: str) -> str:
        """Remove a result and return its identifier."""
        from headrace.store import queries

        with self._database.writing() as connection:
            identifier = queries.found(connection, text)
            queries.remove(connection, identifier)
        files = self._files(identifier)
        if files is not None and files.exists():
            # Another process may have imported the result again by now.
            with self._database.writing() as connection:
                if not queries.has(connection, identifier):
                    remove_files(files)
        return identifier

    @cached_property
    def _database(self) -> "Database":
        from headrace.store.database import Database

        return Database(self.location)

    def _files(self, identifier: str) -> Path | None:
        """Return the directory of a result's tables, if they are in files."""
        if isinstance(self.location, Directory):
            return self.location.tables / identifier
        return None

    def __repr__(self) -> str:
        return f"<Store at {self.location}>"


def open(where: str | PathLike[str] | None = None) -> Store:
    """Open a store of results.

    Parameters:
        where: A directory or a PostgreSQL URL. By default the value of HEADRACE_STORE, else the
            user's data directory.

    Returns:
        The store. It is created with its first result.

    Raises:
        StoreError: if `where` is neither a directory nor a PostgreSQL URL.

    Examples:
        >>> identifier = hr.run("scenarios/striped-read.toml").keep()
        >>> hr.store.open().record(identifier).kind
        'simulated'
    """
    return Store(location(where))


def _as_parquet(tables: "Mapping[str, pl.DataFrame] | None") -> dict[str, bytes]:
    from headrace.parquet import as_parquet

    return {name: as_parquet(table) for name, table in (tables or {}).items()}


def _rows(
    record: Record, contents: Mapping[str, bytes], inside: bool
) -> dict[str, list[dict[str, Any]]]:
    """A record as rows of the catalogue's tables; `inside`, with the tables themselves."""
    run = {"run_id": record.id}
    fields = asdict(record)
    labels, environment = fields.pop("labels"), fields.pop("environment")
    document = record.contents
    rows = {
        "runs": [fields],
        "environments": [run | environment] if environment else [],
        "labels": [run | {"key": key, "value": value} for key, value in labels.items()],
        "figures": [run | figure._asdict() for figure in figures(document)],
        "repetitions": [
            run | {"number": number, "seed": repetition.seed} | figure._asdict()
            for number, repetition in enumerate(repetitions(document), 1)
            for figure in repetition.figures
        ],
        "step_figures": [run | step_figure._asdict() for step_figure in step_figures(document)],
        "contents": [
            run
            | {"name": name, "bytes": len(content), "sha256": sha256(content)}
            | ({"data": content} if inside else {})
            for name, content in contents.items()
        ],
    }
    return rows | {CHECKSUMS: [run | {"sha256": checksum(rows)}]}
