"""Phases of workloads and the result of IO500 (crates/workload/src/io500.rs)."""

import msgspec


class Phase(msgspec.Struct, frozen=True):
    """An operation in a phase of a workload. Times are since the common start."""

    workload: float
    phase: float
    operation: str
    from_s: float
    to_s: float
    count: float
    bytes: float


class Io500Phase(msgspec.Struct, frozen=True):
    """A phase of IO500."""

    rate: float
    """In `unit`, from the first request of all processes to the end of the last."""
    unit: str
    """GiB/s, or kIOPS: thousands of files a second."""
    seconds: float


class Io500(msgspec.Struct, frozen=True):
    """The phases of IO500, and its score."""

    phases: dict[str, Io500Phase]
    """In its order, by name."""
    bandwidth: float
    """Geometric mean of the phases in GiB/s."""
    metadata: float
    """Geometric mean of the phases in kIOPS."""
    score: float
    """Geometric mean of both."""
