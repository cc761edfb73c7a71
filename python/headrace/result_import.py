"""Results from files into the store."""

from collections.abc import Callable, Mapping
from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING, Any

from headrace import simulate
from headrace.document_io import display_name, read_document, time_of
from headrace.environment import started_of
from headrace.kinds import SIMULATED, STORED, current_kind
from headrace.store.saved_documents import TABLES, check_saved

if TYPE_CHECKING:
    import polars as pl

    from headrace.store import Store


def import_results(
    store: "Store",
    path: str | PathLike[str],
    on_progress: Callable[[int, int, str], object] | None = None,
    labels: Mapping[str, str] | None = None,
) -> dict[str, bool]:
    """Import the results of a file: an archive of `headrace results export`, or one result that
    `-o` saved. Return each identifier, and whether it is new to the store. New results have the
    labels that are given.

    Raises StoreError or ScenarioError if the file holds neither, or is damaged; then nothing is
    imported. Raises OSError if the file cannot be read.
    """
    # It takes 0.2 s to import, as the store's database does.
    from headrace.store.archive import is_archive

    path = Path(path)
    if is_archive(path):
        return store.import_archive(path, on_progress, labels)
    saved = read_document(path)
    tables = check_saved(saved, display_name(path))
    if current_kind(str(saved.get("kind"))) in STORED and saved["kind"] != SIMULATED:
        taken = _import_measured(store, path, saved, tables)
    else:
        taken = simulate.import_saved(store, path)
    for identifier in (it for it, is_new in taken.items() if is_new and labels):
        store.set_labels(identifier, labels or {})
    return taken


def _import_measured(
    store: "Store", path: Path, saved: Mapping[str, Any], tables: "Mapping[str, pl.DataFrame]"
) -> dict[str, bool]:
    """Import a checked result of a benchmark; return its identifier, and whether it is new."""
    document = dict(saved)
    host = document.pop("host", None)
    for key in TABLES:
        document.pop(key, None)
    known = store.with_document(document)
    if known is not None:
        return {known: False}
    identifier, new = store.add_once(
        document,
        {name: frame for name, frame in tables.items() if frame.height},
        kind=str(document["kind"]),
        # Files of earlier versions do not say when; this is when they were saved.
        started=started_of(document) or time_of(path),
        host=host if isinstance(host, dict) else {},
    )
    return {identifier: new}
