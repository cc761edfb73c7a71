"""Figures of a trace, as the crate `headrace-trace` gives them. Times are in seconds, sizes in
bytes."""

import msgspec


class OperationTotal(msgspec.Struct, frozen=True, kw_only=True):
    """All records of an operation."""

    operation: str
    count: int
    bytes: int
    seconds: float | None
    """Sum of the durations; None if the trace has none."""
    without_duration: int
    """Records without a duration."""


class SizeClass(msgspec.Struct, frozen=True, kw_only=True):
    """Requests of similar size; classes are powers of two."""

    least: int = msgspec.field(name="from")
    most: int = msgspec.field(name="to")
    reads: int
    writes: int


class BusyFile(msgspec.Struct, frozen=True, kw_only=True):
    """Traffic of a file."""

    file: str
    bytes_read: int
    bytes_written: int


class Summary(msgspec.Struct, frozen=True, kw_only=True):
    """Figures of a trace."""

    records: int
    processes: int
    files: int
    span_seconds: float | None
    """None for a trace without times."""
    bytes_read: int
    bytes_written: int
    metadata_share: float | None
    sequential_share: float | None
    operations: list[OperationTotal]
    request_sizes: list[SizeClass]
    busiest_files: list[BusyFile]
    """Files with the most bytes, in descending order."""
