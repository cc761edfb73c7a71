"""Import, inspect and synthesize traces."""

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

from headrace._core import TraceReader, TraceSummarizer, TraceWriter
from headrace.files import atomic_file
from headrace.progress_events import OnCount
from headrace.trace.batches import BATCH, Batch, Reader, SkippedKind, named_batches, skipped_kinds
from headrace.trace.darshan import DarshanReader, is_darshan
from headrace.trace.frames import PARQUET, ParquetReader, write_parquet

PARQUET_BEGINS = b"PAR1"


@dataclass(frozen=True)
class Imported:
    """Result of an import.

    Examples:
        >>> hr.trace.synthesize("ior.csv", processes=4)
        Imported(records=48, skipped=[])
    """

    records: int
    skipped: list[SkippedKind]
    """Skipped lines and assumptions of an import."""


@dataclass(frozen=True)
class Information:
    """Summary of a trace.

    Examples:
        >>> info = hr.trace.trace_info("tests/data/traces/copy.strace")
        >>> [(kind.name, kind.count) for kind in info.skipped if kind.reason == "left_out"][:1]
        [('call that changes descriptors, directories or processes alone', 1)]
    """

    summary: dict[str, Any]
    """The figures, in SI units; see `Summary` in the crate `headrace-trace`."""
    skipped: list[SkippedKind]


class _Counted:
    """A reader that counts its records."""

    def __init__(self, reader: Reader, on_progress: OnCount | None = None) -> None:
        self.next_of = reader.next_batch
        self.file_names = reader.file_names
        self.process_names = reader.process_names
        self.skipped = reader.skipped
        self.cancel = reader.cancel
        self.records = 0
        self._on_progress = on_progress

    def next_batch(self, max: int) -> Batch | None:
        batch = self.next_of(max)
        if batch is not None:
            self.records += len(batch["time_ns"])
            if self._on_progress is not None:
                self._on_progress(self.records)
        return batch


def _is_parquet(path: Path, format: str | None) -> bool:
    return format == "parquet" or (format is None and path.suffix in PARQUET)


def _holds_parquet(path: Path) -> bool:
    """Return whether a file begins as Parquet does; pipes are not read."""
    if not path.is_file():
        return False
    with path.open("rb") as file:
        return file.read(len(PARQUET_BEGINS)) == PARQUET_BEGINS


def open_trace(path: str | Path, format: str | None = None, *, messages: bool = False) -> Reader:
    """Open a trace; without a format, by its content or extension.

    With `messages`, a trace of strace gives also records of what passes between processes, and of
    their pauses: the operations `send`, `receive` and `pause`.

    It may be compressed with gzip, be a pipe, or, under the name `-`, standard input; Parquet is
    read from files alone. Raises OSError if it cannot be read, ValueError if it is no such trace.

    Examples:
        >>> reader = hr.trace.open_trace("tests/data/traces/copy.strace")
        >>> hr.trace.frame(reader)["operation"].value_counts(sort=True).row(0)
        ('stat', 37)
    """
    path = Path(path)
    if _is_parquet(path, format) or (format is None and _holds_parquet(path)):
        if path.exists() and not path.is_file():
            kind = "directory" if path.is_dir() else "pipe"
            raise ValueError(f"{path}: is a {kind}: expected a trace file")
        return ParquetReader(path)
    if format == "darshan" or (format is None and is_darshan(path)):
        return DarshanReader(path)
    return TraceReader(path, format, messages)


def import_trace(
    source: str | Path,
    target: str | Path,
    format: str | None = None,
    target_format: str | None = None,
    on_progress: OnCount | None = None,
) -> Imported:
    """Read a trace in any format and writes it as Parquet or CSV.

    `on_progress` is called with the records done so far. Memory does not grow with the trace's
    length. Raises as `open_trace`.

    Examples:
        >>> imported = hr.trace.import_trace("tests/data/traces/copy.strace", "copy.parquet")
        >>> imported.records, [kind.name for kind in imported.skipped][2]
        (142, 'mmap')
    """
    if Path(target).exists() and Path(target).samefile(source):
        raise ValueError(f"{target}: is the source itself: expected another file")
    return write_trace(open_trace(source, format), Path(target), target_format, on_progress)


