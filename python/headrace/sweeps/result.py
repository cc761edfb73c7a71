"""Results of sweeps."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from functools import cached_property
from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, Self

import msgspec
import polars as pl
from msgspec import UNSET, UnsetType

from headrace import __version__, kinds
from headrace.environment import of_host
from headrace.fields import convert
from headrace.files import save_json
from headrace.intervals import half_width
from headrace.quantities import amounts
from headrace.simulate.frames import summary
from headrace.sweeps.axis import Value
from headrace.sweeps.designs import Point
from headrace.sweeps.sensitivity import (
    METHODS,
    Coordinates,
    Index,
    Sensitivity,
    of_designs,
    sensitivity,
)
from headrace.sweeps.task import Details, Figures, Latency
from headrace.table_export import TableExport

if TYPE_CHECKING:
    from headrace.render.style import NotebookFigure as Figure
    from headrace.store import Store

FIGURES = {
    "throughput": "throughput_bytes_per_s",
    "synced_writes": "synced_writes_bytes_per_s",
    "operations": "operations_per_s",
    "latency": "latency_mean_s",
    "latency_p50": "latency_p50_s",
    "latency_p95": "latency_p95_s",
    "latency_p99": "latency_p99_s",
    "latency_max": "latency_max_s",
    "simulated_seconds": "simulated_s",
    "accelerators": "accelerators",
    "au": "au",
    "samples": "samples_per_s",
    "score": "io500_score",
}
"""Figures of a run by name, and their columns."""
SI_SUFFIXES = {"B": "_bytes", "s": "_s", "B/s": "_bytes_per_s"}
"""Endings of the columns of fields in SI units."""
PERCENTILES = ("p50", "p95", "p99", "max")


class RunKey(msgspec.Struct, frozen=True, kw_only=True):
    """The place of a run in its sweep."""

    point: int
    """Number of the point, from 0."""
    set: dict[str, Value]
    """Values by path."""
    replication: int
    seed: int

    def key(self) -> Mapping[str, Any]:
        """Return these fields by their names."""
        return {name: getattr(self, name) for name in RunKey.__struct_fields__}


class Run(RunKey, frozen=True, kw_only=True):
    """One run of a sweep.

    Examples:
        >>> sweep = hr.sweep("scenarios/striped-read.toml", {"clients.count": [4, 8]})
        >>> sweep.runs[1].set, sweep.runs[1].seed, sweep.runs[1].error
        ({'clients.count': 8}, 1, '')
        >>> sweep.runs[1].key()["point"]
        1
    """

    figures: Figures | None = None
    details: Details | None = None
    error: str = ""


class SavedRun(RunKey, frozen=True, kw_only=True):
    """A run. Times are in seconds, rates a second."""

    throughput: float
    operations: float
    latency: float | None
    latency_p50: float | None
    latency_p95: float | None
    latency_p99: float | None
    latency_max: float | None
    simulated_seconds: float
    bottleneck: str
    wall_seconds: float
    events: int
    synced_writes: float | None = None
    accelerators: float | None = None
    au: float | None = None
    samples: float | None = None
    score: float | None = None

    @classmethod
    def of(cls, run: Run) -> Self:
        """Return a run that has not failed as it is saved."""
        assert run.figures is not None
        figures = msgspec.structs.asdict(run.figures)
        latency: Latency = figures.pop("latency")
        times = {f"latency_{name}": getattr(latency, name) for name in PERCENTILES}
        return cls(**run.key(), **figures, latency=latency.mean, **times)

    def run(self) -> Run:
        """Return the run, without its details."""
        times = [getattr(self, f"latency_{name}") for name in PERCENTILES]
        latency = Latency(self.latency, *times)
        own = {name: getattr(self, name) for name in Figures.__struct_fields__ if name != "latency"}
        return Run(**self.key(), figures=Figures(latency=latency, **own))


class FailedRun(RunKey, frozen=True, kw_only=True):
    """A failed run."""

    error: str

    @classmethod
    def of(cls, run: Run) -> Self:
        """Return a failed run as it is saved."""
        return cls(**run.key(), error=run.error)

    def run(self) -> Run:
        """Return the run."""
        return Run(**msgspec.structs.asdict(self))


class ScenarioText(msgspec.Struct, frozen=True):
    """The scenario of a sweep."""

    name: str
    toml: str


class SweepReport(msgspec.Struct, frozen=True, kw_only=True):
    """A sweep as it is saved (docs/reference/results.md)."""

    kind: Literal["sweep"] = "sweep"
    version: str
    scenario: ScenarioText
    seed: int
    """Seed of the first replication, and of the sampler."""
    design: str
    axes: list[str]
    """Names of the axes; linked fields are one axis."""
    points: list[SavedRun]
    failed: list[FailedRun]
    sensitivity: Sensitivity | UnsetType = UNSET
    run_seconds: float
    """Time of all simulations, in seconds."""


@dataclass(frozen=True)
class Sweep(TableExport):
    """Result of a sweep.

    Examples:
        >>> sweep = hr.sweep("scenarios/striped-read.toml", {"clients.count": [4, 8]})
        >>> sweep.points["clients.count"].to_list(), sweep.failed
        ([4, 8], [])
        >>> sweep.plot("latency_p99")
        <NotebookFigure size ...>
        >>> sweep.paths, (sweep.frame["throughput_bytes_per_s"] / 1e6).round(1).to_list()
        (['clients.count'], [239.7, 239.8])
        >>> sweep.summary["operation"].unique().to_list(), list(sweep.tables), sweep.failure
        ([None, 'read'], ['runs', 'points'], '')
    """

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
    """Time of the whole sweep."""
    design: str = "full"
    seed: int = 0
    """Seed of the first replication, and of the sampler."""
    axes: Sequence[str] = ()
    coordinates: Coordinates = ()
    """Place of each point on the axes, from 0 to 1; none in a full design."""
    version: str = __version__
    started: datetime | None = None
    indices: Sensitivity | None = None
    """Sensitivity that was saved with a result, where `coordinates` were not."""

    @property
    def paths(self) -> list[str]:
        """The fields that vary."""
        return list(dict.fromkeys(path for run in self.runs for path in run.set))

    @property
    def failed(self) -> list[Run]:
        """Runs that failed."""
        return [run for run in self.runs if run.error]

    @property
    def failure(self) -> str:
        """How many runs failed, and why the first one did; empty if none did."""
        if not (failed := self.failed):
            return ""
        values, error = values_text(failed[0].set), failed[0].error
        first = f"{values}: {str(error).removeprefix(f'{values}: ')}"
        return f"{len(failed):,} of {len(self.runs):,} runs failed: {first}"

    @property
    def frame(self) -> pl.DataFrame:
        """One row a run: its values, `replication`, `seed`, and figures with units in the column
        names. Values that are texts, such as `layout.unit`, have a second column in SI units:
        `layout.unit_bytes`. Failed runs have nulls and an `error`."""
        rows = [_row(run) for run in self.runs]
        return self._values.hstack(pl.DataFrame(rows, schema=RUN)) if rows else EMPTY

    @property
    def _values(self) -> pl.DataFrame:
        return pl.DataFrame(columns([run.set for run in self.runs], self.paths))

    @property
    def points(self) -> pl.DataFrame:
        """One row a point: its values, the number of runs, the mean of each figure, and half the
        width of its 95 % confidence interval (`..._half_width`)."""
        by_point = self._by_point
        firsts = columns([runs[0].set for runs in by_point.values()], self.paths)
        rows = [_means(runs) for runs in by_point.values()]
        return pl.DataFrame(firsts).hstack(pl.DataFrame(rows, schema=POINT)) if rows else EMPTY

    @property
    def summary(self) -> pl.DataFrame:
        """Rows as `Result.summary` has them, by run, group and operation."""
        tables = []
        for run, row in zip(self.runs, self._values.iter_rows(named=True), strict=True):
            if run.details is None:
                continue
            document = msgspec.json.decode(msgspec.json.encode(run.details))
            at = [pl.lit(value).alias(name) for name, value in row.items()]
            at += [pl.lit(run.replication).alias("replication"), pl.lit(run.seed).alias("seed")]
            tables.append(summary(document).select(*at, pl.all()))
        return pl.concat(tables, how="vertical_relaxed") if tables else EMPTY

    @cached_property
    def sensitivities(self) -> Sensitivity | None:
        """Sensitivity of all figures to the axes; None if the design is not made for it."""
        method = of_designs().get(self.design)
        if self.indices is not None or method is None or not self.coordinates:
            return self.indices
        means = {number: _means(runs) for number, runs in self._by_point.items()}
        # A point with a failed replication has no mean that compares with the others'.
        whole = {number: row for number, row in means.items() if row["error"] is None}
        every = range(len(self.coordinates))
        return sensitivity(
            method,
            self.axes,
            self.coordinates,
            {
                name: [whole.get(number, {}).get(column) for number in every]
                for name, column in FIGURES.items()
            },
        )

    def sensitivity(self, figure: str = "throughput") -> pl.DataFrame:
        """Return the sensitivity of a figure to each axis, the most important axis first.

        Columns are those of `Index`: `s1` and `st` after Sobol, `mu_star` and `sigma` after Morris.

        Args:
            figure: A name of `FIGURES`.

        Raises:
            ValueError: The design is not made for it, too many points failed, or there is no such
                figure.

        Examples:
            >>> scenario = hr.load("scenarios/striped-read.toml", {"workload.files": 10})
            >>> vary = {"layout.unit": "64 KiB..4 MiB:log", "servers.count": "2..8"}
            >>> sweep = hr.sweep(scenario, vary, sensitivity="morris", samples=2)
            >>> sweep.sensitivity("throughput")["path"].to_list()
            ['servers.count', 'layout.unit']
            >>> sweep.sensitivities.method, sweep.plot_sensitivity("latency")
            ('morris', <NotebookFigure size ...>)
        """
        indices = self.sensitivities
        if indices is None:
            raise ValueError(
                f"a {self.design} design has no sensitivity indices: sweep with"
                ' sensitivity="sobol" or "morris"'
            )
        if indices.error:
            raise ValueError(indices.error)
        if figure not in indices.figures:
            raise ValueError(f"figure {figure!r}: expected {', '.join(indices.figures)}")
        rows = [msgspec.structs.asdict(index) for index in indices.figures[figure]]
        columns = ["path", *METHODS[indices.method].columns]
        return pl.DataFrame(rows, schema=INDEX).select(columns)

    def plot(self, figure: str = "throughput") -> "Figure":
        """Return a plot of a figure over the fields that vary, with 95 % intervals."""
        if figure not in FIGURES:
            raise ValueError(f"figure {figure!r}: expected {', '.join(FIGURES)}")
        return kinds.picture("sweep", self, "sweep", chosen=figure)

    def plot_sensitivity(self, figure: str = "throughput") -> "Figure":
        """Return a plot of the sensitivity of a figure to each axis.

        Raises:
            ValueError: As `sensitivity` does.
        """
        self.sensitivity(figure)
        return kinds.picture("sweep", self, "sensitivity", chosen=figure)

    @property
    def document(self) -> dict[str, Any]:
        """The result as it is saved: equal whether the sweep was interrupted or not."""
        document: dict[str, Any] = msgspec.to_builtins(
            SweepReport(
                version=self.version,
                scenario=ScenarioText(self.name, self.scenario),
                seed=self.seed,
                design=self.design,
                axes=list(self.axes),
                points=[SavedRun.of(run) for run in self.runs if not run.error],
                failed=[FailedRun.of(run) for run in self.failed],
                sensitivity=self.sensitivities or UNSET,
                run_seconds=sum(run.figures.wall_seconds for run in self.runs if run.figures),
            )
        )
        return document

    @classmethod
    def from_document(cls, document: Mapping[str, Any]) -> Self:
        """Return the sweep of a saved document, without its details and coordinates.

        Raises:
            ValueError: A field is missing or wrong.
        """
        saved = convert(document, SweepReport)
        runs = [point.run() for point in saved.points] + [run.run() for run in saved.failed]
        return cls(
            saved.scenario.name,
            saved.scenario.toml,
            sorted(runs, key=lambda run: (run.point, run.replication)),
            wall_s=saved.run_seconds,
            design=saved.design,
            seed=saved.seed,
            axes=saved.axes,
            version=saved.version,
            indices=saved.sensitivity or None,
        )

    def json(self) -> dict[str, Any]:
        """Return the document that `headrace sweep --json` prints."""
        return self.document | {
            "reused": self.reused,
            "left": self.left,
            "wall_seconds": self.wall_s,
        }

    def save(self, directory: str | PathLike[str]) -> None:
        """Write `runs.parquet`, `points.parquet`, `sensitivity.parquet` and `sweep.json`.

        Args:
            directory: An existing directory.

        Raises:
            OSError: They cannot be written.

        Examples:
            >>> sweep = hr.sweep("scenarios/striped-read.toml", {"clients.count": [4, 8]})
            >>> sweep.save(".")
            >>> sweep.keep(labels={"study": "clients"}) == hr.store.open().find("last")
            True
            >>> type(sweep).from_document(sweep.document), sweep.json()["kind"]
            (<Sweep of 'striped read': 2 points, 2 runs, 0 failed>, 'sweep')
        """
        from headrace.parquet import parquet_file

        for name, table in self.tables.items():
            with parquet_file(Path(directory) / f"{name}.parquet") as file:
                table.write_parquet(file)
        save_json(Path(directory) / "sweep.json", self.document)

    def keep(self, store: "Store | None" = None, *, labels: Mapping[str, str] | None = None) -> str:
        """Save the sweep in a store, by default the user's own, unless an equal one is there.

        Returns:
            The identifier of the result in the store.

        Raises:
            StoreFailure: The store cannot be written.
        """
        from headrace.store import open as open_store

        return (store or open_store()).add_once(
            self.document,
            self.tables,
            kind="sweep",
            started=self.started,
            labels=labels,
            environment=of_host(),
        )[0]

    @property
    def tables(self) -> dict[str, pl.DataFrame]:
        """The tables that are saved: `runs`, `points`, and `sensitivity` of all figures."""
        tables = {"runs": self.frame, "points": self.points}
        indices = self.sensitivities
        if indices is not None and not indices.error:
            tables["sensitivity"] = pl.concat(
                self.sensitivity(name).select(pl.lit(name).alias("figure"), pl.all())
                for name in indices.figures
            )
        return tables

    @cached_property
    def _by_point(self) -> dict[int, list[Run]]:
        by_point: dict[int, list[Run]] = {}
        for run in self.runs:
            by_point.setdefault(run.point, []).append(run)
        return by_point

    def _dimensions(self, columns: list[str]) -> list[str]:
        """Return the first field of each axis of a full design, in SI units where it has them."""
        firsts = [axis.partition(",")[0] for axis in self.axes]
        if self.design != "full" or not {*firsts} <= {*columns}:
            return []
        si = [[f"{path}{suffix}" for suffix in SI_SUFFIXES.values()] for path in firsts]
        names = [
            next((name for name in names if name in columns), path)
            for path, names in zip(firsts, si, strict=True)
        ]
        return [*names, *(["replication"] if "replication" in columns else [])]

    def __repr__(self) -> str:
        return (
            f"<Sweep of {self.name!r}: {len(self._by_point):,} points, {len(self.runs):,} runs,"
            f" {len(self.failed):,} failed>"
        )

    def _repr_html_(self) -> str:
        return kinds.html("sweep", self)


def with_half_widths(columns: Iterable[str]) -> dict[str, pl.DataType]:
    """Return the types of columns of means, each followed by half the width of its interval."""
    return {name: pl.Float64() for column in columns for name in (column, f"{column}_half_width")}


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
        **with_half_widths(FIGURES.values()),
        "bottleneck": pl.String(),
        "error": pl.String(),
    }
)
INDEX = pl.Schema(
    {name: pl.String() if name == "path" else pl.Float64() for name in Index.__struct_fields__}
)
EMPTY = pl.DataFrame()


def values(figures: Figures) -> dict[str, float | None]:
    """Return the figures by name; see `FIGURES`."""
    latency = figures.latency
    return {
        "throughput": figures.throughput,
        "synced_writes": figures.synced_writes,
        "operations": figures.operations,
        "latency": latency.mean,
        "latency_p50": latency.p50,
        "latency_p95": latency.p95,
        "latency_p99": latency.p99,
        "latency_max": latency.max,
        "simulated_seconds": figures.simulated_seconds,
        "accelerators": figures.accelerators,
        "au": figures.au,
        "samples": figures.samples,
        "score": figures.score,
    }


def _row(run: Run) -> dict[str, Any]:
    row: dict[str, Any] = {"replication": run.replication, "seed": run.seed}
    if run.figures is None:
        return row | {"error": run.error}
    named = values(run.figures)
    row |= {column: named[name] for name, column in FIGURES.items()}
    return row | {"wall_s": run.figures.wall_seconds, "bottleneck": run.figures.bottleneck}


def _means(runs: Sequence[Run]) -> dict[str, Any]:
    known = [run.figures for run in runs if run.figures is not None]
    row: dict[str, Any] = {"runs": len(known)}
    row["error"] = next((run.error for run in runs if run.error), None)
    if not known:
        return row
    every = [values(figures) for figures in known]
    for name, column in FIGURES.items():
        rows = [each[name] for each in every]
        present = [value for value in rows if value is not None]
        if len(present) == len(rows):
            row[column] = sum(present) / len(present)
            row[f"{column}_half_width"] = half_width(present)
    named = [figures.bottleneck for figures in known]
    return row | {"bottleneck": max(named, key=named.count)}


def column(given: Sequence[Value]) -> pl.Series:
    """Return values as a column: numbers as they are, mixed values and tables as text."""
    kinds = {type(value) for value in given if value is not None}
    if kinds <= {int, float}:
        return pl.Series(given, dtype=pl.Float64 if float in kinds else pl.Int64, strict=False)
    if kinds == {bool}:
        return pl.Series(given, dtype=pl.Boolean)
    return pl.Series([None if value is None else str(value) for value in given], dtype=pl.String)


def columns(points: Sequence[Mapping[str, Value]], paths: Sequence[str]) -> dict[str, pl.Series]:
    """Return a column for each path. Texts with a unit have a second one, in SI units."""
    table = {}
    for path in paths:
        given = [point.get(path) for point in points]
        table[path] = column(given)
        known = [value for value in given if value is not None]
        is_text = table[path].dtype == pl.String and not all(map(_is_number, known))
        if is_text and (read := amounts(known)) is not None:
            left = iter(read[0])
            in_si = [None if value is None else next(left) for value in given]
            table[f"{path}{SI_SUFFIXES[read[1]]}"] = pl.Series(in_si, dtype=pl.Float64)
    return table


def _is_number(value: Value) -> bool:
    try:
        float(value)
    except (TypeError, ValueError):
        return False
    return True


def values_text(point: Mapping[str, Value] | Point) -> str:
    """Return a point as text: `clients.count=4 servers.count=2`."""
    return " ".join(f"{path}={value}" for path, value in point.items())
