"""Results of sweeps."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import msgspec
import polars as pl

from headrace.intervals import half_width
from headrace.simulate.frames import summary
from headrace.sweep.axis import Value
from headrace.sweep.designs import Point
from headrace.sweep.task import Details, Figures

FIGURES = {
    "throughput": "throughput_bytes_per_s",
    "operations": "operations_per_s",
    "latency": "latency_mean_s",
    "latency_p50": "latency_p50_s",
    "latency_p95": "latency_p95_s",
    "latency_p99": "latency_p99_s",
    "latency_max": "latency_max_s",
    "simulated_seconds": "simulated_s",
}
"""Figures of a run by name, and their columns."""


class Run(msgspec.Struct, frozen=True, kw_only=True):
    """One run of a sweep."""

    point: int
    """Number of the point, from 0."""
    set: dict[str, Value]
    """Values by path."""
    replication: int
    seed: int
    figures: Figures | None = None
    details: Details | None = None
    error: str = ""


@dataclass(frozen=True)
class Sweep:
    """Result of a sweep."""

    name: str
    """Name of the scenario."""
    scenario: str
    """The scenario as TOML."""
    runs: Sequence[Run]
    """All runs by point and replication, failures among them."""
    reused: int = 0
    """Runs that an earlier sweep had finished."""
    left: int = 0
    """Runs that were not made, as the sweep was stopped."""
    wall_s: float = 0.0
    design: str = "full"

    @property
    def paths(self) -> list[str]:
        """The fields that vary."""
        return list(dict.fromkeys(path for run in self.runs for path in run.set))

    @property
    def failed(self) -> list[Run]:
        """Runs that failed."""
        return [run for run in self.runs if run.error]

    @property
    def frame(self) -> pl.DataFrame:
        """One row a run: its values, `replication`, `seed`, and figures with units in the column
        names. Failed runs have nulls and an `error`."""
        rows = [_row(run) for run in self.runs]
        columns = {path: _column([run.set.get(path) for run in self.runs]) for path in self.paths}
        return pl.DataFrame(columns).hstack(pl.DataFrame(rows, schema=RUN)) if rows else EMPTY

    @property
    def points(self) -> pl.DataFrame:
        """One row a point: its values, the number of runs, the mean of each figure, and half the
        width of its 95 % confidence interval (`..._half_width`)."""
        by_point: dict[int, list[Run]] = {}
        for run in self.runs:
            by_point.setdefault(run.point, []).append(run)
        firsts = [runs[0] for runs in by_point.values()]
        columns = {path: _column([run.set.get(path) for run in firsts]) for path in self.paths}
        rows = [_means(runs) for runs in by_point.values()]
        return pl.DataFrame(columns).hstack(pl.DataFrame(rows, schema=POINT)) if rows else EMPTY

    @property
    def summary(self) -> pl.DataFrame:
        """Rows as `Result.summary` has them, by run, group and operation."""
        tables = []
        for run in self.runs:
            if run.details is None:
                continue
            document = msgspec.json.decode(msgspec.json.encode(run.details))
            at = [pl.lit(value).alias(path) for path, value in run.set.items()]
            at += [pl.lit(run.replication).alias("replication"), pl.lit(run.seed).alias("seed")]
            tables.append(summary(document).select(*at, pl.all()))
        return pl.concat(tables, how="vertical_relaxed") if tables else EMPTY

    def json(self) -> dict[str, Any]:
        """Return the document that `headrace sweep --json` prints."""
        return {
            "kind": "sweep",
            "scenario": {"name": self.name, "toml": self.scenario},
            "design": self.design,
            "points": [_entry(run) for run in self.runs if not run.error],
            "failed": [
                {"set": run.set, "replication": run.replication, "seed": run.seed}
                | {"error": run.error}
                for run in self.failed
            ],
            "reused": self.reused,
            "left": self.left,
            "wall_seconds": self.wall_s,
        }

    def __repr__(self) -> str:
        return f"<Sweep of {self.name!r}: {len(self.runs)} runs, {len(self.failed)} failed>"


RUN = pl.Schema(
    {
        "replication": pl.UInt32(),
        "seed": pl.UInt64(),
        **dict.fromkeys(FIGURES.values(), pl.Float64()),
        "wall_s": pl.Float64(),
        "bottleneck": pl.String(),
        "error": pl.String(),
    }
)
POINT = pl.Schema(
    {
        "runs": pl.UInt32(),
        **{
            name: pl.Float64()
            for column in FIGURES.values()
            for name in (column, f"{column}_half_width")
        },
        "bottleneck": pl.String(),
        "error": pl.String(),
    }
)
EMPTY = pl.DataFrame()


def values(figures: Figures) -> dict[str, float | None]:
    """Return the figures by name; see `FIGURES`."""
    latency = figures.latency
    return {
        "throughput": figures.throughput,
        "operations": figures.operations,
        "latency": latency.mean,
        "latency_p50": latency.p50,
        "latency_p95": latency.p95,
        "latency_p99": latency.p99,
        "latency_max": latency.max,
        "simulated_seconds": figures.simulated_seconds,
    }


def _row(run: Run) -> dict[str, Any]:
    row: dict[str, Any] = {"replication": run.replication, "seed": run.seed}
    if run.figures is None:
        return row | {"error": run.error}
    named = values(run.figures)
    row |= {column: named[name] for name, column in FIGURES.items()}
    return row | {"wall_s": run.figures.wall_seconds, "bottleneck": run.figures.bottleneck}


def _entry(run: Run) -> dict[str, Any]:
    assert run.figures is not None
    entry = {"set": run.set, "replication": run.replication, "seed": run.seed}
    return entry | values(run.figures) | {"bottleneck": run.figures.bottleneck}


def _means(runs: Sequence[Run]) -> dict[str, Any]:
    known = [run.figures for run in runs if run.figures is not None]
    row: dict[str, Any] = {"runs": len(known)}
    row["error"] = next((run.error for run in runs if run.error), None)
    if not known:
        return row
    every = [values(figures) for figures in known]
    for name, column in FIGURES.items():
        found = [each[name] for each in every]
        present = [value for value in found if value is not None]
        if len(present) == len(found):
            row[column] = sum(present) / len(present)
            row[f"{column}_half_width"] = half_width(present)
    named = [figures.bottleneck for figures in known]
    return row | {"bottleneck": max(named, key=named.count)}


def _column(given: Sequence[Value]) -> pl.Series:
    """Return values as a column: numbers as they are, mixed values and tables as text."""
    kinds = {type(value) for value in given if value is not None}
    if kinds <= {int, float}:
        return pl.Series(given, dtype=pl.Float64 if float in kinds else pl.Int64, strict=False)
    if kinds == {bool}:
        return pl.Series(given, dtype=pl.Boolean)
    return pl.Series([None if value is None else str(value) for value in given], dtype=pl.String)


def values_text(point: Mapping[str, Value] | Point) -> str:
    """Return a point as text: `clients.count=4 servers.count=2`."""
    return " ".join(f"{path}={value}" for path, value in point.items())
