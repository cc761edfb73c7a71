"""Cut a trace: keep the records of some time, processes, files or operations."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from fnmatch import fnmatchcase
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from headrace._core import TRACE_NO_FILE, TRACE_OPERATIONS
from headrace.progress_events import OnCount
from headrace.trace.batches import Batch, Reader
from headrace.trace.edit import Edit, check_timed
from headrace.trace.trace import Imported, open_trace, write_trace


@dataclass(frozen=True)
class Selection:
    """The records to keep: those that meet all conditions.

    Examples:
        >>> hr.trace.Selection(to_s=10, files=("*.h5",), operations=("read", "write"))
        Selection(from_s=None, to_s=10, processes=(), files=('*.h5',), operations=('read', 'write'))
    """

    from_s: float | None = None
    to_s: float | None = None
    """Start of the operation in seconds since the trace's start: from `from_s` on, before
    `to_s`."""
    processes: tuple[str, ...] = ()
    """Patterns of names; empty for all."""
    files: tuple[str, ...] = ()
    """Patterns of names, of which `file` or `other` meets one; * matches / too. Empty for all."""
    operations: tuple[str, ...] = ()
    """Empty for all."""

    def __post_init__(self) -> None:
        for name, value in (("--from", self.from_s), ("--to", self.to_s)):
            if value is not None and not 0 <= value < MOST_S:
                raise ValueError(f"{name} {value}: expected seconds from 0 to {MOST_S:.0e}")
        if self.from_s is not None and self.to_s is not None and self.from_s >= self.to_s:
            raise ValueError(f"--to {self.to_s}: expected more than --from {self.from_s}")
        for name in self.operations:
            if name not in TRACE_OPERATIONS:
                known = ", ".join(TRACE_OPERATIONS)
                raise ValueError(f'operation "{name}": expected one of {known}')


MOST_S = 9e9
"""Times are 64-bit numbers of nanoseconds."""


class CutReader(Edit):
    """The records of a selection. Times count from `from_s`.

    Examples:
        >>> reader = hr.trace.open_trace("tests/data/traces/copy.strace")
        >>> cut = hr.trace.CutReader(reader, hr.trace.Selection(operations=("write",)))
        >>> hr.trace.frame(cut).height, cut.left_out
        (4, 138)
    """

    def __init__(self, source: Reader, selection: Selection) -> None:
        super().__init__(source)
        self._selection = selection
        self._operations = np.array([TRACE_OPERATIONS.index(name) for name in selection.operations])
        self._from_ns = round((selection.from_s or 0) * 1e9)
        self._files = _Chosen(selection.files, source.file_names)
        self._processes = _Chosen(selection.processes, source.process_names)
        self.left_out = 0
        """Records read that do not belong to the selection."""

    def next_batch(self, max: int) -> Batch | None:
        while (batch := self._source.next_batch(max)) is not None:
            chosen = self._chosen(batch)
            count = int(np.count_nonzero(chosen))
            self.left_out += len(chosen) - count
            if count:
                kept = {name: column[chosen] for name, column in batch.items()}
                return kept | {"time_ns": kept["time_ns"] - self._from_ns}
        return None

    def _chosen(self, batch: Batch) -> NDArray[np.bool_]:
        selection = self._selection
        chosen = np.ones(len(batch["time_ns"]), dtype=np.bool_)
        if selection.from_s is not None or selection.to_s is not None:
            check_timed(batch, "--from and --to")
        if selection.from_s is not None:
            chosen &= batch["time_ns"] >= self._from_ns
        if selection.to_s is not None:
            chosen &= batch["time_ns"] < round(selection.to_s * 1e9)
        if selection.operations:
            chosen &= np.isin(batch["operation"], self._operations)
        if selection.processes:
            chosen &= self._processes.of(batch["process"])
        if selection.files:
            chosen &= self._files.of(batch["file"]) | self._files.of(batch["other"])
        return chosen


class _Chosen:
    """Finds the numbers whose names a pattern matches."""

    def __init__(
        self, patterns: tuple[str, ...], names: Callable[[Sequence[int]], list[str]]
    ) -> None:
        self._patterns = patterns
        self._names = names
        self._known: dict[int, bool] = {TRACE_NO_FILE: False}

    def of(self, numbers: NDArray[np.uint32]) -> NDArray[np.bool_]:
        distinct, which = np.unique(numbers, return_inverse=True)
        new = [number for number in distinct.tolist() if number not in self._known]
        for number, name in zip(new, self._names(new), strict=True):
            self._known[number] = any(fnmatchcase(name, pattern) for pattern in self._patterns)
        known = np.array([self._known[number] for number in distinct.tolist()], dtype=np.bool_)
        chosen: NDArray[np.bool_] = known[which]
        return chosen


def cut_trace(
    source: str | Path,
    target: str | Path,
    selection: Selection,
    format: str | None = None,
    target_format: str | None = None,
    on_progress: OnCount | None = None,
) -> tuple[Imported, int]:
    """Write the records of a selection; also return the number of records left out.

    `on_progress` is called with the records written so far. Raises as `import_trace`.

    Examples:
        >>> source = "tests/data/traces/copy.strace"
        >>> reads = hr.trace.Selection(operations=("read",))
        >>> written, left_out = hr.trace.cut_trace(source, "reads.csv", reads)
        >>> written.records, left_out
        (15, 127)
    """
    reader = CutReader(open_trace(source, format), selection)
    written = write_trace(reader, Path(target), target_format, on_progress)
    return written, reader.left_out
