"""Traces as polars frames, and in Parquet files, which hold such a frame."""

import threading
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor, wait
from pathlib import Path

import polars as pl
from polars.io.plugins import register_io_source

from headrace._core import TRACE_OPERATIONS
from headrace.interruption import LOOK_S, held
from headrace.parquet import parquet_file
from headrace.profile.batches import BATCH, Batch, NamedBatches, Reader

OPERATIONS = pl.Enum(TRACE_OPERATIONS)

SCHEMA = pl.Schema(
    {
        "time_ns": pl.Int64(),
        "process": pl.String(),
        "operation": OPERATIONS,
        "file": pl.String(),
        "offset": pl.UInt64(),
        "size": pl.UInt64(),
        "duration_ns": pl.Int64(),
    }
)
"""A trace as a table. Times are in nanoseconds since the trace's start, sizes
in bytes; processes and files go by name."""

NUMBERED = {"process": pl.UInt32(), "operation": pl.UInt8(), "file": pl.UInt32()}
PARQUET = (".parquet", ".pq")


def frame(reader: Reader) -> pl.DataFrame:
    """All that is left of a trace, as one frame."""
    frames = list(_frames(reader))
    return pl.concat(frames) if frames else pl.DataFrame(schema=SCHEMA)


def write_parquet(reader: Reader, path: Path) -> None:
    """Writes all that is left of a trace, batch by batch.

    The file appears when it is whole: a failure, and Ctrl-C, leave nothing half written. A
    device or a pipe is written in place.
    """
    unwanted = threading.Event()

    def source(
        columns: list[str] | None,
        predicate: pl.Expr | None,
        rows: int | None,
        _batch: int | None,
    ) -> Iterator[pl.DataFrame]:
        for part in _frames(reader):
            if unwanted.is_set():
                return
            if predicate is not None:
                part = part.filter(predicate)
            if columns is not None:
                part = part.select(columns)
            if rows is not None:
                part = part.head(rows)
                rows -= part.height
            yield part
            if rows == 0:
                return

    table = register_io_source(source, schema=SCHEMA)
    with parquet_file(path) as file, ThreadPoolExecutor(1) as aside:
        # In a thread of its own: Python's handlers of signals run between calls of the main
        # thread alone, which would be one call until all is written.
        written = aside.submit(table.sink_parquet, file, engine="streaming")
        try:
            while not wait([written], LOOK_S).done:
                pass
        finally:
            unwanted.set()
        written.result()


def _frames(reader: Reader) -> Iterator[pl.DataFrame]:
    operations = pl.Series(TRACE_OPERATIONS, dtype=OPERATIONS)
    batches = NamedBatches(reader)
    for batch in batches:
        files = pl.Series(batches.files, dtype=pl.String)
        processes = pl.Series(batches.processes, dtype=pl.String)
        columns = {
            **batch,
            "process": processes.gather(batch["process"]),
            "operation": operations.gather(batch["operation"]),
            "file": files.gather(batch["file"]),
        }
        yield pl.DataFrame(columns).select(list(SCHEMA)).cast(SCHEMA)


class ParquetReader:
    """Reads a trace from a Parquet file, batch by batch."""

    def __init__(self, path: Path) -> None:
        try:
            # Held, here and below: polars calls Python in the midst, where it expects no exception.
            with held():
                table = pl.scan_parquet(path)
                found = table.collect_schema()
        except pl.exceptions.PolarsError as error:
            problem = str(error).splitlines()[0] if str(error) else "unreadable"
            raise ValueError(f"{path}: {problem}: expected a Parquet file") from None
        for name, expected in SCHEMA.items():
            if not _fits(found.get(name), expected):
                given = "no column" if name not in found else f"column of {found[name]}"
                raise ValueError(f"{path}: {given} {name}: expected one of {expected}")
        self._path = path
        self._batches = table.select(
            pl.col(name).cast(kind) for name, kind in SCHEMA.items()
        ).collect_batches(chunk_size=BATCH, maintain_order=True, lazy=True)
        self._left: pl.DataFrame | None = None
        self._files: dict[str, int] = {}
        self._processes: dict[str, int] = {}

    def next_batch(self, max: int) -> Batch | None:
        while self._left is None or self._left.is_empty():
            try:
                with held():
                    self._left = next(self._batches, None)
            except pl.exceptions.PolarsError as error:
                problem = str(error).splitlines()[0]
                expected = f"numbers in range, and operations of {', '.join(TRACE_OPERATIONS)}"
                raise ValueError(f"{self._path}: {problem}: expected {expected}") from None
            if self._left is None:
                return None
        part, self._left = self._left.head(max), self._left.slice(max)
        for name, holes in part.null_count().row(0, named=True).items():
            if holes:
                raise ValueError(f"{self._path}: {holes} empty values of {name}: expected none")
        numbered = part.with_columns(
            _number(part["process"], self._processes),
            part["operation"].to_physical().cast(NUMBERED["operation"]),
            _number(part["file"], self._files),
        )
        return {name: numbered[name].to_numpy() for name in SCHEMA}

    def files(self, first: int = 0) -> list[str]:
        return list(self._files)[first:]

    def processes(self, first: int = 0) -> list[str]:
        return list(self._processes)[first:]

    def skipped(self) -> str:
        return "[]"


def _fits(found: pl.DataType | None, expected: pl.DataType) -> bool:
    if found is None:
        return False
    if expected.is_integer():
        return found.is_integer()
    return isinstance(found, pl.String | pl.Categorical | pl.Enum)


def _number(names: pl.Series, numbers: dict[str, int]) -> pl.Series:
    """Replaces names by numbers; new names get the next ones."""
    distinct = names.unique(maintain_order=True).to_list()
    for name in distinct:
        numbers.setdefault(name, len(numbers))
    new = [numbers[name] for name in distinct]
    return names.replace_strict(distinct, new, return_dtype=NUMBERED["file"])
