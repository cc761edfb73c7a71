"""Checksum of a result's rows in the catalogue.

It covers every column of every table, except large values that have a checksum of their own in the
same row. Columns that are NULL are left out: a migration that adds one leaves checksums valid. A
migration that changes values ends with `queries.write_checksums`.
"""

import json
from collections.abc import Mapping, Sequence
from typing import Any

from headrace.store.record import sha256

TABLE = "checksums"
"""Table of the checksums."""
KEPT_APART = {"runs": ("document",), "contents": ("data",)}
"""Columns that have a checksum of their own, by table."""


def checksum(rows: Mapping[str, Sequence[Mapping[str, Any]]]) -> str:
    """Return the checksum of a result's rows, given by the name of their table."""
    lines = [
        json.dumps([table, *_columns(row, KEPT_APART.get(table, ()))])
        for table, several in rows.items()
        if table != TABLE
        for row in several
    ]
    # Databases sort texts in different orders.
    return sha256("\n".join(sorted(lines)).encode())


def _columns(row: Mapping[str, Any], without: Sequence[str]) -> list[list[str]]:
    return [
        [name, *_written(row[name])]
        for name in sorted(row)
        if row[name] is not None and name not in without
    ]


def _written(value: Any) -> tuple[str, str]:
    """Return the type and the value. A database returns a whole number of a column of floating
    point as such a number."""
    if isinstance(value, str):
        return "text", value
    if isinstance(value, int):
        return "number", str(int(value))
    if isinstance(value, float):
        # The sign of zero is one bit, too.
        whole = value.is_integer() and (value or str(value) == "0.0")
        return "number", str(int(value)) if whole else value.hex()
    return "other", repr(value)
