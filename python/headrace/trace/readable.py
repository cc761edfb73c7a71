"""Traces that a scenario replays, in a form that models and benchmarks read."""

import contextlib
import tempfile
from collections.abc import Iterator, Sequence
from os import PathLike
from pathlib import Path
from typing import TypeAlias

from headrace._core import Loaded, RunError, TraceError

PARQUET_BEGINS = b"PAR1"

Traces: TypeAlias = Sequence[tuple[int, str | PathLike[str]]]
"""Files to read instead of a scenario's traces, by the workload's number."""


@contextlib.contextmanager
def readable_traces(loaded: Loaded) -> Iterator[Traces]:
    """Files to read instead of the scenario's traces, by the workload's number.

    Parquet and Darshan logs are read by Python alone: such traces are copied to CSV, piece by
    piece, for as long as the context lasts. Errors name the scenario's own file.

    Raises TraceError if a trace cannot be read.
    """
    copied = [(number, Path(path)) for number, path in loaded.traces if _is_for_python(Path(path))]
    if not copied:
        yield []
        return
    # Scenarios without such a trace need not wait for these imports.
    from headrace.trace.trace import import_trace

    with tempfile.TemporaryDirectory(prefix="headrace-") as folder:
        copies: dict[Path, Path] = {}
        for _, path in copied:
            if path not in copies:
                copies[path] = Path(folder) / f"{len(copies)}.csv"
                try:
                    import_trace(path, copies[path])
                except (OSError, ValueError) as error:
                    raise TraceError(_renamed(error, copies)) from None
        try:
            yield [(number, copies[path]) for number, path in copied]
        except (TraceError, RunError) as error:
            raise type(error)(_renamed(error, copies)) from None


def _is_for_python(path: Path) -> bool:
    if not path.is_file():
        return False
    from headrace.trace.darshan import is_darshan

    try:
        with path.open("rb") as file:
            return file.read(len(PARQUET_BEGINS)) == PARQUET_BEGINS or is_darshan(path)
    except OSError:
        # The model's reader reports the error.
        return False


def _renamed(error: Exception, copies: dict[Path, Path]) -> str:
    text = str(error)
    for path, copy in copies.items():
        text = text.replace(str(copy), str(path))
    return text
