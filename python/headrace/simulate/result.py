"""Results of simulations."""

import copy
from dataclasses import dataclass
from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar

from headrace import kinds
from headrace.environment import Environment
from headrace.files import save_json
from headrace.host import this_host
from headrace.kinds import SIMULATED
from headrace.simulate.outcome import Tables
from headrace.simulate.stored_results import keep
from headrace.table_export import TableExport

if TYPE_CHECKING:
    import polars as pl

    from headrace.render.style import NotebookFigure as Figure
    from headrace.simulate.playback import Playback


@dataclass(frozen=True)
class Result(TableExport):
    """Result of a simulation. Column names of its frames end in SI units.

    Examples:
        >>> result = hr.run("scenarios/striped-read.toml")
        >>> result.stations.columns[:3]
        ['station', 'discipline', 'copies']
        >>> result.plot("latency")
        <NotebookFigure size ...>
        >>> print(result.to_pandas("series")["bytes"].sum() // 2**20, "MiB")
        25600 MiB
        >>> print(result.bottleneck)
        system/server/device is the bottleneck: 100.0 % busy in each of 4 copies; ...
        >>> (result.summary["throughput_bytes_per_s"] / 1e6).round(1).to_list()
        [None, 240.0, None, 240.0]
        >>> result.breakdown["place"][0], round(result.breakdown["share"][0], 2)
        ('system/server/device', 0.97)
        >>> result.servers["utilisation"].round(2).to_list(), result.copies.height
        ([1.0, 1.0, 1.0, 1.0], 12)
        >>> f"{result.latency_distribution['latency_s'].max():.3f} s"
        '0.285 s'
        >>> result.rerun().summary.equals(result.summary)
        True
    """

    main_table: ClassVar[str] = "summary"

    document: dict[str, Any]
    """All figures, as `headrace run --json` prints them."""
    tables: Tables
    """The tables `series`, `latency_distribution` and `server_series`."""
    requests: "pl.DataFrame | None" = None
    """Single requests, if they were requested."""
    environment: Environment | None = None
    """Place and time of the simulation, as `headrace.environment` has it. It is not part of the
    document, which depends on the scenario and its seed only."""
    playback: "Playback | None" = None
    """Frames of the run, if they were requested. They are not saved with the result."""

    @property
    def name(self) -> str:
        """Name of the scenario."""
        return str(self.document["scenario"]["name"])

    @property
    def series(self) -> "pl.DataFrame":
        """Bytes moved and throughput over time, by group and operation, in windows of equal length
        but for the last, which ends with the run."""
        return self.tables.series

    @property
    def latency_distribution(self) -> "pl.DataFrame":
        """The share of requests that took no longer than a latency."""
        return self.tables.latency_distribution

    @property
    def summary(self) -> "pl.DataFrame":
        """Throughput, rates and latency by group and operation; empty names mean all of them."""
        from headrace.simulate import frames

        return frames.summary(self.document)

    @property
    def stations(self) -> "pl.DataFrame":
        """Utilisation, queue and service of each station."""
        from headrace.simulate import frames

        return frames.stations(self.document)

    @property
    def servers(self) -> "pl.DataFrame":
        """Utilisation, queue, throughput and latency of each data server; no rows for local file
        systems, and where there are more than 4,096 servers."""
        from headrace.simulate import frames

        return frames.servers(self.document)

    @property
    def copies(self) -> "pl.DataFrame":
        """The stations of each data server, one copy a row."""
        from headrace.simulate import frames

        return frames.copies(self.document)

    @property
    def server_series(self) -> "pl.DataFrame":
        """Utilisation of each data server's busiest station, and jobs in progress, over time. Saved
        results have at most 10,000 rows, of longer windows.

        Examples:
            >>> result = hr.run("scenarios/striped-read.toml")
            >>> result.server_series.columns[3:]
            ['server', 'group', 'utilisation', 'in_progress']
            >>> result.name, list(result.saved_tables)
            ('striped read', ['series', 'latency_distribution', 'server_series'])
            >>> result.frames["series"].equals(result.series)
            True
        """
        return self.tables.server_series

    @property
    def saved_tables(self) -> "dict[str, pl.DataFrame]":
        """The tables that are saved with the result, by name."""
        from headrace.simulate import frames

        servers = frames.saved_server_series(self.server_series)
        return {
            "series": self.series,
            "latency_distribution": self.latency_distribution,
            **({"server_series": servers} if servers.height else {}),
        }

    @property
    def caches(self) -> "pl.DataFrame":
        """Hits, misses and evictions of each cache.

        Examples:
            >>> result = hr.run("scenarios/nguyen-sequential-read.toml")
            >>> result.caches.select("cache", "hits", "misses").rows()
            [('system/client/page cache', 131072.0, 0.0), ('system/client/device', 0.0, 0.0)]
        """
        from headrace.simulate import frames

        return frames.caches(self.document)

    @property
    def over_time(self) -> "pl.DataFrame":
        """Dirty bytes, hit ratios and queue lengths over time, if `run` was asked for them: a row
        for each interval, cache or station, and figure.

        Examples:
            >>> result = hr.run("scenarios/pfssim-write-then-read.toml", over_time=True)
            >>> result.over_time["figure"].unique().sort().to_list()
            ['dirty_bytes', 'hit_ratio', 'queue', 'most_queue']
        """
        from headrace.simulate import frames

        return frames.over_time(self.document)

    @property
    def breakdown(self) -> "pl.DataFrame":
        """Time that requests spend in each place, most first."""
        from headrace.simulate import frames

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

        Examples:
            >>> result = hr.run("scenarios/striped-read.toml")
            >>> result.save("result.json")
            >>> hr.load_result("result.json").json() == result.json()
            True
            >>> result.keep(labels={"disk": "new"}) == hr.store.open().find("last")
            True
        """
        document = self.document | {
            "host": this_host(),
            **({} if self.environment is None else {"environment": self.environment}),
            **{name: one.to_dict(as_series=False) for name, one in self.saved_tables.items()},
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
            figure: `operations`, `throughput`, `latency`, `utilisation` or `breakdown`; with
                several data servers also `servers`; with `over_time` also `dirty`, `hits` or
                `queues`. By default all, below each other.

        Raises:
            ValueError: if there is no such figure.
        """
        from headrace.render.pictures import drawn_one, stacked

        view = kinds.blocks(SIMULATED, self.document, **self.frames)
        return stacked(view) if figure is None else drawn_one(view, figure)

    @property
    def frames(self) -> "dict[str, pl.DataFrame]":
        """The tables that its charts are drawn from, by name."""
        recorded = {"over_time": self.over_time} if "over_time" in self.document else {}
        return {
            "series": self.series,
            "latency_distribution": self.latency_distribution,
            "server_series": self.server_series,
            **recorded,
        }

    def _repr_html_(self) -> str:
        return kinds.html(SIMULATED, self.document)

    def __repr__(self) -> str:
        return f"<Result of {self.name!r}: {self.bottleneck}>"
