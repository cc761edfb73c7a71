"""Import of saved benchmark results into the store."""

from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from headrace.environment import started_of
from headrace.result_documents import TABLES, check_saved
from headrace.store import Store


def import_saved(store: Store, path: Path, saved: dict[str, Any]) -> dict[str, bool]:
    """Import a saved benchmark result; return its identifier, and whether it is new.

    Raises StoreError if the result is damaged.
    """
    document = dict(saved)
    host = document.pop("host", None)
    for key in TABLES:
        document.pop(key, None)
    known = store.with_document(document)
    if known is not None:
        return {known: False}
    frames = check_saved(saved, str(path))
    identifier, new = store.add_once(
        document,
        {name: frame for name, frame in frames.items() if frame.height},
        kind=str(document["kind"]),
        # Files of earlier versions do not say when; this is when they were saved.
        started=started_of(document) or datetime.fromtimestamp(path.stat().st_mtime, UTC),
        host=host if isinstance(host, dict) else {},
    )
    return {identifier: new}