def trace_info(
    path: str | Path, format: str | None = None, on_progress: OnCount | None = None
) -> Information:
    """Sum up a trace. `on_progress` is called with the records done so far. Memory does not grow
    with the trace's length.

    Examples:
        >>> info = hr.trace.trace_info("tests/data/traces/copy.strace")
        >>> info.summary["records"], info.summary["bytes_read"], info.summary["processes"]
        (142, 34098, 1)
    """
    reader = _Counted(open_trace(path, format), on_progress)
    summarizer = TraceSummarizer()
    while (batch := reader.next_batch(BATCH)) is not None:
        summarizer.add(batch)
    summary = json.loads(summarizer.finish(reader.file_names(summarizer.busiest())))
    return Information(summary, skipped_kinds(reader.skipped()))


def synthesize(
    target: str | Path,
    *,
    target_format: str | None = None,
    processes: int = 1,
    shared: bool = True,
    block: int = 1 << 20,
    transfer: int = 256 << 10,
    segments: int = 1,
    phases: Literal["write", "read", "write-then-read"] = "write-then-read",
    random: bool = False,
    think_ns: int = 0,
    seed: int = 0,
    on_progress: OnCount | None = None,
) -> Imported:
    """Write a synthetic trace in the terms of IOR; sizes are in bytes.

    Each process moves `segments` blocks of `block` bytes, transfer by
    transfer, in a shared file or one of its own, with `think_ns` between its
    requests. The same arguments give the same trace. `on_progress` is called with the records done
    so far.

    Examples:
        >>> hr.trace.synthesize("ior.csv", processes=4, block=1 << 20, transfer=256 << 10).records
        48
    """
    values = {
        "processes": (processes, 32),
        "block": (block, 64),
        "transfer": (transfer, 64),
        "segments": (segments, 64),
        "think_ns": (think_ns, 63),
        "seed": (seed, 64),
    }
    for name, (value, bits) in values.items():
        if not 0 <= value < 1 << bits:
            raise ValueError(f"{name} = {value}: expected a number from 0 to 2^{bits} - 1")
    reader = TraceReader.synthesis(
        processes=processes,
        shared=shared,
        block=block,
        transfer=transfer,
        segments=segments,
        phases=phases,
        random=random,
        think_ns=think_ns,
        seed=seed,
    )
    return write_trace(reader, Path(target), target_format, on_progress)


def write_trace(
    reader: Reader,
    target: str | Path,
    format: str | None = None,
    on_progress: OnCount | None = None,
) -> Imported:
    """Write all that is left of a trace, atomically, in the format of the suffix or the given one.

    `on_progress` is called with the records written so far. Raises OSError if the file cannot be
    written, and what the reader raises.

    Examples:
        >>> reader = hr.trace.open_trace("tests/data/traces/copy.strace")
        >>> hr.trace.write_trace(reader, "copy.csv").records
        142
    """
    target, counted = Path(target), _Counted(reader, on_progress)
    not_written = "[]"
    if _is_parquet(target, format):
        write_parquet(counted, target)
    else:
        with atomic_file(target) as partial:
            not_written = _write_records(counted, target, partial, format)
    skipped = [*skipped_kinds(counted.skipped()), *skipped_kinds(not_written)]
    return Imported(counted.records, skipped)


def _write_records(reader: Reader, target: Path, at: Path, format: str | None) -> str:
    """Write all that is left; return what the format could not hold, as JSON."""
    writer = TraceWriter(target, format, at)
    for batch in named_batches(reader):
        writer.write(batch.columns, batch.files, batch.processes)
    writer.finish()
    return writer.skipped()
