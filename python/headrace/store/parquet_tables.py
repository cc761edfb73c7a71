"""Tables of results in Parquet: in files beside a catalogue in SQLite, else in the database.

A database on a server holds the tables itself, so that all its clients reach them, and one
transaction covers them and the rest.
"""

import contextlib
import re
import secrets
import shutil
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING

from headrace.files import atomic_file
from headrace.store.errors import StoreError, StoreFailure
from headrace.store.identifier import PATTERN
from headrace.store.record import sha256

if TYPE_CHECKING:
    import polars as pl

UNPUBLISHED = re.compile(rf"\.{PATTERN.pattern}\.[0-9a-f]{{16}}")
"""Directories with tables that were not moved to their place, or that were replaced."""


def from_parquet(content: bytes, subject: str, rows: int | None = None) -> "pl.DataFrame":
    """Return the table in the content of a Parquet file, or its first rows. Raises StoreError if
    there is none."""
    # It takes a quarter of a second to import, which a list of results needs not.
    from headrace.parquet import read_parquet

    try:
        return read_parquet(content, rows)
    except ValueError as error:
        reason = str(error).removeprefix("table: ")
        raise StoreError(f"{subject}: expected a table in Parquet: {reason}") from None


def checked(content: bytes, digest: str, subject: object) -> bytes:
    """Return the content if its digest is right. Raises StoreFailure if it is not."""
    if sha256(content) != digest:
        raise StoreFailure(f"{subject}: it does not match its checksum: expected SHA-256 {digest}")
    return content


def write_files(directory: Path, contents: Mapping[str, bytes]) -> Path:
    """Write each table to a file in a new directory beside `directory`, and return that.

    `publish_files` moves it to its place. If the writing fails, nothing is left.
    """
    unpublished = _unpublished(directory)
    unpublished.mkdir(parents=True)
    try:
        for name, content in contents.items():
            with atomic_file(_file(unpublished, name)) as partial:
                partial.write_bytes(content)
    except BaseException:
        remove_files(unpublished)
        raise
    return unpublished


def publish_files(unpublished: Path, directory: Path) -> None:
    """Move tables to their place.

    The caller holds the catalogue's write lock, and no result has tables there. Existing files were
    left by a killed process, and are removed.
    """
    if directory.exists():
        replaced = _unpublished(directory)
        directory.rename(replaced)
        remove_files(replaced)
    unpublished.rename(directory)


def _unpublished(directory: Path) -> Path:
    return directory.with_name(f".{directory.name}.{secrets.token_hex(8)}")


def read_file(directory: Path, name: str) -> tuple[Path, bytes]:
    """A table's file and its content. Raises StoreFailure if it cannot be read."""
    path = _file(directory, name)
    try:
        return path, path.read_bytes()
    except OSError as error:
        raise StoreFailure(f"{path}: {(error.strerror or str(error)).lower()}") from None


def remove_files(directory: Path) -> None:
    """Remove a result's tables, if they exist."""
    with contextlib.suppress(FileNotFoundError):
        shutil.rmtree(directory)


def _file(directory: Path, name: str) -> Path:
    return directory / f"{name}.parquet"
