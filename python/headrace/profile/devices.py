"""Columns of a frame of rates by device: disks, network interfaces, mounts."""

from fnmatch import fnmatchcase
from functools import reduce
from operator import add

import polars as pl


def columns(rates: pl.DataFrame, pattern: str) -> list[str]:
    """Return the columns that match a pattern such as `disk.*.read_bytes_per_s`."""
    return [column for column in rates.columns if fnmatchcase(column, pattern)]


def names(rates: pl.DataFrame, kind: str) -> list[str]:
    """Return the devices of a kind such as `disk` or `net`, in order of their columns.

    A name may contain dots, as mount points and VLAN interfaces do.
    """
    parts = (it.removeprefix(f"{kind}.").rpartition(".")[0] for it in columns(rates, f"{kind}.*.*"))
    return list(dict.fromkeys(parts))


def sum_of(rates: pl.DataFrame, *patterns: str) -> pl.Series | None:
    """Return the sum of all columns that match; None if there is none with a value.

    A value that is unknown counts as 0 in a row in which another one is known.
    """
    present = [rates[column] for pattern in patterns for column in columns(rates, pattern)]
    known = [series for series in present if series.null_count() < rates.height]
    if not known:
        return None
    return reduce(add, (series.fill_null(0.0).fill_nan(0.0) for series in known))
