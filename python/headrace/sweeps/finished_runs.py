"""Finished runs of a sweep on disk, so that none is run twice."""

import contextlib
from collections.abc import Mapping
from pathlib import Path
from types import TracebackType
from typing import Self

import msgspec

from headrace.fields import decode_json
from headrace.files import make_directory, name_failure, open_to_append
from headrace.locks import try_lock
from headrace.sweeps.task import Outcome

FILE = "runs.jsonl"


class Line(msgspec.Struct, frozen=True):
    """One finished run."""

    key: str
    outcome: Outcome


class FinishedRuns:
    """The outcomes of finished runs by key, in a file that grows by a line a run.

    A line that was cut off by a kill is removed; failures are tried again by the next sweep.
    """

    def __init__(self, directory: Path) -> None:
        """Open or begin the record in a directory.

        Raises:
            ValueError: A line is no run: the file is something else; or another sweep writes it.
            OSError: The file cannot be read or written.
        """
        self.path = directory / FILE
        self._known: dict[str, Outcome] = {}
        make_directory(directory)
        self._file = open_to_append(self.path)
        try:
            self._lock()
            self._read()
        except BaseException:
            self._file.close()
            raise

    def _lock(self) -> None:
        try:
            locked = try_lock(self._file)
        except OSError:
            # A file system without locks.
            return
        if not locked:
            raise ValueError(
                f"{self.path}: another sweep writes it: wait for its end, or choose another"
                " directory"
            )

    def _read(self) -> None:
        self._file.seek(0)
        whole = 0
        for number, line in enumerate(self._file, 1):
            if not line.endswith(b"\n"):
                break
            try:
                run = decode_json(line, Line)
            except ValueError as error:
                raise ValueError(
                    f"{self.path}:{number}: expected a run of a sweep: {error}; choose another"
                    " directory"
                ) from None
            if not run.outcome.error:
                self._known[run.key] = run.outcome
            whole += len(line)
        self._file.truncate(whole)

    @property
    def known(self) -> Mapping[str, Outcome]:
        """Successful runs by key."""
        return self._known

    def add(self, key: str, outcome: Outcome) -> None:
        """Add a run; it survives the end of this process."""
        try:
            self._file.write(msgspec.json.encode(Line(key, outcome)) + b"\n")
            self._file.flush()
        except OSError as error:
            name_failure(error, self.path)
            raise
        if not outcome.error:
            self._known[key] = outcome

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        # A line that could not be written would fail once more.
        with contextlib.suppress(OSError):
            self._file.close()
