"""Results of searches."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING, Any

import polars as pl

from headrace import __version__, kinds
from headrace.files import atomic_file, save_json
from headrace.optimisation.candidate import Candidate
from headrace.optimisation.goals import COST, Goals, text
from headrace.optimisation.selection import Comparisons
from headrace.simulate.outcome import Document
from headrace.sweeps.result import FIGURES, columns, values_text, with_half_widths
from headrace.table_export import TableExport

if TYPE_CHECKING:
    from matplotlib.figure import Figure

COLUMNS = FIGURES | {COST: COST}
"""Columns of figures by their names."""


@dataclass(frozen=True)
class Optimum(TableExport):
    """Result of a search.

    Examples:
        >>> scenario = hr.load("scenarios/striped-read.toml", {"workload.files": 10})
        >>> optimum = hr.optimise(scenario, {"clients.count": [8, 64]}, minimise="latency")
        >>> sorted(optimum.frame["verdict"])
        ['best', 'worse']
        >>> optimum.plot()
        <NotebookFigure size ...>
        >>> optimum.paths, optimum.failed, optimum.best.point
        (['clients.count'], [], {'clients.count': 8})
        >>> other = next(one for one in optimum.candidates if one is not optimum.best)
        >>> optimum.verdict(other), round(optimum.difference(other)[0], 2)
        ('worse', 6.76)
        >>> optimum.trials.columns[:3], optimum.document["kind"], optimum.json()["kind"]
        (['trial', 'clients.count', 'runs'], 'optimum', 'optimum')
        >>> optimum.save(".")
    """

    name: str
    """Name of the scenario."""
    scenario: str
    """The scenario as TOML."""
    goals: Goals
    candidates: Sequence[Candidate]
    """All points that were tried, in the order of their first trials."""
    best: Candidate | None
    """The answer. With several objectives, the point of the front that is nearest to the best of
    every objective. None if the search was stopped before any run had ended."""
    best_scenario: str = ""
    """The scenario with the values of the best point, as TOML."""
    front: Sequence[Candidate] = ()
    """The answer, or with several objectives all that no other point betters."""
    equals: Sequence[Candidate] = ()
    """Points that cannot be distinguished from the answer."""
    comparisons: Comparisons | None = None
    """Comparisons of the leaders; None if the search was stopped."""
    given: Candidate | None = None
    """The scenario as it was given; None if it cannot be run, or the search was stopped."""
    candidate_of_trial: Sequence[int] = ()
    """Number of the candidate of each trial."""
    importances: Mapping[str, Mapping[str, float]] = field(default_factory=dict)
    """Importance of each axis for each objective, by PED-ANOVA (Watanabe et al. 2023): which
    fields distinguish the best tenth of all trials."""
    sampler: str = ""
    runs: int = 0
    """Runs that this search made."""
    reused: int = 0
    """Runs that an earlier search had finished."""
    is_stopped: bool = False
    """Whether the search was stopped before its end."""
    wall_s: float = 0.0
    version: str = __version__

    @property
    def paths(self) -> list[str]:
        """The fields that vary."""
        return list(dict.fromkeys(path for one in self.candidates for path in one.point))

    @property
    def failed(self) -> list[Candidate]:
        """Points that failed."""
        return [candidate for candidate in self.candidates if candidate.error]

    def verdict(self, candidate: Candidate) -> str:
        """Return `best` (or `front`), `equal`, `worse`, `infeasible`, `failed` or, for points that
        were not compared, an empty text.

        Equal points cannot be distinguished from the best.
        """
        if candidate.error:
            return "failed"
        if not candidate.by_replication:
            return ""
        if candidate in self.front:
            return "front" if len(self.goals.objectives) > 1 else "best"
        if candidate in self.equals:
            return "equal"
        if self.goals.violation(candidate.means(self.goals.figures)) > 0:
            return "infeasible"
        return "worse" if candidate.is_compared else ""

    @cached_property
    def trials(self) -> pl.DataFrame:
        """One row a point: first trial, values, means of figures, and verdict.

        Half the width of the 95 % interval of a mean is in the column `..._half_width`.
        """
        points = columns([one.point for one in self.candidates], self.paths)
        rows = [self._row(candidate) for candidate in self.candidates]
        return pl.DataFrame(
            {"trial": [candidate.number for candidate in self.candidates], **points}
        ).hstack(pl.DataFrame(rows, schema=TRIAL))

    @property
    def frame(self) -> pl.DataFrame:
        """The main table: `trials`."""
        return self.trials

    def difference(self, candidate: Candidate) -> tuple[float, float | None] | None:
        """Return how much better the best is than another point, as a part of its first objective.

        Returns:
            The mean over equal seeds, and half the width of an interval; None if the points have no
            replications in common. The intervals of all comparisons together have a confidence of
            95 %. The width is None for differences that few runs leave open.
        """
        if self.best is None or self.comparisons is None or candidate.error:
            return None
        gap = self.comparisons.difference(self.best, candidate)
        mean = self.best.mean(self.goals.objectives[0].figure)
        if gap is None or not mean or not candidate.is_compared:
            return None
        width = gap[1] / abs(mean)
        return gap[0] / abs(mean), width if math.isfinite(width) else None

    def plot(self, kind: str | None = None) -> "Figure":
        """Return a plot.

        Args:
            kind: `history` (the default for one objective), `front` (for several) or `importance`.

        Raises:
            ValueError: There is no such plot.
        """
        default = "front" if len(self.goals.objectives) > 1 else "history"
        return kinds.picture("optimum", self, kind or default)

    def json(self) -> Document:
        """Return the document that `headrace optimise --json` prints."""
        return self.document

    @property
    def document(self) -> Document:
        """All figures."""
        return {
            "kind": "optimum",
            "version": self.version,
            "scenario": {"name": self.name, "toml": self.scenario},
            "objectives": [
                {"figure": objective.figure, "direction": str(objective).split()[0]}
                for objective in self.goals.objectives
            ],
            "constraints": [
                {"figure": it.figure, "relation": "<=" if it.is_upper else ">=", "limit": it.limit}
                for it in self.goals.constraints
            ],
            "sampler": self.sampler,
            "best": None if self.best is None else self._entry(self.best),
            "front": [self._entry(candidate) for candidate in self.front],
            "equal": [self._entry(equal) for equal in self.equals],
            "given": None if self.given is None else self._entry(self.given),
            "points": [self._entry(one) for one in self.candidates if not one.error],
            "failed": [
                {"trial": one.number, "set": one.point, "error": one.error} for one in self.failed
            ],
            "importance": self.importances,
            "trials": len(self.candidate_of_trial),
            "runs": self.runs,
            "reused": self.reused,
            "stopped": self.is_stopped,
            "wall_seconds": self.wall_s,
        }

    def save(self, directory: str | PathLike[str]) -> None:
        """Write `trials.parquet`, `optimum.json`, and `best.toml` if there is a best point.

        Args:
            directory: An existing directory.

        Raises:
            OSError: They cannot be written.
        """
        from headrace.parquet import parquet_file

        with parquet_file(Path(directory) / "trials.parquet") as file:
            self.trials.write_parquet(file)
        save_json(Path(directory) / "optimum.json", self.json())
        if self.best is not None:
            with atomic_file(Path(directory) / "best.toml") as partial:
                partial.write_text(self.best_scenario, encoding="utf-8")

    def _entry(self, candidate: Candidate) -> dict[str, Any]:
        entry: dict[str, Any] = {
            "trial": candidate.number,
            "set": candidate.point,
            "verdict": self.verdict(candidate),
            "replications": len(candidate.replications),
        }
        entry |= _figures(candidate, {name: name for name in COLUMNS})
        difference = self.difference(candidate)
        if difference is not None and candidate is not self.best:
            entry["best_better_by"], entry["best_better_by_half_width"] = difference
        return entry

    def _row(self, candidate: Candidate) -> dict[str, Any]:
        return {
            "runs": len(candidate.replications),
            "verdict": self.verdict(candidate),
            "error": candidate.error or None,
            **_figures(candidate, COLUMNS),
        }

    def __repr__(self) -> str:
        state = "nothing yet"
        if self.best is not None:
            figures = " ".join(
                f"{name}={text(name, self.best.mean(name))}" for name in self.goals.figures
            )
            state = f"{values_text(self.best.point)}: {figures}"
        return f"<Optimum of {self.name!r}: {state}>"

    def _repr_html_(self) -> str:
        return kinds.html("optimum", self)


def _figures(candidate: Candidate, columns: Mapping[str, str]) -> dict[str, float | None]:
    """Return the means of figures with half the widths of their intervals.

    Args:
        candidate: The point.
        columns: Names in the result by the names of figures.
    """
    values = {}
    for name, column_name in columns.items():
        values[column_name] = candidate.mean(name)
        values[f"{column_name}_half_width"] = candidate.half_width(name)
    return values


TRIAL = pl.Schema(
    {
        "runs": pl.UInt32(),
        **with_half_widths(COLUMNS.values()),
        "verdict": pl.String(),
        "error": pl.String(),
    }
)
