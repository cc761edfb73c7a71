"""Contents of a Darshan log: counters, segments and Lustre layouts as tables."""

import importlib.util
import signal
import subprocess
import sys
import tempfile
from dataclasses import dataclass, field
from pathlib import Path
from typing import IO

import msgspec
import numpy as np
import polars as pl

from headrace.trace.darshan.messages import (
    SEGMENT,
    Counters,
    Header,
    SegmentRecord,
    Stripes,
    read_messages,
)

INSTALL = "reading a Darshan log needs PyDarshan: run `pip install 'headrace[darshan]'`"

MAGIC = (6_567_223).to_bytes(8, "little"), (6_567_223).to_bytes(8, "big")
"""Bytes 8 to 15 of a log of Darshan 3 (darshan-log-format.h, DARSHAN_MAGIC_NR)."""
HEAD = 16
SUFFIX = ".darshan"
LONGEST_S = 1e9
"""Largest time in a log that is believed: 31 years."""
STREAMS = ("<STDIN>", "<STDOUT>", "<STDERR>")
"""Names of the standard streams in the module STDIO."""


@dataclass(frozen=True)
class Segments:
    """Reads and writes of one DXT module: arrays of equal length in the order of time."""

    identifier: np.ndarray[tuple[int], np.dtype[np.uint64]]
    """Record identifier of the file."""
    rank: np.ndarray[tuple[int], np.dtype[np.int64]]
    is_write: np.ndarray[tuple[int], np.dtype[np.bool_]]
    offset: np.ndarray[tuple[int], np.dtype[np.int64]]
    """Bytes; negative if Darshan did not record it."""
    length: np.ndarray[tuple[int], np.dtype[np.int64]]
    """Bytes."""
    start_s: np.ndarray[tuple[int], np.dtype[np.float64]]
    """Seconds since the start of the job."""
    end_s: np.ndarray[tuple[int], np.dtype[np.float64]]

    def __len__(self) -> int:
        return len(self.identifier)


@dataclass(frozen=True)
class DarshanLog:
    """A Darshan log in memory.

    Examples:
        >>> log = hr.trace.read_log("ior.darshan")
        >>> list(log.counters), log.file_name(log.counters["POSIX"]["id"][0])
        (['POSIX', 'MPI-IO', 'H5F', 'H5D', 'STDIO'], '/global/cscratch1/sd/ssnyder/test123.h5')
    """

    path: Path
    header: Header
    counters: dict[str, pl.DataFrame]
    """Records by module: columns `id`, `rank`, `file` and PyDarshan's counters. `rank` is -1 for
    all processes together. Counters that the log lacks are null."""
    segments: dict[str, Segments]
    """Reads and writes by DXT module."""
    stripes: dict[int, Stripes] = field(default_factory=dict)
    """Lustre layouts by record identifier."""
    hosts: dict[int, str] = field(default_factory=dict)
    """Host of each rank that DXT recorded."""

    def file_name(self, identifier: int) -> str:
        """Return the name of a file, or one made of its identifier."""
        return self.header.names.get(identifier, f"<file {identifier}>")


def is_darshan(path: Path) -> bool:
    """Return whether a file begins as a Darshan log does, or is named as one; pipes are not
    read."""
    if not path.is_file():
        return False
    with path.open("rb") as file:
        head = file.read(HEAD)
    return head[8:] in MAGIC or path.suffix == SUFFIX


def read_log(path: str | Path) -> DarshanLog:
    """Read a log in a process of its own.

    The segments and counters are held in memory: 48 bytes a segment, some 700 a record.

    Raises OSError if the file cannot be read, ValueError if it is no intact log or PyDarshan is
    missing.

    Examples:
        >>> log = hr.trace.read_log("ior.darshan")
        >>> log.counters["POSIX"]["POSIX_BYTES_WRITTEN"].sum()
        4195800
    """
    path = Path(path)
    if path.exists() and not path.is_file():
        kind = "directory" if path.is_dir() else "pipe"
        raise ValueError(f"{path}: is a {kind}: expected a Darshan log, which is read from a file")
    if str(path) == "-":
        raise ValueError("-: expected the name of a Darshan log, which is read from a file")
    with path.open("rb") as file:
        head = file.read(HEAD)
    _check_head(path, head)
    if importlib.util.find_spec("darshan") is None:
        raise ValueError(f"{path}: {INSTALL}")
    return read_by_process(path)


def read_by_process(path: Path) -> DarshanLog:
    """Read a log with an intact head in a process of its own; raise ValueError if it is damaged."""
    # The option -P keeps the working directory, which may have a file of the same name, from
    # the search path.
    arguments = [sys.executable, "-P", "-m", f"{__package__}.log_process", str(path.absolute())]
    with (
        tempfile.TemporaryFile() as errors,
        subprocess.Popen(
            arguments, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=errors
        ) as process,
    ):
        assert process.stdout is not None
        try:
            contents: DarshanLog | Exception = read_contents(path, process.stdout)
        except (EOFError, msgspec.MsgspecError, ValueError) as error:
            contents = error
        except BaseException:
            process.kill()
            raise
        process.stdout.close()
        status = process.wait()
        errors.seek(0)
        text = errors.read().decode("utf-8", "replace")
    problem = _problem(status, text)
    if problem is None and isinstance(contents, Exception):
        problem = str(contents) or "its end is missing"
    if problem is not None:
        raise ValueError(f"{path}: damaged Darshan log: {problem}")
    assert not isinstance(contents, Exception)
    return contents


