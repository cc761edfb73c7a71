"""Import of saved benchmark results into the store."""

from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import polars as pl

from headrace import histograms
from headrace.document_io import not_a_result
from headrace.environment import started_of
from headrace.store import Store

TABLES = {
    "series": "series",
    "counter_series": "counters",
    "histograms": "histograms",
    "rows": "rows",
}
"""Tables in saved results, and their names in the store."""


def import_saved(store: Store, path: Path, saved: dict[str, Any]) -> dict[str, bool]:
    """Import a saved benchmark result; return its identifier, and whether it is new.

    Raises ScenarioError if the result is incomplete.
    """
    document = dict(saved)
    host = document.pop("host", None)
    tables = {name: document.pop(key, None) or {} for key, name in TABLES.items()}
    known = store.with_document(document)
    if known is not None:
        return {known: False}
    try:
        frames = {name: pl.DataFrame(columns) for name, columns in tables.items()}
    except (TypeError, ValueError, pl.exceptions.PolarsError) as error:
        reason = str(error).split("\n")[0]
        raise not_a_result(path, f"a table is malformed: {reason}") from None
    if frames["histograms"].width:
        try:
            histograms.check(frames["histograms"])
        except ValueError as error:
            raise not_a_result(path, f"its histograms are damaged: {error}") from None
    identifier, new = store.add_once(
        document,
        {name: frame for name, frame in frames.items() if frame.height},
        kind=str(document["kind"]),
        # Files of earlier versions do not say when; this is when they were saved.
        started=started_of(document) or datetime.fromtimestamp(path.stat().st_mtime, UTC),
        host=host if isinstance(host, dict) else {},
    )
    return {identifier: new}
