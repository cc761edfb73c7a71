"""Archives of results. A file that is no zip archive lists the entries of one: a line with `>` and
a name begins an entry. So a change of the text does not only damage the checksums of zip."""

import zipfile
from pathlib import Path

from headrace.result_import import import_results
from headrace.store import open as open_store

MOST_ENTRIES = 20
LONGEST_NAME = 200


def _archive(path: Path) -> None:
    content = path.read_bytes()
    if not content.startswith(b"PK"):
        with zipfile.ZipFile(path, "w") as archive:
            for entry in content.split(b"\n>")[:MOST_ENTRIES]:
                name, _, text = entry.removeprefix(b">").partition(b"\n")
                # zipfile writes no other names.
                entry_name = name.split(b"\0")[0][:LONGEST_NAME].decode("latin-1") or "empty"
                archive.writestr(entry_name, text)
    # One store serves all inputs of a process: making one takes longer than an import.
    store = open_store(path.parent / "store")
    for identifier, is_new in import_results(store, path).items():
        if is_new:
            store.remove(identifier)


READERS = (_archive,)
