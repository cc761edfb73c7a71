"""Tables in Parquet of limited size in memory.

Parquet writes a value that repeats a billion times in a few bytes.
"""

import io
from collections.abc import Sequence

import polars as pl
import psutil

from headrace.parquet import reading_parquet
from headrace.quantities import size
from headrace.store.errors import StoreError
from headrace.store.parquet_tables import from_parquet

SHARE_OF_MEMORY = 4
"""Largest part, as 1 in this many, of the available memory for one table."""
SMALL_NUMBER, SMALL_HEIGHT, SMALL_WIDTH = 8, 20_000, 50
"""Largest number, rows and columns of small tables, such as those of a simulation."""
LARGEST = 1 << 30
"""Bytes of a table: more is none of Headrace's."""
WIDEST = 16
"""Bytes of a value where its type does not say it: polars' views of texts and lists."""


def read_small_tables(contents: Sequence[bytes]) -> list[pl.DataFrame]:
    """Return the tables in the contents of Parquet files, read together; none if one of them is
    damaged or large, which `read_limited_table` reports.

    Polars takes a quarter of the time for tables that it reads together.
    """
    if len(contents) > SMALL_NUMBER:
        return []
    try:
        with reading_parquet("tables"):
            scans = [pl.scan_parquet(io.BytesIO(content)) for content in contents]
            if any(len(scan.collect_schema()) > SMALL_WIDTH for scan in scans):
                return []
            tables = pl.collect_all([scan.head(SMALL_HEIGHT + 1) for scan in scans])
    except ValueError:
        return []
    return [] if any(table.height > SMALL_HEIGHT for table in tables) else tables


def read_limited_table(content: bytes, subject: str) -> pl.DataFrame:
    """Return the table in the content of a Parquet file.

    Raises StoreError if there is none, and for a table that is larger than results have, or than
    memory has room for.
    """
    row = _row_bytes(content)
    largest = min(LARGEST, psutil.virtual_memory().available // SHARE_OF_MEMORY)
    most = largest // max(row, 1)
    table = from_parquet(content, subject, most + 1)
    if row and table.height > most:
        rows = int(pl.scan_parquet(io.BytesIO(content)).select(pl.len()).collect().item())
        raise StoreError(
            f"{subject}: its {rows:,} rows take {size(rows * row)} of memory, above {size(largest)}"
        )
    return table


def _row_bytes(content: bytes) -> int:
    """Return the bytes of a row, at least; 0 if the content is no Parquet file."""
    try:
        types = pl.read_parquet_schema(io.BytesIO(content)).values()
    except (pl.exceptions.PolarsError, pl.exceptions.PanicException, OSError, ValueError):
        return 0
    return sum(map(_width, types))


def _width(type_: pl.DataType) -> int:
    """Bytes of a value, at least."""
    if type_.is_integer() or type_.is_float() or type_.is_temporal():
        return 8
    return 1 if type_ == pl.Boolean else WIDEST
