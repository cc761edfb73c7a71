"""The memory that a Parquet file's table takes, before it is read.

Parquet writes a value that repeats a billion times in a few bytes.
"""

import io

import polars as pl
import psutil

from headrace.report.units import size
from headrace.store.errors import StoreError

SHARE_OF_MEMORY = 4
"""Largest part, as 1 in this many, of the available memory for one table."""
LARGEST = 1 << 30
"""Bytes of a table: more is none of Headrace's."""
WIDEST = 16
"""Bytes of a value where its type does not say it: polars' views of texts and lists."""


def check_table_size(content: bytes, what: str) -> None:
    """Raise StoreError for a table that is larger than results have, or than memory has room for.

    Content that is no Parquet file passes; the code that reads it reports the error.
    """
    try:
        table = pl.scan_parquet(io.BytesIO(content))
        rows = int(table.select(pl.len()).collect().item())
        types = table.collect_schema().dtypes()
    except (pl.exceptions.PolarsError, pl.exceptions.PanicException, OSError, ValueError):
        return
    needed = rows * sum(map(_width, types))
    largest = min(LARGEST, psutil.virtual_memory().available // SHARE_OF_MEMORY)
    if needed > largest:
        raise StoreError(
            f"{what}: its {rows:,} rows take {size(needed)} of memory, above {size(largest)}"
        )


def _width(type_: pl.DataType) -> int:
    """Bytes of a value, at least."""
    if type_.is_integer() or type_.is_float() or type_.is_temporal():
        return 8
    return 1 if type_ == pl.Boolean else WIDEST
