"""Counter sources: the interface, and what their files have in common."""

import os
from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, NamedTuple, Protocol, TypeAlias

Raw: TypeAlias = dict[str, Any]
"""Cumulative counters and current values of a source in one sample, as JSON has them."""
Columns: TypeAlias = dict[str, float | None]
"""Figures of an interval by column name; None if a figure is unknown."""
Read: TypeAlias = Callable[[], Raw | None]
"""Read the counters of a sample; None if there are none. It may raise OSError."""

LARGEST = 2**64
"""Counters of the kernel are below it."""
WRAPPED = 2**32
"""Counters that the kernel prints as unsigned int start again at 0 here."""
DIGITS = 32
"""Characters within which a counter follows its name."""
CHUNK = 1 << 13
"""Bytes that one read asks for."""


class Look(Protocol):
    """A source that is read between two samples."""

    @property
    def shortest_s(self) -> float:
        """Time to its next look at least, in seconds."""

    def look(self) -> None:
        """Count the present state."""


@dataclass
class Watched:
    """The kernel's files, and the processes and the control group that are watched."""

    proc: Path = Path("/proc")
    sys: Path = Path("/sys")
    cgroup: Path | None = None
    """Directory of a control group (version 2)."""
    roots: Callable[[], Iterable[int]] | None = None
    """Return the processes whose trees are watched; None to watch no processes."""
    tracer: int | None = None
    """Process in the tree whose own figures do not count. Its program may be that of the profiled
    one, such as Python."""
    looks: "list[Look]" = field(default_factory=list)
    """What is read more often than the counters, between two samples."""
    left_out: Counter[str] = field(default_factory=Counter)
    """Lines, files and processes that could not be read, by source."""


class Source(NamedTuple):
    """A source of counters."""

    name: str
    """Key in a sample."""
    open: Callable[[Watched], Read | None]
    """Open the files; None if this kernel does not have them. It may raise OSError."""
    rates: Callable[[Raw, Raw, float], Columns]
    """Return the columns of the interval between two samples, given its length in seconds."""


class CounterFile:
    """A file of the kernel that stays open and is read again for each sample."""

    def __init__(self, path: Path) -> None:
        self._descriptor = os.open(path, os.O_RDONLY | os.O_CLOEXEC)

    def read(self) -> bytes:
        """Return the whole text. Raises OSError."""
        text = os.pread(self._descriptor, CHUNK, 0)
        # The kernel may return less than is there, so only an empty read is the end.
        while part := os.pread(self._descriptor, CHUNK, len(text)):
            text += part
        return text

    def __del__(self) -> None:
        descriptor = getattr(self, "_descriptor", None)
        if descriptor is not None:
            os.close(descriptor)


def open_file(path: Path) -> CounterFile | None:
    """Return an open file; None if it does not exist or cannot be read."""
    try:
        return CounterFile(path)
    except OSError:
        return None


def naturals(words: Iterable[bytes]) -> list[int] | None:
    """Return words as counters; None if one is no number from 0 to 2**64 - 1."""
    try:
        values = list(map(int, words))
    except ValueError:
        return None
    if values and not (min(values) >= 0 and max(values) < LARGEST):
        return None
    return values


def number_after(text: bytes, key: bytes) -> int | None:
    """Return the counter after the first occurrence of a key; -1 if it is no counter, None if the
    key does not occur."""
    at = text.find(key)
    if at < 0:
        return None
    at += len(key)
    # Searching is much cheaper than dividing a text of some hundred lines.
    values = naturals(text[at : at + DIGITS].split(None, 1)[:1])
    return values[0] if values else -1


def as_text(name: bytes) -> str:
    """Return a name of the kernel as text."""
    return name.decode("utf-8", "replace")


def per_second(before: int | float, after: int | float, seconds: float) -> float | None:
    """Return the rate of a counter; None if it was reset."""
    return (after - before) / seconds if after >= before else None


def growth(before: int, after: int) -> int | None:
    """Return the growth of a counter that may start again at 2**32; None if it was reset."""
    if after >= before:
        return after - before
    if before < WRAPPED and (wrapped := after + WRAPPED - before) < WRAPPED // 2:
        return wrapped
    return None


def ratio(part: float | None, whole: float | None) -> float | None:
    """Return a quotient; None if it is unknown or there is nothing to divide by."""
    return part / whole if part is not None and whole else None


def with_prefix(prefix: str, columns: Mapping[str, float | None]) -> Columns:
    """Return columns with a prefix before their names."""
    return {f"{prefix}.{name}": value for name, value in columns.items()}
