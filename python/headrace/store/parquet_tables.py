"""Results' tables, in Parquet: in files beside a catalogue in SQLite, else in the database.

A database on a server has them itself: who reaches the server reaches them, from any host, and
they come and go in one transaction with the rest.
"""

import contextlib
import shutil
from collections.abc import Mapping
from pathlib import Path

import polars as pl

from headrace.files import whole_file
from headrace.parquet import read_parquet
from headrace.store.errors import StoreError, StoreFailure
from headrace.store.record import sha256


def from_parquet(content: bytes, what: str) -> pl.DataFrame:
    """The table in the content of a Parquet file. Raises StoreError if there is none."""
    try:
        return read_parquet(content)
    except (pl.exceptions.PolarsError, OSError) as error:
        reason = str(error).split("\n")[0]
        raise StoreError(f"{what}: expected a table in Parquet: {reason}") from None


def checked(content: bytes, digest: str, what: object) -> bytes:
    """A content that is what it was. Raises StoreFailure if it is not."""
    if sha256(content) != digest:
        raise StoreFailure(f"{what}: it is not what was stored there: expected SHA-256 {digest}")
    return content


def write_files(directory: Path, contents: Mapping[str, bytes]) -> None:
    """Writes each table to a file. If that fails, nothing is left."""
    directory.mkdir(parents=True)
    try:
        for name, content in contents.items():
            with whole_file(_file(directory, name)) as partial:
                partial.write_bytes(content)
    except BaseException:
        remove_files(directory)
        raise


def read_file(directory: Path, name: str) -> tuple[Path, bytes]:
    """A table's file and its content. Raises StoreFailure if it cannot be read."""
    path = _file(directory, name)
    try:
        return path, path.read_bytes()
    except OSError as error:
        raise StoreFailure(f"{path}: {(error.strerror or str(error)).lower()}") from None


def remove_files(directory: Path) -> None:
    """Removes a result's tables, as far as they are there."""
    with contextlib.suppress(FileNotFoundError):
        shutil.rmtree(directory)


def _file(directory: Path, name: str) -> Path:
    return directory / f"{name}.parquet"
