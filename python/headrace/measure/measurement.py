"""Measurements on a real file system, and their settings."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING, Any

import msgspec
import numpy as np
import polars as pl

from headrace import _core, kinds
from headrace.files import save_json
from headrace.histograms import SCHEMA, By, percentiles
from headrace.host import this_host
from headrace.measure.report import EngineReport, Report
from headrace.store import open as open_store

if TYPE_CHECKING:
    from headrace.render.style import NotebookFigure as Figure

KIND = "measured"
SERIES = pl.Schema(
    {
        "time_s": pl.Float64,
        "window_s": pl.Float64,
        "operation": pl.String,
        "count": pl.UInt64,
        "bytes": pl.UInt64,
        "operations_per_s": pl.Float64,
        "throughput_bytes_per_s": pl.Float64,
        "latency_mean_s": pl.Float64,
        "latency_max_s": pl.Float64,
    }
)
"""Columns of a measurement's series."""


@dataclass(frozen=True)
class Measurement:
    """Result of a measurement on a real file system. Column names of its frames end in SI units.

    Examples:
        >>> sets = {"clients.count": 2, "workload.files": 4}
        >>> workload = hr.measure.load("scenarios/striped-read.toml", sets)
        >>> measured = hr.measure.measure(workload, ".")
        >>> measured.note_sets(["clients.count=2", "workload.files=4"])
        >>> measured.document["scenario"]["sets"]
        ['clients.count=2', 'workload.files=4']
        >>> measured.name, measured.partial
        ('striped read', False)
        >>> measured.percentiles([0.5, 0.99])["operation"].to_list()
        ['read', 'read', 'all', 'all']
        >>> measured.tables["series"].columns[:4]
        ['time_s', 'window_s', 'operation', 'count']
        >>> measured.save("measured.json")
        >>> measured.keep(labels={"disk": "new"}) == hr.store.open().find("last")
        True
        >>> measured.json()["kind"]
        'measured'
    """

    report: Report
    """All figures."""
    series: pl.DataFrame
    """Operations, bytes and latency over time, by operation."""
    counters: pl.DataFrame
    """Processor, memory and device counters over time."""
    histograms: pl.DataFrame
    """Latency histograms, as `headrace.histograms` defines them."""
    stop_signal: int | None = None
    """Signal to end (Ctrl-C is one) that arrived during the measurement, perhaps too late to stop
    it. The caller must not measure more. None with several ranks, which decide together."""

    @property
    def document(self) -> dict[str, Any]:
        """All figures, as `headrace bench --json` prints them."""
        return self.report.json()

    @property
    def name(self) -> str:
        """Name of the scenario."""
        return self.report.scenario.name

    @property
    def partial(self) -> bool:
        """True if the measurement ended early: it was interrupted, or an operation failed."""
        return self.report.stop.early

    def note_sets(self, sets: Sequence[str]) -> None:
        """Record in the document the values that override the scenario's file, as `path=value`. A
        simulation beside it uses the same values."""
        if sets:
            self.report.scenario.sets = list(sets)

    def percentiles(self, quantiles: Sequence[float], *, by: By = "operation") -> pl.DataFrame:
        """Return latency percentiles in seconds by operation, or by group of operations, and of all
        operations."""
        return percentiles([self.histograms], quantiles, by=by)

    def json(self) -> dict[str, Any]:
        """All figures, as `headrace bench --json` prints them."""
        return self.document

    def keep(
        self, *, started: datetime | None = None, labels: Mapping[str, str] | None = None
    ) -> str:
        """Save the measurement in the store and return its identifier."""
        return open_store().add(
            self.document,
            {name: table for name, table in self.tables.items() if table.height},
            kind=KIND,
            started=started,
            labels=labels,
        )

    @property
    def tables(self) -> dict[str, pl.DataFrame]:
        """Its tables, by their names in the store."""
        return {"series": self.series, "counters": self.counters, "histograms": self.histograms}

    def save(self, path: str | PathLike[str]) -> None:
        """Save the measurement as JSON, atomically."""
        document = self.document | {
            "host": this_host(),
            "series": self.series.to_dict(as_series=False),
            "counter_series": self.counters.to_dict(as_series=False),
            "histograms": self.histograms.to_dict(as_series=False),
        }
        save_json(Path(path), document)

    def plot(self, figure: str = "throughput") -> "Figure":
        """Draw a figure that `headrace bench run --plot` writes.

        Parameters:
            figure: `operations`, `throughput`, `latency` or `counters`.

        Raises:
            ValueError: if there is no such figure.

        Examples:
            >>> sets = {"clients.count": 2, "workload.files": 4}
            >>> workload = hr.measure.load("scenarios/striped-read.toml", sets)
            >>> hr.measure.measure(workload, ".").plot("latency")
            <NotebookFigure size ...>
        """
        return kinds.picture(KIND, self.document, figure, **self.tables)

    def _repr_html_(self) -> str:
        return kinds.html(KIND, self.document)

    def __repr__(self) -> str:
        return f"<Measurement of {self.name!r}: {self.report.stop.reason}>"


@dataclass(frozen=True)
class EngineResult:
    """Result of the load engine, as `headrace._core.measure` returns it."""

    report: str
    """An `EngineReport` in JSON."""
    window_s: float
    """Seconds of a window of the series."""
    series: Mapping[str, np.ndarray]
    histograms: Sequence[tuple[tuple[str, ...], tuple[int, int, int] | None]]
    """Texts of each histogram, and its exact sum, least and largest time in ns."""

    def engine_report(self) -> EngineReport:
        """Return the report."""
        return msgspec.json.decode(self.report, type=EngineReport)


def measured(report: Report, result: EngineResult, counters: pl.DataFrame) -> Measurement:
    """Build a measurement from the load engine's result and the machine's counters."""
    names = np.array([name for name, _, _ in _core.operations()])
    columns, window = result.series, result.window_s
    count = np.maximum(columns["count"], 1)
    series = pl.DataFrame(
        {
            "time_s": columns["time_s"],
            "window_s": np.full(len(count), window),
            "operation": names[columns["operation"]],
            "count": columns["count"],
            "bytes": columns["bytes"],
            "operations_per_s": columns["count"] / window,
            "throughput_bytes_per_s": columns["bytes"] / window,
            "latency_mean_s": columns["service_s"] / count,
            "latency_max_s": columns["longest_s"],
        },
        schema=SERIES,
    )
    rows = [(*texts, *(exact or (None, None, None))) for texts, exact in result.histograms]
    histograms = pl.DataFrame(rows, schema=SCHEMA, orient="row")
    return Measurement(report, series, counters, histograms)
