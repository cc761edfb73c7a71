"""The document of a trace's characteristics. Times are in seconds, sizes in bytes."""

from typing import Literal, TypeAlias

import msgspec

from headrace.trace.batches import SkippedKind
from headrace.trace.summary import Summary

Pattern: TypeAlias = Literal["sequential", "monotonic", "strided", "backward", "random", "single"]
"""How a file's requests follow each other. `single`: no request follows another."""


class Operation(msgspec.Struct, frozen=True, kw_only=True):
    """All records of an operation."""

    operation: str
    count: int
    share: float
    """Of all records."""
    bytes: int
    time_s: float | None
    """Durations added up; None if the trace tells none."""
    failed: int
    latency: "Quantiles | None" = None
    """Durations of the calls; None if the trace tells none."""


class SizeClass(msgspec.Struct, frozen=True, kw_only=True):
    """Requests of similar size; classes are powers of two."""

    from_bytes: int
    to_bytes: int
    """The largest size in the class."""
    reads: int
    writes: int


class CommonSize(msgspec.Struct, frozen=True, kw_only=True):
    """A size that many requests have."""

    operation: str
    bytes: int
    count: int


class Steps(msgspec.Struct, frozen=True, kw_only=True):
    """Numbers of requests by their position after the request before, of the same process in the
    same file."""

    first: int = 0
    """No request before since the file was opened."""
    consecutive: int = 0
    """Begins where that one ended."""
    forward: int = 0
    """Begins behind the end of that one."""
    backward: int = 0
    """Ends where that one began."""
    strided: int = 0
    """As far from that one as that one from the one before it, but neither consecutive nor
    backward."""
    jump: int = 0
    """Any other: behind the start of that one, or before it."""


class LengthClass(msgspec.Struct, frozen=True, kw_only=True):
    """Files of similar length; classes are powers of two."""

    to_bytes: int
    """The largest length in the class."""
    files: int
    mean_bytes: float
    following: int = 0
    """Requests that follow another of the same process in the same file."""
    consecutive: int = 0
    """Those that begin where that one ended."""


class SharedFiles(msgspec.Struct, frozen=True, kw_only=True):
    """Files that several processes read or write."""

    files: int
    reads: int
    writes: int
    following: int
    """Requests that follow another of the same process in the same file."""
    consecutive: int
    """Those that begin where that one ended."""


class Heat(msgspec.Struct, frozen=True, kw_only=True):
    """How unequally the files are used. Files without a read or write do not count."""

    files: int
    top_tenth_bytes: float | None
    """Share of the bytes in the tenth of the files with most of them."""
    top_tenth_requests: float | None
    gini_bytes: float | None
    """Gini coefficient: 0 if all files have equal traffic, near 1 if one file has all."""


class File(msgspec.Struct, frozen=True, kw_only=True):
    """A file's use."""

    file: str
    bytes_read: int
    bytes_written: int
    reads: int
    writes: int
    operations: int
    """All records of the file."""
    share_of_bytes: float | None
    share_of_operations: float
    length: int
    """The last byte read or written, plus one."""
    pattern: Pattern
    steps: Steps
    time_s: float | None = None
    """Durations of all records of the file added up; None in documents of earlier versions."""


class Quantiles(msgspec.Struct, frozen=True, kw_only=True):
    """Distribution of times. Quantiles come from a histogram with sixteen classes for each power
    of two, and are within 5 %."""

    count: int
    total_s: float
    mean_s: float | None
    p1_s: float | None = None
    p50_s: float | None
    p90_s: float | None
    p99_s: float | None
    max_s: float | None


class Bursts(msgspec.Struct, frozen=True, kw_only=True):
    """Reads and writes of all processes between gaps."""

    gap_s: float
    """Requests further apart belong to different bursts."""
    count: int
    bytes_mean: float | None
    requests_mean: float | None
    lengths: Quantiles


class Concurrency(msgspec.Struct, frozen=True, kw_only=True):
    """Processes that were in a call at the same time."""

    busy_s: float
    """Time in which at least one process was in a call."""
    call_s: float
    """Durations of all calls added up."""
    share_of_span: float | None
    """`busy_s` over the trace's length: at most 1."""
    mean: float | None
    """Mean number while at least one was."""
    max: int
    alive: float | None
    """Mean number of processes between their first call and their last, over the trace."""


class Syncs(msgspec.Struct, frozen=True, kw_only=True):
    """Syncs of files."""

    count: int
    data_only: int
    time_s: float | None
    bytes_written_per_sync: float | None


class Characteristics(msgspec.Struct, frozen=True, kw_only=True):
    """How a program uses its files."""

    records: int
    processes: int
    moving_processes: int
    """Processes that read or write."""
    files: int
    files_only_read: int = 0
    files_only_written: int = 0
    files_read_and_written: int = 0
    span_s: float | None
    """None of a trace without times."""
    operations: list[Operation]
    bytes_read: int
    bytes_written: int
    read_share_of_bytes: float | None
    read_share_of_requests: float | None
    request_sizes: list[SizeClass]
    common_sizes: list[CommonSize]
    """The exact sizes of most requests, most frequent first."""
    access: Steps
    access_patterns: dict[str, int]
    """Requests in files of each pattern."""
    file_lengths: list[LengthClass]
    """Files that are read or written. A length is the last byte read or written, plus one."""
    shared: SharedFiles | None = None
    """None in documents of earlier versions."""
    heat: Heat
    busiest_files: list[File]
    """Those with most time in calls and those with most bytes, by time, bytes and operations."""
    bursts: Bursts
    think_times: Quantiles
    """From the end of a call to the start of the next one of the same process."""
    concurrency: Concurrency
    syncs: Syncs
    direct_opens: int
    synchronous_opens: int
    mapped: int
    """Calls of mmap and msync that the reader counted and left out."""
    skipped: list[SkippedKind]
    """Skipped lines and assumptions of the reader."""


class TraceReport(msgspec.Struct, frozen=True, kw_only=True):
    """The document of `headrace trace info`."""

    summary: Summary
    skipped: list[SkippedKind]
    """Skipped lines and assumptions of the reader."""
    characteristics: Characteristics | None = None
    """None unless `--full` is given."""
