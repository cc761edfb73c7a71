"""Traces as polars frames, and in Parquet files, which hold such a frame."""

import threading
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor, wait
from pathlib import Path

import polars as pl
from polars.io.plugins import register_io_source

from headrace._core import (
    TRACE_NO_FILE,
    TRACE_OPERATIONS,
    TraceNames,
    trace_flags_bits,
    trace_flags_text,
)
from headrace.interruption import LOOK_S
from headrace.parquet import parquet_file, reading_parquet
from headrace.trace.batches import BATCH, Batch, Reader, named_batches

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
        "flags": pl.String(),
        "other": pl.String(),
    }
)
"""A trace as a table. Times are in nanoseconds since the trace's start, sizes
in bytes; processes and files go by name. `flags` are names with | between them, and
`other` is the second name of what has two; both may be empty."""

OPTIONAL = ("flags", "other")
"""Columns that tables of earlier versions lack."""

NUMBERED = {
    "process": pl.UInt32(),
    "operation": pl.UInt8(),
    "file": pl.UInt32(),
    "flags": pl.UInt16(),
}
PARQUET = (".parquet", ".pq")


def frame(reader: Reader) -> pl.DataFrame:
    """All that is left of a trace, as one frame.

    Examples:
        >>> frame = hr.trace.frame(hr.trace.open_trace("tests/data/traces/random.iolog"))
        >>> frame.columns[:5], frame["size"].sum()
        (['time_ns', 'process', 'operation', 'file', 'offset'], 262144)
    """
    frames = list(record_batches(reader))
    return pl.concat(frames) if frames else pl.DataFrame(schema=SCHEMA)


def write_parquet(reader: Reader, path: Path) -> None:
    """Write the rest of a trace, batch by batch.

    A file is written atomically; a device or a pipe is written in place.
    """
    unwanted = threading.Event()

    def source(
        columns: list[str] | None, predicate: pl.Expr | None, rows: int | None, _batch: int | None
    ) -> Iterator[pl.DataFrame]:
        for part in record_batches(reader):
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
            reader.cancel()
        written.result()


def record_batches(reader: Reader) -> Iterator[pl.DataFrame]:
    """Yield all that is left of a trace as frames of `SCHEMA`, batch by batch.

    Examples:
        >>> reader = hr.trace.open_trace("tests/data/traces/random.iolog")
        >>> sum(part.height for part in hr.trace.record_batches(reader))
        22
    """
    operations = pl.Series(TRACE_OPERATIONS, dtype=OPERATIONS)
    for batch in named_batches(reader):
        columns = {
            **batch.columns,
            "process": pl.Series(batch.processes, dtype=pl.String).gather(batch.columns["process"]),
            "operation": operations.gather(batch.columns["operation"]),
            "file": pl.Series(batch.files, dtype=pl.String).gather(batch.columns["file"]),
            "flags": _flags_text(pl.Series(batch.columns["flags"])),
            "other": _other_names(pl.Series(batch.columns["other"]), batch.files),
        }
        yield pl.DataFrame(columns).select(list(SCHEMA)).cast(SCHEMA)


class ParquetReader:
    """Reads a trace from a Parquet file, batch by batch."""

    def __init__(self, path: Path) -> None:
        with reading_parquet(path):
            table = pl.scan_parquet(path)
            schema = table.collect_schema()
        for name, expected in SCHEMA.items():
            if name in OPTIONAL and name not in schema:
                table = table.with_columns(pl.lit("").alias(name))
            elif not _fits(schema.get(name), expected):
                given = "no column" if name not in schema else f"column of {schema[name]}"
                raise ValueError(f"{path}: {given} {name}: expected one of {expected}")
        self._path = path
        with reading_parquet(path):
            self._batches = table.select(
                pl.col(name).cast(kind) for name, kind in SCHEMA.items()
            ).collect_batches(chunk_size=BATCH, maintain_order=True, lazy=True)
        self._left: pl.DataFrame | None = None
        self._files = TraceNames()
        self._processes = TraceNames()

    def next_batch(self, max: int) -> Batch | None:
        while self._left is None or self._left.is_empty():
            expected = f"numbers in range, and operations of {', '.join(TRACE_OPERATIONS)}"
            with reading_parquet(self._path, expected):
                self._left = next(self._batches, None)
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
            _flags_bits(part["flags"], self._path),
            _other_numbers(part["other"], self._files),
        )
        return {name: numbered[name].to_numpy() for name in SCHEMA}

    def file_names(self, numbers: Sequence[int]) -> list[str]:
        return self._files.names(numbers)

    def process_names(self, numbers: Sequence[int]) -> list[str]:
        return self._processes.names(numbers)

    def skipped(self) -> str:
        return "[]"

    def cancel(self) -> None:
        pass


def _fits(actual: pl.DataType | None, expected: pl.DataType) -> bool:
    if actual is None:
        return False
    if expected.is_integer():
        return actual.is_integer()
    return isinstance(actual, pl.String | pl.Categorical | pl.Enum)


def _flags_text(flags: pl.Series) -> pl.Series:
    distinct = flags.unique().to_list()
    texts = [trace_flags_text(bits) for bits in distinct]
    return flags.replace_strict(distinct, texts, return_dtype=pl.String)


def _flags_bits(flags: pl.Series, path: Path) -> pl.Series:
    distinct = flags.unique().to_list()
    bits = [trace_flags_bits(text) for text in distinct]
    if None in bits:
        unknown = distinct[bits.index(None)]
        raise ValueError(f'{path}: flags = "{unknown}": expected names of flags with | between')
    return flags.replace_strict(distinct, bits, return_dtype=NUMBERED["flags"])


def _other_names(numbers: pl.Series, files: list[str]) -> pl.Series:
    known = numbers.replace(TRACE_NO_FILE, None).cast(pl.UInt32)
    return pl.Series(files, dtype=pl.String).gather(known).fill_null("")


def _other_numbers(names: pl.Series, table: TraceNames) -> pl.Series:
    distinct = names.unique(maintain_order=True).to_list()
    named = [name for name in distinct if name]
    numbers = dict(zip(named, table.intern(named).tolist(), strict=True))
    new = [numbers.get(name, TRACE_NO_FILE) for name in distinct]
    return names.replace_strict(distinct, new, return_dtype=NUMBERED["file"])


def _number(names: pl.Series, table: TraceNames) -> pl.Series:
    """Replace names by numbers; new names get the next ones."""
    distinct = names.unique(maintain_order=True).to_list()
    return names.replace_strict(
        distinct, pl.Series(table.intern(distinct)), return_dtype=NUMBERED["file"]
    )
