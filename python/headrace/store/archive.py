"""Results in one file for exchange: a zip archive of JSON and Parquet.

- headrace-results.json: the list of results, with the digest of each result's description
- ID/result.json: a result's fields in the catalogue, and its document
- ID/NAME.parquet: its tables
"""

import contextlib
import io
import json
import re
import zipfile
import zlib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import IO, Any, NamedTuple, Self

import msgspec
import psutil

from headrace.document_io import is_stream, read_bytes
from headrace.environment import check as check_environment
from headrace.fields import WrongField, malformation, to_document
from headrace.files import atomic_file
from headrace.histograms import check
from headrace.progress_events import OnStep
from headrace.quantities import size
from headrace.store.catalogue import Store
from headrace.store.documents import check_values
from headrace.store.errors import StoreError
from headrace.store.identifier import PATTERN
from headrace.store.listing import TableEntry
from headrace.store.record import Record, moment, sha256
from headrace.store.saved_documents import check_types
from headrace.store.table_size import read_limited_table, read_small_tables

FORMAT = 1
LISTED = "headrace-results.json"
DIGESTS = "sha256"
"""Key of the digest of each result.json in the list; earlier archives lack it."""
MAGIC = b"PK\x03\x04"
HISTOGRAMS = "histograms"
"""Table that is checked, because results are merged by it."""
EPOCH = (1980, 1, 1, 0, 0, 0)
"""Date of every entry, so that the same results give the same archive."""
NAME = re.compile("[a-z][a-z0-9_]{0,62}")
"""Valid names of tables."""
LARGEST_ENTRY = 1 << 30
"""Bytes of one entry: more is no table of Headrace's."""
LARGEST_DOCUMENT = 1 << 28
"""Bytes of a JSON document, of which Python's objects take some ten times as much."""
LARGEST_RATIO = 100
"""Bytes of all entries for each byte of the archive. Documents of results, most of which are
figures, are compressed to a fifth; Parquet is not compressed again."""
NEVER_TOO_LARGE = 1 << 24
"""Bytes that may be compressed to any size."""
MOST_HELD = 1 << 26
"""Bytes of results that stay in memory between the check and the import, and of those that one
transaction imports."""
MOST_TOGETHER = 100
"""Results that one transaction imports. It blocks other processes that write."""
SHARE_OF_MEMORY = 4
"""Largest part, as 1 in this many, of the available memory for one entry."""


def write_archive(
    store: Store, ids: Sequence[str], path: Path, on_progress: OnStep | None = None
) -> Sequence[str]:
    """Write results with their tables to a file and return their identifiers."""
    whole = list(dict.fromkeys(map(store.find, ids)))
    with atomic_file(path) as partial, zipfile.ZipFile(partial, "w") as archive:
        digests = {it: sha256(_json(to_document(_entry_and_tables(store, it)[0]))) for it in whole}
        listed = {"format": FORMAT, "results": whole, DIGESTS: digests}
        _write(archive, LISTED, _json(listed))
        for number, identifier in enumerate(whole):
            if on_progress is not None:
                on_progress(number, len(whole), identifier)
            entry, tables = _entry_and_tables(store, identifier)
            _write(archive, _result(identifier), _json(to_document(entry)))
            for name, content in tables.items():
                _write(archive, _table(identifier, name), content, zipfile.ZIP_STORED)
    return whole


def read_archive(
    store: Store,
    path: Path,
    on_progress: OnStep | None = None,
    labels: Mapping[str, str] | None = None,
) -> dict[str, bool]:
    """Import the results in a file; return each identifier, and whether it is new to the store.

    New results have the given labels in place of those of the same keys.

    Raises StoreError, and imports none, if the file is incomplete.
    """
    with _opened(path) as archive:
        _check_sizes(archive, path)
        ids, digests = _listed(archive, path)
        expected, bytes_held = {LISTED}, 0
        held: dict[str, ReadResult] = {}
        for number, identifier in enumerate(ids):
            if on_progress is not None:
                on_progress(number, 2 * len(ids), f"checking {identifier}")
            result = _read_result(archive, path, identifier, digests)
            _check_tables(path, result)
            expected |= {_result(identifier), *(_table(identifier, name) for name in result.tables)}
            bytes_held += result.bytes
            if bytes_held <= MOST_HELD:
                held[identifier] = result
        _nothing_else(archive, path, expected)
        there = store.known(ids)
        new = dict.fromkeys(ids, False)
        batch: list[ReadResult] = []

        def keep_batch() -> None:
            # Another process may have imported one by now.
            new.update(store.keep_all([(pair.record, pair.tables) for pair in batch]))
            batch.clear()

        for number, identifier in enumerate(new, len(ids)):
            if on_progress is not None:
                on_progress(number, 2 * len(ids), identifier)
            if identifier not in there:
                if identifier not in held:
                    held[identifier] = _read_result(archive, path, identifier, digests)
                result = held.pop(identifier)
                record = result.record
                record = replace(record, labels={**record.labels, **(labels or {})})
                batch.append(result._replace(record=record))
                if len(batch) == MOST_TOGETHER or sum(pair.bytes for pair in batch) > MOST_HELD:
                    keep_batch()
        if batch:
            keep_batch()
        return new


