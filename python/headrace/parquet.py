"""Parquet files."""

import contextlib
import io
import os
import re
import sys
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import BinaryIO

import polars as pl

from headrace import interruption
from headrace.files import atomic_file

interruption.after_polars()

SYSTEM_ERROR = re.compile(r"\(os error (\d+)\)")


def as_parquet(frame: pl.DataFrame) -> bytes:
    """A table as the content of a Parquet file."""
    written = io.BytesIO()
    frame.write_parquet(written)
    return written.getvalue()


def read_parquet(content: bytes, rows: int | None = None) -> pl.DataFrame:
    """Return the table in the content of a Parquet file, or its first rows.

    Raises ValueError if there is none.
    """
    with reading_parquet("table"):
        return pl.read_parquet(io.BytesIO(content), n_rows=rows)


@contextlib.contextmanager
def reading_parquet(what: object, expected: str = "a Parquet file") -> Iterator[None]:
    """Raise ValueError, prefixed by `what`, where polars cannot read a file.

    Polars panics over some damaged files: it raises an exception that is no `Exception`, and its
    threads write to standard error, which is buffered meanwhile.
    """
    try:
        # Signals are deferred: polars calls Python in the midst, where it expects no exception.
        with _buffer_standard_error(), interruption.defer_signals():
            yield
    except (FileNotFoundError, PermissionError):
        raise
    except (pl.exceptions.PolarsError, OSError, pl.exceptions.PanicException) as error:
        if isinstance(error, pl.exceptions.PanicException):
            problem = "is damaged"
        else:
            problem = str(error).splitlines()[0] if str(error) else "unreadable"
        raise ValueError(f"{what}: {problem}: expected {expected}") from None


_standard_error = threading.Lock()


@contextlib.contextmanager
def _buffer_standard_error() -> Iterator[None]:
    """Buffer standard error; write it out unless polars panics."""
    with _standard_error, contextlib.ExitStack() as closed:
        try:
            ours = os.dup(2)
        except OSError:  # It is closed: nothing can be written to it.
            yield
            return
        closed.callback(os.close, ours)
        kept = os.memfd_create("headrace-standard-error")
        closed.callback(os.close, kept)
        sys.stderr.flush()
        os.dup2(kept, 2)
        try:
            yield
        finally:
            os.dup2(ours, 2)
            os.lseek(kept, 0, os.SEEK_SET)
            with contextlib.suppress(OSError), open(kept, "rb", closefd=False) as file:
                text = file.read()
                # A thread may panic where polars itself gives an error or reads on.
                if b"panicked at" not in text:
                    os.write(2, text)


@contextlib.contextmanager
def parquet_file(path: Path) -> Iterator[BinaryIO]:
    """Yield a file for polars to write to, as `atomic_file` does.

    Raises OSError for an error of polars that the operating system caused.
    """
    with atomic_file(path) as partial, partial.open("wb") as file, polars_errors(path):
        yield file


@contextlib.contextmanager
def polars_errors(path: Path) -> Iterator[None]:
    """Raise OSError for an error of polars that the operating system caused."""
    try:
        yield
    except pl.exceptions.PolarsError as error:
        number = SYSTEM_ERROR.search(str(error))
        if number is None:
            raise
        raise OSError(int(number[1]), os.strerror(int(number[1])), str(path)) from None
