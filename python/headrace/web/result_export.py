"""Results as files to take away."""

import io
import json
from collections.abc import Sequence
from html import escape
from pathlib import Path
from typing import TYPE_CHECKING

from headrace.fields import to_document

if TYPE_CHECKING:
    from headrace.store import Store

CONTENT_TYPES = {
    "zip": "application/zip",
    "csv": "text/csv",
    "parquet": "application/vnd.apache.parquet",
    "json": "application/json",
    "html": "text/html",
}
STYLE = """
body { font-family: sans-serif; max-width: 70em; margin: 2em auto; padding: 0 1em }
table { border-collapse: collapse; margin: 1em 0 }
td, th { padding: .2em .7em; border-bottom: 1px solid #ccc; text-align: left }
caption { font-weight: bold; text-align: left }
"""


def exported(store: "Store", ids: Sequence[str], format: str, directory: Path) -> bytes:
    """Return results in a format.

    Parameters:
        store: The store.
        ids: Identifiers, or their beginnings.
        format: A key of `CONTENT_TYPES`: `zip` for `headrace results import`, `csv` and `parquet`
            for the figures, `json` for the documents, `html` for a report.
        directory: Directory for temporary files.

    Raises:
        StoreError: if there is no such result.
    """
    if format == "zip":
        store.export(ids, directory / "results.zip")
        return (directory / "results.zip").read_bytes()
    if format == "csv":
        store.export_csv(ids, directory / "results.csv")
        return (directory / "results.csv").read_bytes()
    if format == "parquet":
        import polars as pl

        keys = ("id", "name", "kind", "version", "started")
        runs = pl.DataFrame(
            [{key: getattr(shown, key) for key in keys} for shown in map(store.shown, ids)]
        )
        content = io.BytesIO()
        store.figures(ids).join(runs, on="id", how="left").write_parquet(content)
        return content.getvalue()
    if format == "json":
        return json.dumps(
            to_document([store.shown(identifier) for identifier in ids]), indent=1, allow_nan=False
        ).encode()
    return _report(store, ids).encode()


def _report(store: "Store", ids: Sequence[str]) -> str:
    """Return a page with the comparison and each result, which needs nothing else."""
    from headrace import kinds
    from headrace.render.html import as_html
    from headrace.views.stored_results import one_result

    parts = []
    if len(ids) > 1:
        parts.append(kinds.html("comparison", store.compare(ids).json()))
    for identifier in ids:
        shown = store.shown(identifier)
        parts.append(f"<h2>{escape(shown.name)}</h2>" + as_html(one_result(shown)))
    return (
        '<!doctype html><html lang="en"><head><meta charset="utf-8"><title>Results</title>'
        f"<style>{STYLE}</style></head><body><h1>Results</h1>{''.join(parts)}</body></html>"
    )
