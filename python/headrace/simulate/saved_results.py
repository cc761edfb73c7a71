"""Load saved results."""

from dataclasses import replace
from os import PathLike
from pathlib import Path
from typing import Any, cast

import polars as pl

from headrace.document_io import not_a_result, read_bytes, read_saved
from headrace.environment import Environment
from headrace.environment import check as check_environment
from headrace.fields import WrongField, convert
from headrace.simulate import frames
from headrace.simulate.report import Report
from headrace.simulate.result import Result
from headrace.simulate.stored_results import PREFIX, is_stored, stored_record, stored_tables
from headrace.store import StoreError
from headrace.store import open as open_store


def load_result(path: str | PathLike[str]) -> Result:
    """Load a saved result.

    Parameters:
        path: A file that `Result.save` or `headrace run -o` wrote, or `results:ID` for a result in
            the store.

    Returns:
        The result, without single requests.

    Raises:
        OSError: if the file cannot be read.
        ScenarioError: if the file is not a saved result.
        StoreError: if there is no such simulated result in the store.
        StoreFailure: if the store cannot be read.

    Examples:
        >>> identifier = hr.run("scenarios/striped-read.toml").keep()
        >>> hr.load_result(f"results:{identifier}").name
        'striped read'
    """
    if is_stored(path):
        record = stored_record(path)
        if record.kind != "simulated":
            raise StoreError(
                f"{PREFIX}{record.id} is {record.kind}: expected a simulated result; "
                "headrace.store.open() has its document and its tables"
            )
        loaded = _whole(
            Path(f"{PREFIX}{record.id}"), record.contents | stored_tables(open_store(), record.id)
        )
        if not record.environment:
            return replace(loaded, environment=None)
        there = cast(Environment, {"started": record.started, **record.environment})
        return replace(loaded, environment=there)
    return load_saved(Path(path))[0]


def load_saved(path: Path) -> tuple[Result, dict[str, str]]:
    """Load a saved result, with the host that it names."""
    document = read_saved(path)
    if document is None:
        read_bytes(path)
        raise not_a_result(path, "it is not a JSON object")
    host = document.pop("host", None)
    host_fields = host if isinstance(host, dict) else {}
    there = document.pop("environment", None)
    try:
        check_environment("environment", there)
    except WrongField as error:
        raise not_a_result(path, str(error)) from None
    loaded = replace(_whole(path, document), environment=there)
    return loaded, {str(key): str(value) for key, value in host_fields.items()}


def _whole(path: Path, document: dict[str, Any]) -> Result:
    series = _frame(path, document, "series", frames.SERIES)
    distribution = _frame(path, document, "latency_distribution", frames.LATENCY_DISTRIBUTION)
    servers = _frame(path, document, "server_series", frames.SERVER_SERIES)
    loaded = Result(document, frames.Frames(series, distribution, servers))
    try:
        convert(document, Report)
        # Its operations are checked as well.
        _ = loaded.summary
    except (KeyError, ValueError, pl.exceptions.PolarsError) as error:
        raise not_a_result(path, f"its figures are incomplete: {_first_line(error)}") from None
    return loaded


def _frame(path: Path, document: dict[str, Any], key: str, schema: pl.Schema) -> pl.DataFrame:
    """Return a frame of a saved result; output of `--json` has none."""
    columns = document.pop(key, None)
    if columns is None:
        return pl.DataFrame(schema=schema)
    try:
        return pl.DataFrame({name: columns[name] for name in schema}, schema=schema)
    except (KeyError, TypeError, ValueError, OverflowError, pl.exceptions.PolarsError) as error:
        raise not_a_result(path, f"its {key} is not a table: {_first_line(error)}") from None


def _first_line(error: Exception) -> str:
    """An error in one line."""
    if isinstance(error, KeyError):
        return f"there is no {error.args[0]!r}"
    return str(error).split("\n")[0]
