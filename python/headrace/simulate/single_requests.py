"""Single requests of runs, collected in memory or in a file."""

import contextlib
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, Protocol, TypeAlias

import polars as pl

from headrace import interruption
from headrace._core import Loaded
from headrace.files import name_failure
from headrace.parquet import parquet_file, polars_errors
from headrace.simulate.frames import named

Columns: TypeAlias = dict[str, Any]

interruption.import_numpy()

PART = 1_000_000
"""Requests of a part of a file: some 80 MB while they are in memory."""


class Requests(Protocol):
    """Takes single requests in."""

    def begin(self) -> None:
        """A run begins."""

    def add(self, requests: pl.DataFrame) -> None:
        """Some more are done."""

    def forget(self) -> None:
        """Discard the requests since the run began: they were its warm-up."""


def collect_requests(
    requests: Requests, loaded: Loaded, *, with_seed: bool
) -> Callable[[Columns | None], None]:
    """Return a callback for a run's requests; the seed distinguishes those of several runs."""
    groups = pl.Series(loaded.groups, dtype=pl.String)
    seed = pl.lit(loaded.seed, dtype=pl.UInt64).alias("seed")
    requests.begin()

    def take(columns: Columns | None) -> None:
        if columns is None:
            requests.forget()
            return
        frame = named(columns, groups)
        requests.add(frame.with_columns(seed) if with_seed else frame)

    return take


class InMemory:
    """All requests, as one frame in the end."""

    def __init__(self) -> None:
        self._frames: list[pl.DataFrame] = []
        self._begun = 0

    def begin(self) -> None:
        self._begun = len(self._frames)

    def add(self, requests: pl.DataFrame) -> None:
        self._frames.append(requests)

    def forget(self) -> None:
        del self._frames[self._begun :]

    def frame(self) -> pl.DataFrame:
        return pl.concat(self._frames)


class InFile:
    """Requests in a Parquet file. Only a part is in memory; parts are files beside it until it is
    complete."""

    def __init__(self, parts: Path) -> None:
        self._directory = parts
        self._parts: list[Path] = []
        self._frames: list[pl.DataFrame] = []
        self._begun = 0

    def begin(self) -> None:
        self._write_part()
        self._begun = len(self._parts)

    def add(self, requests: pl.DataFrame) -> None:
        self._frames.append(requests)
        if sum(frame.height for frame in self._frames) >= PART:
            self._write_part()

    def forget(self) -> None:
        self._frames.clear()
        for part in self._parts[self._begun :]:
            part.unlink()
        del self._parts[self._begun :]

    def _write_part(self) -> None:
        if not self._frames:
            return
        part = self._directory / f"{len(self._parts)}.parquet"
        with interruption.defer_signals(), polars_errors(part):
            pl.concat(self._frames).write_parquet(part)
        self._parts.append(part)
        self._frames.clear()

    def save(self, path: Path) -> None:
        """Write all requests to a file, atomically."""
        self._write_part()
        with parquet_file(path) as file, interruption.defer_signals():
            pl.scan_parquet(self._parts).sink_parquet(file)


@contextlib.contextmanager
def in_file(path: Path) -> Iterator[InFile]:
    """Collect requests for a file; remove the parts beside it at the end."""
    beside = path.parent if path.is_file() or not path.exists() else None
    with tempfile.TemporaryDirectory(prefix=".headrace-requests-", dir=beside) as parts:
        try:
            yield InFile(Path(parts))
        except OSError as error:
            name_failure(error, path, parts)
            raise