def _check_head(path: Path, head: bytes) -> None:
    expected = "expected a log of Darshan 3"
    if head[8:] in MAGIC:
        if not head.startswith(b"3."):
            version = head[:8].split(b"\0")[0].decode("ascii", "replace")
            raise ValueError(f"{path}: a log of Darshan format {version!r}: {expected}")
        return
    if head.startswith((b"\x1f\x8b", b"BZh")):
        kind = "compressed by gzip or bzip2, as logs of Darshan 1 and 2 are"
        raise ValueError(f"{path}: {kind}: {expected}; darshan-convert converts older logs")
    raise ValueError(f"{path}: not a Darshan log: {expected}")


def _problem(status: int, text: str) -> str | None:
    """Return the problem of the process that read the log, in one line."""
    lines = [line.strip() for line in text.splitlines() if line.strip()]
    for line in lines:
        if line.lower().startswith("error"):
            return line.split(":", 1)[-1].strip().rstrip(".") or line
    if status < 0:
        try:
            name = signal.Signals(-status).name
        except ValueError:
            name = f"signal {-status}"
        return f"PyDarshan ended with {name}"
    if status:
        return lines[-1] if lines else f"PyDarshan ended with status {status}"
    return None


class _Contents:
    """Contents read so far."""

    def __init__(self, path: Path, header: Header) -> None:
        self._path = path
        self._header = header
        self._counters: dict[str, list[pl.DataFrame]] = {}
        self._segments: dict[str, list[SegmentRecord]] = {}
        self._stripes: dict[int, Stripes] = {}
        self._hosts: dict[int, str] = {}

    def add(self, message: Counters | SegmentRecord | Stripes) -> None:
        match message:
            case Counters():
                frame = _frame(message, self._header)
                self._counters.setdefault(message.module, []).append(frame)
            case SegmentRecord():
                if message.rank < 0:
                    raise ValueError(f"rank {message.rank} in module {message.module}")
                self._segments.setdefault(message.module, []).append(message)
                self._hosts[message.rank] = message.host
            case Stripes():
                self._stripes[message.identifier] = message

    def finish(self) -> DarshanLog:
        return DarshanLog(
            path=self._path,
            header=self._header,
            counters={name: pl.concat(frames) for name, frames in self._counters.items()},
            segments={name: _joined(name, parts) for name, parts in self._segments.items()},
            stripes=self._stripes,
            hosts=self._hosts,
        )


def read_contents(path: Path, source: IO[bytes]) -> DarshanLog:
    """Read the messages of the process that reads a log."""
    contents: _Contents | None = None
    for message in read_messages(source):
        if isinstance(message, Header):
            if not 1 <= message.processes < 1 << 31:
                raise ValueError(f"{message.processes} processes")
            contents = _Contents(path, message)
        elif contents is None:
            raise EOFError
        else:
            contents.add(message)
    if contents is None:
        raise EOFError
    return contents.finish()


def _frame(message: Counters, header: Header) -> pl.DataFrame:
    identifiers = np.frombuffer(message.identifiers, np.uint64)
    rows = len(identifiers)
    counters = np.frombuffer(message.counters, np.int64).reshape(rows, -1)
    times = np.frombuffer(message.times, np.float64).reshape(rows, -1)
    names = [header.names.get(number) for number in identifiers.tolist()]
    columns: dict[str, pl.Series] = {
        "id": pl.Series(identifiers, dtype=pl.UInt64),
        "rank": pl.Series(np.frombuffer(message.ranks, np.int64)),
        "file": pl.Series(names, dtype=pl.String),
    }
    for number, name in enumerate(message.counter_names):
        columns[name] = pl.Series(counters[:, number])
    for number, name in enumerate(message.time_names):
        columns[name] = pl.Series(times[:, number])
    frame = pl.DataFrame(columns)
    # Darshan writes -1 for what it did not count. Times of records that were reduced over all
    # processes may be meaningless negative numbers.
    counted, timed = pl.col(message.counter_names), pl.col(message.time_names)
    return frame.with_columns(
        pl.col("file").fill_null(pl.format("<file {}>", pl.col("id"))),
        pl.when(counted >= 0).then(counted),
        pl.when((timed >= 0) & (timed < LONGEST_S)).then(timed),
    )


def _joined(name: str, records: list[SegmentRecord]) -> Segments:
    """Segments of all records in the order of time. Raises ValueError if one is impossible."""
    counts = [record.writes + record.reads for record in records]
    segments = np.frombuffer(b"".join(record.segments for record in records), SEGMENT)
    if len(segments) != sum(counts):
        raise ValueError(f"module {name} has {len(segments)} segments, expected {sum(counts)}")
    is_write = np.concatenate(
        [np.repeat([True, False], [record.writes, record.reads]) for record in records]
    )
    start, end = segments["start_s"], segments["end_s"]
    if (segments["length"] < 0).any():
        raise ValueError(f"a request of negative length in module {name}")
    if not ((np.abs(start) < LONGEST_S) & (np.abs(end) < LONGEST_S)).all():
        raise ValueError(f"an impossible time in module {name}")
    ranks = np.repeat(np.array([record.rank for record in records], np.int64), counts)
    # Ties stay in the order of the log, which is that of each process.
    order = np.lexsort((np.arange(len(start)), ranks, start))
    return Segments(
        identifier=np.repeat(np.array([it.identifier for it in records], np.uint64), counts)[order],
        rank=ranks[order],
        is_write=is_write[order],
        offset=segments["offset"][order],
        length=segments["length"][order],
        start_s=start[order],
        end_s=end[order],
    )
