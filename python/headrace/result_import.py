"""Results from files into the store."""

from collections.abc import Callable
from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING

from headrace import measure, simulate
from headrace.document_io import read_document
from headrace.result_documents import check_saved
from headrace.store.record import KINDS, SIMULATED, current_kind

if TYPE_CHECKING:
    from headrace.store import Store


def import_results(
    store: "Store",
    path: str | PathLike[str],
    on_progress: Callable[[int, int, str], object] | None = None,
) -> dict[str, bool]:
    """Import the results of a file: an archive of `headrace results export`, or one result that
    `-o` saved. Return each identifier, and whether it is new to the store.

    Raises StoreError or ScenarioError if the file holds neither, or is damaged; then nothing is
    imported. Raises OSError if the file cannot be read.
    """
    # It takes 0.2 s to import, as the store's database does.
    from headrace.store.archive import is_archive

    path = Path(path)
    if is_archive(path):
        return store.import_archive(path, on_progress)
    saved = read_document(path)
    check_saved(saved, str(path))
    if current_kind(str(saved.get("kind"))) in KINDS and saved["kind"] != SIMULATED:
        return measure.import_saved(store, path, saved)
    return simulate.import_saved(store, path)