class ReadResult(NamedTuple):
    """A result of an archive."""

    record: Record
    tables: Mapping[str, bytes]
    """Its tables in Parquet."""

    @property
    def bytes(self) -> int:
        """Its size."""
        return len(self.record.document) + sum(map(len, self.tables.values()))


def _entry_and_tables(store: Store, identifier: str) -> "tuple[ArchiveEntry, dict[str, bytes]]":
    """Return the archive's entry of a result, and its tables."""
    names = [content.name for content in store.contents(identifier)]
    tables = {name: store.parquet(identifier, name) for name in names}
    return ArchiveEntry.of(store.record(identifier), tables), tables


def is_archive(path: Path) -> bool:
    """Return whether a file begins like an archive. Raises OSError if it cannot be read."""
    if is_stream(path):
        return read_bytes(path).startswith(MAGIC)
    with path.open("rb") as file:
        return file.read(len(MAGIC)) == MAGIC


class HostEntry(msgspec.Struct, frozen=True):
    """The host of a result."""

    machine: str
    system: str


class ArchiveEntry(msgspec.Struct, frozen=True, kw_only=True):
    """A result in an archive: what is not in its document, and the document."""

    id: str
    kind: str
    started: str
    labels: Mapping[str, str]
    host: HostEntry
    environment: Mapping[str, Any]
    tables: Mapping[str, TableEntry]
    document: Mapping[str, Any]

    @classmethod
    def of(cls, record: Record, tables: Mapping[str, bytes]) -> Self:
        """Return the entry of a record."""
        return cls(
            id=record.id,
            kind=record.kind,
            started=record.started,
            labels=record.labels,
            host=HostEntry(record.machine, record.system),
            environment=record.environment,
            tables={name: TableEntry(len(table), sha256(table)) for name, table in tables.items()},
            document=record.contents,
        )


def _write(
    archive: zipfile.ZipFile, name: str, content: bytes, how: int = zipfile.ZIP_DEFLATED
) -> None:
    archive.writestr(zipfile.ZipInfo(name, EPOCH), content, how)


def _json(content: Any) -> bytes:
    return (json.dumps(content, allow_nan=False, indent=1) + "\n").encode()


def _result(identifier: str) -> str:
    return f"{identifier}/result.json"


def _table(identifier: str, name: str) -> str:
    return f"{identifier}/{name}.parquet"


@contextlib.contextmanager
def _opened(path: Path) -> Iterator[zipfile.ZipFile]:
    try:
        with zipfile.ZipFile(io.BytesIO(read_bytes(path)) if is_stream(path) else path) as archive:
            yield archive
    except (zipfile.BadZipFile, zlib.error, EOFError, NotImplementedError) as error:
        raise _broken(path, str(error)) from None


def _broken(path: Path, why: str) -> StoreError:
    return StoreError(f"{path}: expected results as `headrace results export` writes them: {why}")


def _read(archive: zipfile.ZipFile, path: Path, name: str) -> bytes:
    try:
        stated = archive.getinfo(name)
        entry: IO[bytes] = archive.open(stated)
    except (KeyError, RuntimeError) as error:
        raise _broken(path, str(error.args[0])) from None
    with entry:
        # Without a size, zipfile expands everything, whatever size is stated.
        return entry.read(stated.file_size)


def _check_sizes(archive: zipfile.ZipFile, path: Path) -> None:
    """Raise StoreError for an archive that expands to more than results do, or than memory has
    room for. The sizes are those that the archive states: no more than these is ever read."""
    entries = archive.infolist()
    total, packed = (
        sum(member.file_size for member in entries),
        len(read_bytes(path)) if is_stream(path) else path.stat().st_size,
    )
    if total > max(NEVER_TOO_LARGE, LARGEST_RATIO * packed):
        raise _broken(
            path,
            f"its {size(packed)} expand to {size(total)}, and those of results to no more than"
            f" {LARGEST_RATIO} times as much",
        )
    memory = psutil.virtual_memory().available // SHARE_OF_MEMORY
    for entry in entries:
        is_document = entry.filename.endswith(".json")
        largest = LARGEST_DOCUMENT if is_document else LARGEST_ENTRY
        if entry.file_size > largest:
            raise _broken(
                path, f"{entry.filename} expands to {size(entry.file_size)}, above {size(largest)}"
            )
        needed = entry.file_size * (10 if is_document else 1)
        if needed > memory:
            raise StoreError(
                f"{path}: {entry.filename} takes about {size(needed)} of memory, and a quarter of"
                f" what is available is {size(memory)}: import it on a machine with more"
            )


