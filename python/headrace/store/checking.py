"""Whether a store is whole: tables that no result has, and results that lack theirs."""

import time
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from headrace.store.errors import StoreFailure
from headrace.store.identifier import PATTERN
from headrace.store.location import Directory
from headrace.store.parquet_tables import remove_files

if TYPE_CHECKING:
    from headrace.store.catalogue import Store

AGE_S = 600.0
"""Tables without a result that are younger may be those of a run that ends just now: it waits
for others for 10 s at the most, and for a slow disk."""


class Checked(NamedTuple):
    """What was found."""

    results: int
    """Results that were looked at."""
    removed: Sequence[Path]
    """Tables that a killed run had left, which are gone now."""
    damaged: Sequence[str]
    """What is wrong with tables that a result should have, a line for each."""


def check(store: "Store") -> Checked:
    """Removes tables that no result has, and reads all others.

    Raises StoreFailure if the store cannot be read, or something in it not removed.
    """
    # Before the results: a run may end in between.
    directories = _directories(store.location)
    ids = store.list()["id"].to_list()
    known = set(ids)
    removed = [it for it in directories if it.name not in known and _is_old(it)]
    for directory in removed:
        try:
            remove_files(directory)
        except OSError as error:
            raise StoreFailure(f"{directory}: {(error.strerror or str(error)).lower()}") from None
    damaged = []
    for identifier in ids:
        for content in store.contents(identifier):
            try:
                store.parquet(identifier, content.name)
            except StoreFailure as failure:
                damaged.append(str(failure))
    return Checked(len(ids), removed, damaged)


def _directories(location: object) -> list[Path]:
    """Where tables of results are; only names that results have."""
    if not isinstance(location, Directory) or not location.tables.is_dir():
        return []
    return sorted(it for it in location.tables.iterdir() if PATTERN.fullmatch(it.name))


def _is_old(directory: Path) -> bool:
    try:
        return time.time() - directory.stat().st_mtime > AGE_S
    except FileNotFoundError:
        return False
