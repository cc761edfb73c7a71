"""Check of results that come from files, before they are imported or resumed.

`headrace.store.documents` checks all that the store catalogues and compares. The types of each kind
of document are checked here. Documents of earlier versions lack later fields.
"""

import pkgutil
from collections.abc import Mapping
from typing import Any

import msgspec
import polars as pl

from headrace import histograms
from headrace.fields import WrongField, convert, partial
from headrace.kinds import KINDS, SIMULATED, STORED, current_kind, record_type
from headrace.store.documents import check_document
from headrace.store.errors import StoreError

TABLES = {
    "series": "series",
    "counter_series": "counters",
    "histograms": "histograms",
    "rows": "rows",
}
"""Tables in saved results, and their names in the store."""


def check_types(document: Mapping[str, Any]) -> None:
    """Check a document without tables, as the store has it.

    Raises StoreError, which names the field.
    """
    check_document(document)
    type_ = record_type(current_kind(str(document.get("kind"))))
    try:
        if type_ is not None:
            convert(dict(document) | {"kind": current_kind(str(document["kind"]))}, partial(type_))
    except WrongField as error:
        raise StoreError(str(error)) from None


def check_saved(
    saved: Mapping[str, Any], named: str, names: Mapping[str, str] = TABLES
) -> dict[str, pl.DataFrame]:
    """Check a saved result and return its tables by their names in the store. `names` has these by
    their keys in the result. Tables of simulations are checked where they are read.

    Raises StoreError, which names the file and the field.
    """
    document = {key: value for key, value in saved.items() if key not in names}
    simulated = current_kind(str(saved.get("kind"))) not in STORED or saved["kind"] == SIMULATED
    try:
        check_types(document)
        tables = {
            name: _table(key, saved[key])
            for key, name in names.items()
            if saved.get(key) and not simulated
        }
        kind = KINDS.get(current_kind(str(document.get("kind"))))
        if "rows" in tables and kind is not None and kind.row:
            _check_rows(tables["rows"], pkgutil.resolve_name(kind.row))
    except (StoreError, WrongField) as error:
        raise StoreError(f"{named}: {error}") from None
    return tables


def _table(key: str, columns: Any) -> pl.DataFrame:
    if not isinstance(columns, Mapping):
        raise WrongField(key, columns, "an object with a list for each column")
    for name, values in columns.items():
        if not isinstance(values, list):
            raise WrongField(f"{key}.{name}", values, "a list")
    # A column without rows has no type of its own.
    kinds = histograms.SCHEMA if key == "histograms" else {}
    empty = {name: kind for name, kind in kinds.items() if columns.get(name) == []}
    try:
        frame = pl.DataFrame(dict(columns), schema_overrides=empty)
    except (TypeError, ValueError, OverflowError, pl.exceptions.PolarsError) as error:
        reason = str(error).split("\n")[0]
        raise StoreError(
            f"{key}: a table is malformed: {reason}: expected columns of equal length, each of"
            " one type"
        ) from None
    for name, kind in frame.schema.items():
        if kind.is_nested():
            expected = "a list of numbers, texts or truth values"
            raise WrongField(f"{key}.{name}", columns[name], expected)
    if key == "histograms" and frame.width:
        try:
            histograms.check(frame)
        except ValueError as error:
            raise StoreError(f"its histograms are damaged: {error}") from None
    return frame


def _check_rows(rows: pl.DataFrame, record: type[msgspec.Struct]) -> None:
    for number, row in enumerate(rows.to_dicts()):
        try:
            convert(row, partial(record))
        except WrongField as error:
            raise WrongField(f"rows.{error.where}.{number}", error.value, error.expected) from None