def _document(
    archive: zipfile.ZipFile, path: Path, name: str, digest: str | None = None
) -> dict[str, Any]:
    read = _read(archive, path, name)
    if digest is not None and sha256(read) != digest:
        raise _broken(path, f"{name} does not match its checksum")
    try:
        content = json.loads(read)
    except (ValueError, RecursionError) as error:
        raise _broken(path, f"{name}: {malformation(error)}") from None
    if not isinstance(content, dict):
        raise _broken(path, f"{name} is not a JSON object")
    return content


def _listed(archive: zipfile.ZipFile, path: Path) -> tuple[list[str], Mapping[str, str] | None]:
    """Return the listed results, and the digests of their entries if the archive has them."""
    listed = _document(archive, path, LISTED)
    if listed.get("format") != FORMAT:
        raise _broken(
            path, f"its format is {listed.get('format')}, and this version reads {FORMAT}"
        )
    ids = listed.get("results")
    if not isinstance(ids, list) or not all(map(_is_identifier, ids)):
        raise _broken(path, f"{LISTED} lists no results")
    digests = listed.get(DIGESTS)
    if DIGESTS in listed and not (isinstance(digests, dict) and set(digests) == set(ids)):
        raise _broken(path, f"{LISTED} lacks digests of its results")
    return ids, digests


def _nothing_else(archive: zipfile.ZipFile, path: Path, expected: set[str]) -> None:
    """Raise StoreError for entries that belong to no result, as where one was taken out of the
    list."""
    for name in archive.namelist():
        if name not in expected and not name.endswith("/"):
            raise _broken(path, f"{name!r} belongs to no result in it")


def _is_identifier(value: Any) -> bool:
    return isinstance(value, str) and PATTERN.fullmatch(value) is not None


def _read_result(
    archive: zipfile.ZipFile, path: Path, identifier: str, digests: Mapping[str, str] | None
) -> ReadResult:
    """Return a result in an archive."""
    name = _result(identifier)
    entry = _document(archive, path, name, None if digests is None else str(digests[identifier]))
    document, labels, host, tables = (
        _part(entry, path, name, key) for key in ("document", "labels", "host", "tables")
    )
    # Archives of earlier versions have none.
    environment = entry.get("environment")
    if not all(isinstance(text, str) for text in (*labels.values(), *host.values())):
        raise _broken(path, f"{name}: its labels or its host are not text")
    if "id" in entry and entry["id"] != identifier:
        raise _broken(path, f"{name} belongs to another result")
    try:
        check_values({key: value for key, value in entry.items() if key != "document"})
        check_types(document | {"kind": str(entry.get("kind"))})
        check_environment("environment", environment)
        record = Record.of(
            document,
            kind=str(entry.get("kind")),
            started=moment(str(entry.get("started"))),
            labels=labels,
            host=host,
            environment=environment,
        )
    except (StoreError, ValueError, OverflowError, RecursionError, WrongField) as error:
        raise _broken(path, f"{name}: {error}") from None
    for table in tables:
        if not NAME.fullmatch(table):
            raise _broken(path, f'{identifier} has a table "{table}"')
    contents = {key: _table_file(archive, path, tables, identifier, key) for key in tables}
    return ReadResult(replace(record, id=identifier), contents)


def _part(entry: dict[str, Any], path: Path, name: str, key: str) -> dict[str, Any]:
    part = entry.get(key)
    if not isinstance(part, dict):
        raise _broken(path, f"{name} lacks its {key}")
    return part


def _check_tables(path: Path, result: ReadResult) -> None:
    """Raise StoreError unless all tables of a result can be read."""
    tables = read_small_tables(list(result.tables.values()))
    for number, (name, content) in enumerate(result.tables.items()):
        file = _table(result.record.id, name)
        table = tables[number] if tables else read_limited_table(content, f"{path}: {file}")
        if name == HISTOGRAMS:
            try:
                check(table)
            except ValueError as error:
                raise _broken(path, f"{file}: {error}") from None


def _table_file(
    archive: zipfile.ZipFile, path: Path, tables: Mapping[str, Any], identifier: str, name: str
) -> bytes:
    """Return a table as it is in the archive, if that is as its result says."""
    content = _read(archive, path, _table(identifier, name))
    description = tables[name]
    digest = description.get("sha256") if isinstance(description, dict) else None
    if sha256(content) != digest:
        raise _broken(path, f"{_table(identifier, name)} does not match its checksum")
    return content
