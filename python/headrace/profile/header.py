"""The header of a recording: how it was made."""

import os
from collections.abc import Iterator
from datetime import datetime
from pathlib import Path
from typing import Any

import msgspec

from headrace.fields import decode_json
from headrace.files import atomic_file

FILE = "recording.json"
SAMPLES = "samples.jsonl"
FORMAT = 1
LONGEST_S = 1e9
"""Seconds that no recording lasts."""


class Attached(msgspec.Struct, frozen=True, omit_defaults=True):
    """Process that was watched instead of a program."""

    pid: int | None = None
    pid_name: str | None = None
    cgroup: str | None = None
    seconds: float | None = None


class Sampling(msgspec.Struct, frozen=True):
    """Cost and gaps of the sampling."""

    samples: int
    missed: int
    """Intervals without a sample."""
    left_out: dict[str, int]
    """Entries that were left out, by the reason."""
    processor_s: float
    """The profiler's own processor time."""


class Header(msgspec.Struct, kw_only=True):
    """How a recording was made. The last fields are added at its end; a kill leaves None."""

    format: int = FORMAT
    version: str
    """Headrace's."""
    name: str
    """Name of the application."""
    command: list[str]
    """The program and its arguments; empty if a running one was watched."""
    started: str
    """Time 0 of the samples in UTC, ISO 8601."""
    interval_s: float
    hosts: list[str]
    attached: Attached | None = None
    """What was watched instead of a program; None for a program."""
    environment: dict[str, Any] = {}
    capture: str | None = None
    """Method that captured the trace of file operations."""
    not_captured: int = 0
    """Running processes that the method could not capture."""
    clock_uncertainty_s: float | None = None
    """Uncertainty of the times of other hosts."""
    duration_s: float | None = None
    exit_status: int | None = None
    sampling: Sampling | None = None


def write_header(directory: Path, header: Header) -> None:
    """Write the header of a recording, atomically. Raises OSError if it cannot be written."""
    content = _as_unicode(msgspec.to_builtins(header))
    with atomic_file(directory / FILE) as partial:
        partial.write_bytes(msgspec.json.format(msgspec.json.encode(content)) + b"\n")


def _as_unicode(content: Any) -> Any:
    """Return content with `\\xNN` for bytes of arguments and paths that are no UTF-8."""
    if isinstance(content, str):
        return os.fsencode(content).decode(errors="backslashreplace")
    if isinstance(content, dict):
        return {key: _as_unicode(value) for key, value in content.items()}
    return [_as_unicode(item) for item in content] if isinstance(content, list) else content


def read_header(directory: Path) -> Header:
    """Return the header of a recording.

    Raises OSError if there is none, ValueError if it is damaged or of a later version.
    """
    path = directory / FILE
    try:
        header = decode_json(path.read_bytes(), Header)
    except ValueError as error:
        raise ValueError(f"{path}: expected the header of a recording: {error}") from None
    if header.format > FORMAT:
        raise ValueError(
            f"{path}: format {header.format}: expected at most {FORMAT}: use the Headrace version"
            " that made the recording"
        )
    for name, expected in _wrong(header):
        raise ValueError(f"{path}: {name}: expected {expected}")
    return header


def _wrong(header: Header) -> Iterator[tuple[str, str]]:
    """Yield each field with a value that no recording has, and what was expected."""
    from headrace.profile.capture import METHODS

    if not header.hosts:
        yield "hosts", "at least one name"
    if not 0 < header.interval_s <= LONGEST_S:
        yield f"interval_s = {header.interval_s:g}", "seconds above 0"
    if header.duration_s is not None and not 0 <= header.duration_s <= LONGEST_S:
        yield f"duration_s = {header.duration_s:g}", f"seconds from 0 to {LONGEST_S:g}"
    if header.capture is not None and header.capture not in METHODS:
        yield f'capture = "{header.capture}"', f"null or one of {', '.join(METHODS)}"
    try:
        datetime.fromisoformat(header.started)
    except ValueError:
        yield f'started = "{header.started}"', "a time such as 2026-01-31T12:00:00Z"
