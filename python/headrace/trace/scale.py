"""Scale a trace: its times, its sizes, or the number of its processes."""

import re
from collections.abc import Sequence
from fractions import Fraction
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from headrace._core import TRACE_NO_FILE, TRACE_OPERATIONS
from headrace.progress_events import OnCount
from headrace.trace.batches import Batch, Reader
from headrace.trace.edit import Edit, check_timed
from headrace.trace.trace import Imported, open_trace, write_trace

MOST = 2**64 - 1
PART = 1_000_000
"""Largest numerator and denominator of a factor: intermediate products fit into 64 bits."""
FACTOR = re.compile(r"[0-9]{1,7}(\.[0-9]{1,6})?|[0-9]{1,7}/[0-9]{1,7}")
MOST_TIME = 2**63 - 1
MOVED = [TRACE_OPERATIONS.index(name) for name in ("read", "write")]


def factor(text: str) -> Fraction:
    """Return a factor such as 0.5 or 3/2.

    Raises ValueError if it is none, or if its numerator or denominator is over a million.

    Examples:
        >>> hr.trace.factor("0.5"), hr.trace.factor("3/2")
        (Fraction(1, 2), Fraction(3, 2))
    """
    if not FACTOR.fullmatch(text):
        raise ValueError("expected a number such as 0.5 or 3/2")
    try:
        value = Fraction(text)
    except ZeroDivisionError:
        raise ValueError("expected a number such as 0.5 or 3/2") from None
    if not (value > 0 and value.numerator <= PART and value.denominator <= PART):
        raise ValueError(
            f"expected a positive number with numerator and denominator up to {PART:,}"
        )
    return value


class ScaledReader(Edit):
    """A trace with scaled times and sizes.

    The times between the starts of calls are multiplied by `time`; durations stay. So the order of
    all calls stays, and a timed replay works: a call whose predecessor has not ended is late.

    Offsets and ends are multiplied by `size` and rounded down, so that consecutive calls stay
    consecutive. Calls that move bytes move at least one.
    """

    def __init__(
        self, source: Reader, *, time: Fraction = Fraction(1), size: Fraction = Fraction(1)
    ) -> None:
        super().__init__(source)
        self._time = time
        self._size = size

    def next_batch(self, max: int) -> Batch | None:
        batch = self._source.next_batch(max)
        if batch is None:
            return None
        if self._time != 1:
            check_timed(batch, "--time-factor")
            times = batch["time_ns"]
            scaled = _times(np.abs(times).astype(np.uint64), self._time)
            if np.any(scaled > MOST_TIME):
                raise ValueError(
                    f"--time-factor {self._time}: the times become too large: expected less"
                )
            batch = batch | {"time_ns": np.sign(times) * scaled.astype(np.int64)}
        if self._size != 1:
            batch = batch | self._sized(batch)
        return batch

    def _sized(self, batch: Batch) -> Batch:
        offset, size = batch["offset"], batch["size"]
        # A range to the end of the file may have the largest number as its end.
        ends = offset + np.minimum(size, MOST - offset)
        first, end = _times(offset, self._size), _times(ends, self._size)
        moves = np.isin(batch["operation"], MOVED) & (size > 0)
        return {"offset": first, "size": np.maximum(end - first, moves.astype(np.uint64))}


def _times(values: NDArray[np.uint64], factor: Fraction) -> NDArray[np.uint64]:
    """Multiply, rounding down exactly; what is too large becomes the largest number."""
    up, down = np.uint64(factor.numerator), np.uint64(factor.denominator)
    fits = values <= np.uint64(min(MOST * factor.denominator // factor.numerator, MOST))
    most = np.uint64(MOST)
    known = np.where(fits, values, 0)
    product = known // down * up + known % down * up // down
    return np.where(fits, product, most)


class CopiedReader(Edit):
    """A trace with several copies of each process.

    Copy 0 is the trace. Copy n has processes PROCESS+n, and files below /copy-n, unless the copies
    share the files. All copies make their calls at the same times.
    """

    def __init__(self, source: Reader, copies: int, *, shared: bool = False) -> None:
        super().__init__(source)
        if not 1 <= copies <= MOST_COPIES:
            raise ValueError(f"--process-copies {copies}: expected 1 to {MOST_COPIES:,} copies")
        self._copies = copies
        self._files = 1 if shared else copies

    def next_batch(self, max: int) -> Batch | None:
        batch = self._source.next_batch(-(-max // self._copies))
        if batch is None:
            return None
        rows = len(batch["time_ns"])
        number = np.tile(np.arange(self._copies, dtype=np.uint64), rows)
        columns = {name: np.repeat(column, self._copies) for name, column in batch.items()}
        columns["process"] = _numbered(columns["process"], number, self._copies)
        if self._files > 1:
            columns["file"] = _numbered(columns["file"], number, self._copies)
            has_other = columns["other"] != TRACE_NO_FILE
            other = columns["other"].copy()
            other[has_other] = _numbered(other[has_other], number[has_other], self._copies)
            columns["other"] = other
        return columns

    def file_names(self, numbers: Sequence[int]) -> list[str]:
        names = self._source.file_names([number // self._files for number in numbers])
        return [
            _below(name, number % self._files) for name, number in zip(names, numbers, strict=True)
        ]

    def process_names(self, numbers: Sequence[int]) -> list[str]:
        names = self._source.process_names([number // self._copies for number in numbers])
        copies = [number % self._copies for number in numbers]
        return [f"{key}+{copy}" if copy else key for key, copy in zip(names, copies, strict=True)]


MOST_COPIES = 100_000


def _numbered(
    numbers: NDArray[np.uint32], copy: NDArray[np.uint64], copies: int
) -> NDArray[np.uint32]:
    wide = numbers.astype(np.uint64) * np.uint64(copies) + copy
    if np.any(wide >= TRACE_NO_FILE):
        raise ValueError(f"--process-copies {copies}: more than 2^32 names: expected fewer copies")
    return wide.astype(np.uint32)


def _below(name: str, copy: int) -> str:
    if not copy:
        return name
    return f"/copy-{copy}{name}" if name.startswith("/") else f"copy-{copy}/{name}"


def scale_trace(
    source: str | Path,
    target: str | Path,
    *,
    time: Fraction = Fraction(1),
    size: Fraction = Fraction(1),
    copies: int = 1,
    shared: bool = False,
    format: str | None = None,
    target_format: str | None = None,
    on_progress: OnCount | None = None,
) -> Imported:
    """Write a trace with scaled times and sizes, and copies of its processes.

    `on_progress` is called with the records written so far. Raises as `import_trace`, and
    ValueError for values out of range.

    Examples:
        >>> source, half = "tests/data/traces/copy.strace", hr.trace.factor("1/2")
        >>> hr.trace.scale_trace(source, "twice.csv", time=half, copies=2).records
        284
    """
    scaled = ScaledReader(open_trace(source, format), time=time, size=size)
    copied = CopiedReader(scaled, copies, shared=shared)
    return write_trace(copied, Path(target), target_format, on_progress)
