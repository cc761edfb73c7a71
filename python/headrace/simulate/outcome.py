"""Outcome of a run: its figures, and tables that are made when they are first used.

Importing polars takes longer than a small run, and often the figures are all that is wanted.
"""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol, TypeAlias

from headrace._core import Loaded
from headrace.kinds import SIMULATED, with_kind

if TYPE_CHECKING:
    import polars as pl

Document: TypeAlias = dict[str, Any]
Columns: TypeAlias = Mapping[str, Any]
"""Lists or arrays of equal length, by name."""


class Tables(Protocol):
    """The tables of a result."""

    @property
    def series(self) -> "pl.DataFrame":
        """Bytes moved over time."""

    @property
    def latency_distribution(self) -> "pl.DataFrame":
        """The share of requests that took no longer than a latency."""

    @property
    def server_series(self) -> "pl.DataFrame":
        """Utilisation of the data servers over time."""


class Outcome(NamedTuple):
    """Result of a run."""

    document: Document
    tables: Tables


@dataclass(frozen=True)
class RunTables:
    """The tables of one run, from the extension module's columns."""

    seed: int
    simulated_s: float
    """Simulated time of the run, in seconds."""
    window_s: float
    """Length of a window of the series, in seconds."""
    groups: Sequence[str]
    """Names of the groups that the series has by number."""
    series_columns: Columns
    latency_curve: Columns
    server_columns: Columns | None = None

    @cached_property
    def series(self) -> "pl.DataFrame":
        """Bytes moved over time."""
        from headrace.simulate import frames

        return frames.series(self)

    @cached_property
    def latency_distribution(self) -> "pl.DataFrame":
        """The share of requests that took no longer than a latency."""
        from headrace.simulate import frames

        return frames.latency_distribution(self.latency_curve)

    @cached_property
    def server_series(self) -> "pl.DataFrame":
        """Utilisation of the data servers over time."""
        from headrace.simulate import frames

        return frames.server_series(self.seed, self.server_columns)


@dataclass(frozen=True)
class MergedTables:
    """The tables of several replications as one."""

    runs: Sequence[Tables]

    @cached_property
    def series(self) -> "pl.DataFrame":
        """The rows of all runs."""
        from headrace.simulate import frames

        return frames.concatenated([run.series for run in self.runs])

    @cached_property
    def latency_distribution(self) -> "pl.DataFrame":
        """The mean of the shares."""
        from headrace.simulate import frames

        return frames.mean_distribution([run.latency_distribution for run in self.runs])

    @cached_property
    def server_series(self) -> "pl.DataFrame":
        """The rows of all runs."""
        from headrace.simulate import frames

        return frames.concatenated([run.server_series for run in self.runs])


def outcome(loaded: Loaded, ended: Mapping[str, Any]) -> Outcome:
    """Return the extension module's result as an outcome."""
    document: Document = with_kind(SIMULATED, json.loads(ended["report"]))
    tables = RunTables(
        document["seed"],
        document["simulated_seconds"],
        ended["window_s"],
        loaded.groups,
        ended["series"],
        ended["latency_curve"],
        ended.get("servers"),
    )
    return Outcome(document, tables)
