"""Parquet files as output."""

import contextlib
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


@contextlib.contextmanager
def parquet_file(path: Path) -> Iterator[BinaryIO]:
    """A file for polars to write to, as `whole_file` gives it.

    Raises OSError where polars has an error of its own for what the system refuses.
    """
    with whole_file(path) as partial, partial.open("wb") as file:
        try:
            yield file
        except pl.exceptions.PolarsError as error:
            number = SYSTEM_ERROR.search(str(error))
            if number is None:
                raise
            raise OSError(int(number[1]), os.strerror(int(number[1])), str(path)) from None
