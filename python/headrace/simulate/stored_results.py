"""Results in the store: save them, and load them by `results:ID`."""

from collections.abc import Mapping
from datetime import datetime
from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING, Any

from headrace.document_io import time_of
from headrace.environment import started_of
from headrace.store import StoreError
from headrace.store import open as open_store

if TYPE_CHECKING:
    import polars as pl

    from headrace.simulate.result import Result
    from headrace.store import Record, Store

PREFIX = "results:"


def is_stored(path_or_text: str | PathLike[str]) -> bool:
    """Return whether the text names a result in the store: `results:ID`."""
    return str(path_or_text).startswith(PREFIX)


def stored_record(name: str | PathLike[str]) -> "Record":
    """The result that `results:ID` names. Raises StoreError if there is none."""
    return open_store().record(str(name).removeprefix(PREFIX))


def stored_scenario(name: str | PathLike[str]) -> tuple[str, Path]:
    """Return the scenario of the result that `results:ID` names, and its name in errors."""
    record = stored_record(name)
    if record.scenario is None:
        raise StoreError(f"{PREFIX}{record.id} has no scenario")
    return record.scenario, Path(f"{PREFIX}{record.id} (its scenario)")


def stored_tables(store: "Store", identifier: str) -> dict[str, dict[str, list[Any]]]:
    """The tables of a result in a store, as a saved result has them.

    Raises:
        StoreFailure: if the store cannot be read.
    """
    return {
        table.name: store.table(identifier, table.name).to_dict(as_series=False)
        for table in store.contents(identifier)
    }


def keep(
    result: "Result",
    store: "Store | None" = None,
    *,
    started: datetime | None = None,
    labels: Mapping[str, str] | None = None,
    host: Mapping[str, str] | None = None,
) -> str:
    """Save a result in a store, by default the user's own, and return its identifier."""
    return (store or open_store()).add(
        result.document,
        _tables(result),
        kind="simulated",
        started=started,
        labels=labels,
        host=host,
        environment=result.environment,
    )


def import_saved(store: "Store", path: Path) -> dict[str, bool]:
    """Import a saved result; return its identifier, and whether it is new.

    Raises ScenarioError if the file is no saved result, OSError if it cannot be read.
    """
    from headrace.simulate.saved_results import load_saved

    result, host = load_saved(path)
    known = store.with_document(result.document)
    if known is not None:
        return {known: False}
    # Files of earlier versions do not say when the run was; this is when it was saved.
    started = started_of({"environment": result.environment}) or time_of(path)
    identifier, new = store.add_once(
        result.document, _tables(result), started=started, host=host, environment=result.environment
    )
    return {identifier: new}


def _tables(result: "Result") -> dict[str, "pl.DataFrame"]:
    return {name: table for name, table in result.saved_tables.items() if table.height}
