"""Parquet files."""

import contextlib
import io
import os
import re
from collections.abc import Iterator
from pathlib import Path
from typing import BinaryIO

import polars as pl

from headrace import interruption
from headrace.files import whole_file

interruption.after_polars()

SYSTEM_ERROR = re.compile(r"\(os error (\d+)\)")


def as_parquet(frame: pl.DataFrame) -> bytes:
    """A table as the content of a Parquet file."""
    written = io.BytesIO()
    frame.write_parquet(written)
    return written.getvalue()


def read_parquet(content: bytes) -> pl.DataFrame:
    """The table in the content of a Parquet file.

    Raises PolarsError or OSError if there is none.
    """
    # Polars calls Python in the midst, where it expects no exception.
    with interruption.held():
        return pl.read_parquet(io.BytesIO(content))


@contextlib.contextmanager
def parquet_file(path: Path) -> Iterator[BinaryIO]:
    """A file for polars to write to, as `whole_file` gives it.

    Raises OSError where polars has an error of its own for what the system refuses.
    """
    with whole_file(path) as partial, partial.open("wb") as file, polars_errors(path):
        yield file


@contextlib.contextmanager
def polars_errors(path: Path) -> Iterator[None]:
    """Raises OSError where polars has an error of its own for what the system refuses."""
    try:
        yield
    except pl.exceptions.PolarsError as error:
        number = SYSTEM_ERROR.search(str(error))
        if number is None:
            raise
        raise OSError(int(number[1]), os.strerror(int(number[1])), str(path)) from None
