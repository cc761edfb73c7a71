"""Results of simulations."""

import copy
from dataclasses import dataclass, replace
from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING, Any

import polars as pl

from headrace.document_io import not_a_result, read_saved
from headrace.environment import Environment
from headrace.environment import check as check_environment
from headrace.fields import WrongField
from headrace.files import save_json
from headrace.host import this_host
from headrace.simulate import frames
from headrace.simulate.playback import Playback
from headrace.simulate.stored_results import PREFIX, is_stored, keep, stored_record
from headrace.store import StoreError
from headrace.store import open as open_store

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from headrace.report.figures import Figures


@dataclass(frozen=True)
class Result:
    """Result of a simulation. Column names of its frames end in SI units."""

    document: dict[str, Any]
    """All figures, as `headrace run --json` prints them."""
    series: pl.DataFrame
    """Bytes moved and throughput over time, by group and operation, in windows of equal length
    but for the last, which ends with the run."""
    latency_distribution: pl.DataFrame
    """The share of requests that took no longer than a latency."""
    requests: pl.DataFrame | None = None
    """Single requests, if they were requested."""
    environment: Environment | None = None
    """Place and time of the simulation, as `headrace.environment` has it. It is not part of the
    document, which depends on the scenario and its seed only."""
    playback: Playback | None = None
    """Frames of the run, if they were requested. They are not saved with the result."""

    @property
    def name(self) -> str:
        """Name of the scenario."""
        return str(self.document["scenario"]["name"])

    @property
    def summary(self) -> pl.DataFrame:
        """Throughput, rates and latency by group and operation; empty names mean all of them."""
        return frames.summary(self.document)

    @property
    def stations(self) -> pl.DataFrame:
        """Utilisation, queue and service of each station."""
        return frames.stations(self.document)

    @property
    def breakdown(self) -> pl.DataFrame:
        """Time that requests spend in each place, most first."""
        return frames.breakdown(self.document)

    @property
    def bottleneck(self) -> str:
        """One sentence: the limiting resource, and the gain if it were relieved."""
        return str(self.document["bottleneck"]["sentence"])

    def json(self) -> dict[str, Any]:
        """Return all figures, as `headrace run --json` prints them, in SI units."""
        return copy.deepcopy(self.document)

    def save(self, path: str | PathLike[str]) -> None:
        """Save the result as JSON, atomically, without its single requests.

        Parameters:
            path: The file to write.

        Raises:
            OSError: if the file cannot be written.
        """
        document = self.document | {
            "host": this_host(),
            **({} if self.environment is None else {"environment": self.environment}),
            "series": self.series.to_dict(as_series=False),
            "latency_distribution": self.latency_distribution.to_dict(as_series=False),
        }
        save_json(Path(path), document)

    def keep(self, **options: Any) -> str:
        """Save the result in the user's store, without its single requests.

        Parameters:
            options: `store`, the store; `started`, the time of the run; `labels`, a mapping of
                labels.

        Returns:
            The identifier of the result in the store.

        Raises:
            StoreFailure: if the store cannot be written.
        """
        return keep(self, **options)

    def rerun(self, **options: Any) -> "Result":
        """Run the scenario again, from the result alone.

        Parameters:
            options: Options of `run`.
        """
        from headrace.simulate.runs import rerun

        return rerun(self, **options)

    def plot(self, figure: str | None = None) -> "Figure":
        """Draw the figures that `headrace run --plot` writes.

        Parameters:
            figure: `throughput`, `latency` or `utilisation`; by default all, below each other.

        Raises:
            ValueError: if there is no such figure.
        """
        from headrace.report import figures

        data = self.figure_data()
        return figures.all_figures(data) if figure is None else figures.figure(data, figure)

    def figure_data(self) -> "Figures":
        """Return the data from which the figures are drawn."""
        from headrace.report.figures import Figures

        runs = self.document.get("replications", [self.document])
        return Figures(
            self.name,
            self.document["latency"].get("all", {}).get("count", 0),
            [run["simulated_seconds"] for run in runs],
            self.series,
            self.latency_distribution,
            self.stations,
            [(it["at_s"], it["until_s"]) for it in self.document.get("failures", ())],
        )

    def _repr_html_(self) -> str:
        from headrace.report.html import as_html
        from headrace.report.tables import result

        return as_html(result(self.document))

    def __repr__(self) -> str:
        return f"<Result of {self.name!r}: {self.bottleneck}>"


def load_result(path: str | PathLike[str]) -> Result:
    """Load a saved result.

    Parameters:
        path: A file that `Result.save` or `headrace run -o` wrote, or `results:ID` for a result in
            the store.

    Returns:
        The result, without single requests.

    Raises:
        OSError: if the file cannot be read.
        ScenarioError: if the file is not a saved result.
        StoreError: if there is no such simulated result in the store.
        StoreFailure: if the store cannot be read.
    """
    if is_stored(path):
        record = stored_record(path)
        if record.kind != "simulated":
            raise StoreError(
                f"{PREFIX}{record.id} is {record.kind}: expected a simulated result; "
                "headrace.store.open() has its document and its tables"
            )
        loaded = _whole(Path(f"{PREFIX}{record.id}"), record.contents | _stored_tables(record.id))
        there = {"started": record.started, **record.environment} if record.environment else None
        return replace(loaded, environment=there)
    return load_saved(Path(path))[0]


def load_saved(path: Path) -> tuple[Result, dict[str, str]]:
    """Load a saved result, with the host that it names."""
    document = read_saved(path)
    if document is None:
        path.open("rb").close()
        raise not_a_result(path, "it is not a JSON object")
    host = document.pop("host", None)
    host_fields = host if isinstance(host, dict) else {}
    there = document.pop("environment", None)
    try:
        check_environment("environment", there)
    except WrongField as error:
        raise not_a_result(path, str(error)) from None
    loaded = replace(_whole(path, document), environment=there)
    return loaded, {str(key): str(value) for key, value in host_fields.items()}


def _stored_tables(identifier: str) -> dict[str, Any]:
    """The tables of a result in the store, as a saved result has them."""
    store = open_store()
    return {
        it.name: store.table(identifier, it.name).to_dict(as_series=False)
        for it in store.contents(identifier)
    }


def _whole(path: Path, document: dict[str, Any]) -> Result:
    series = _frame(path, document, "series", frames.SERIES)
    distribution = _frame(path, document, "latency_distribution", frames.LATENCY_DISTRIBUTION)
    loaded = Result(document, series, distribution)
    try:
        # A result with these fields was saved completely.
        tables = (loaded.summary, loaded.stations, loaded.breakdown, loaded.bottleneck)
        _ = (loaded.name, document["seed"], document["simulated_seconds"], tables)
    except (AttributeError, KeyError, TypeError, ValueError, pl.exceptions.PolarsError) as error:
        raise not_a_result(path, f"its figures are incomplete: {_first_line(error)}") from None
    return loaded


def _frame(path: Path, document: dict[str, Any], key: str, schema: pl.Schema) -> pl.DataFrame:
    """Return a frame of a saved result; output of `--json` has none."""
    columns = document.pop(key, None)
    if columns is None:
        return pl.DataFrame(schema=schema)
    try:
        return pl.DataFrame({name: columns[name] for name in schema}, schema=schema)
    except (KeyError, TypeError, ValueError, OverflowError, pl.exceptions.PolarsError) as error:
        raise not_a_result(path, f"its {key} is not a table: {_first_line(error)}") from None


def _first_line(error: Exception) -> str:
    """An error in one line."""
    if isinstance(error, KeyError):
        return f"there is no {error.args[0]!r}"
    return str(error).split("\n")[0]
