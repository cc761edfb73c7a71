"""Resume long measurements from the result of an earlier run."""

import hashlib
import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from headrace import ranks
from headrace._core import VERSION
from headrace.document_io import display_name, read_document
from headrace.kinds import current_kind
from headrace.store import open as open_store
from headrace.store.saved_documents import TABLES, check_saved

PREFIX = "results:"
"""Prefix of a result's identifier in the store."""
CHECKSUM = "steps_sha256"
"""Key of the digest of a document's steps."""


def read_earlier(named: str) -> dict[str, Any]:
    """Read the result of an earlier run with its tables: a file, or `results:ID` in the store.

    The result is checked as at an import. Raises ValueError if the file is no result or damaged,
    and OSError if it cannot be read. Raises StoreError
    or StoreFailure if there is no such result in the store.
    """
    if not named.startswith(PREFIX):
        saved = read_document(Path(named))
        named = display_name(Path(named))
        check_saved(saved, named)
        return saved | {"named": named}
    store = open_store()
    record = store.record(named.removeprefix(PREFIX))
    tables = {
        content.name: store.table(record.id, content.name).to_dict(as_series=False)
        for content in store.contents(record.id)
    }
    contents = {**record.contents, **tables}
    named = f"{PREFIX}{record.id}"
    check_saved(contents, named, {table: table for table in TABLES.values()})
    return {**contents, "named": named}


def check_matches(
    before: Mapping[str, Any], settings: Mapping[str, str], place: Mapping[str, str]
) -> None:
    """Check that a resumed result belongs to the measurement. `settings` has the required values
    by the document's keys.

    Raises ValueError, which gives the difference.
    """
    named = before.get("named", "the resumed result")
    for key, word in settings.items():
        was = before.get(key)
        if (current_kind(str(was)) if key == "kind" else was) != word:
            raise ValueError(
                f'{named}: its {key} is "{before.get(key)}": expected one that the same command'
                f' saved, of {key} "{word}"'
            )
    if before.get("version") != VERSION:
        raise ValueError(
            f"{named}: it is of version {before.get('version')}, and this is {VERSION}:"
            " start again without --resume"
        )
    if before.get("ranks", 1) != ranks.count():
        raise ValueError(
            f"{named}: it is of {before.get('ranks', 1)} ranks, and these are {ranks.count()}:"
            " start again without --resume"
        )
    if before.get("place") != dict(place):
        raise ValueError(
            f"{named}: it was measured at another site ({_site_text(before.get('place'))}; here"
            f" {_site_text(place)}): start again without --resume"
        )


def with_checksum(document: dict[str, Any], steps: str = "steps") -> dict[str, Any]:
    """Return a document with the checksum of its steps, which are under the key `steps`."""
    return document | {CHECKSUM: _digest(document.get(steps))}


def check_checksum(before: Mapping[str, Any], steps: str = "steps") -> None:
    """Check the steps of a resumed result against their checksum.

    Raises ValueError if they differ.
    """
    if before.get(CHECKSUM) != _digest(before.get(steps)):
        raise ValueError(
            f"{before.get('named', 'the resumed result')}: its {steps} are not as they were"
            " saved: start again without --resume"
        )


def _digest(steps: Any) -> str:
    return hashlib.sha256(json.dumps(steps, sort_keys=True).encode()).hexdigest()


def other_options_error(before: Mapping[str, Any]) -> ValueError:
    """Return the error for a result that was measured with other options."""
    return ValueError(
        f"{before.get('named', 'the resumed result')}: it was measured with another workload"
        " or other times: expected the options that it was measured with, or no --resume"
    )


def rank_count_field() -> dict[str, int]:
    """Return the document's field for the number of ranks; empty for one rank."""
    return {"ranks": ranks.count()} if ranks.count() > 1 else {}


def _site_text(place: Any) -> str:
    if not isinstance(place, Mapping):
        return "unknown"
    if "peer" in place:
        return f"{place.get('host')} to {place['peer']}"
    return f"{place.get('file_system')} {place.get('file_system_id')} on {place.get('host')}"
