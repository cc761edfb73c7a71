"""A sweep as a table for a terminal."""

from collections.abc import Mapping
from typing import Any

from rich.console import Group, RenderableType
from rich.text import Text

from headrace.plain_text import plain
from headrace.quantities import SHOWN_FIGURES, duration, figure, megabytes, milliseconds
from headrace.report.fitted_table import FittedTable
from headrace.sweeps.result import Sweep, values_text
from headrace.sweeps.sensitivity import METHODS, Sensitivity

MOST_ROWS = 200
"""Most points in the table; the files have all."""
MOST_FAILED = 10
FIGURES = ("runs", "MB/s", "±", "operations/s", "mean ms", "p95 ms", "bottleneck")
SOBOL = ("axis", "S1 (alone)", "±", "ST (with interactions)", "± ")
MORRIS = ("axis", "mu*", "±", "mu", "sigma")
LESS = ("mean ms", "operations/s", "bottleneck")


def sweep_table(sweep: Sweep, figure_name: str = "throughput") -> RenderableType:
    """Return a row for each point, the sensitivity of a figure, and the points that failed.

    A sensitivity analysis has no rows of points.
    """
    points, paths = sweep.points, sweep.paths
    column = "synced_writes_bytes_per_s"
    synced = column in points.columns and not points[column].is_null().all()
    shown = ("write and sync MB/s",) * synced
    made = FittedTable("Points", len(paths), (*paths, *shown, *FIGURES), LESS)
    for row in points.head(MOST_ROWS).iter_rows(named=True):
        made.add_row(
            *(str(row[path]) for path in paths),
            *((megabytes(row[column]),) * synced),
            str(row["runs"]),
            megabytes(row["throughput_bytes_per_s"]),
            megabytes(row["throughput_bytes_per_s_half_width"]),
            figure(row["operations_per_s"]),
            milliseconds(row["latency_mean_s"]),
            milliseconds(row["latency_p95_s"]),
            row["bottleneck"] or "",
        )
    heading = Text(plain(sweep.name), style="bold")
    runs = f": {points.height:,} points, {len(sweep.runs):,} runs in {duration(sweep.wall_s)}"
    reused = f", {sweep.reused:,} of them from before" if sweep.reused else ""
    left = f"; {sweep.left:,} runs were not made" if sweep.left else ""
    heading.append(f"{runs}{reused}{left}", style="not bold")
    notes = []
    found = sweep.sensitivities
    if found is not None:
        return Group(heading, *_sensitivity(sweep, found, figure_name), *_failures(sweep))
    if points.height > MOST_ROWS:
        notes.append(Text(f"{points.height - MOST_ROWS:,} more points: see --json or --output."))
    return Group(heading, made, *notes, *_failures(sweep))


def of_document(document: Mapping[str, Any]) -> RenderableType:
    """Return the table of a saved sweep."""
    return sweep_table(Sweep.from_document(document))


def _sensitivity(sweep: Sweep, found: Sensitivity, name: str) -> list[RenderableType]:
    if found.error:
        return [Text(plain(found.error))]
    label, factor, unit = SHOWN_FIGURES[name]
    if name not in found.figures:
        return [Text(f"no run has the figure {name}: choose another one by --figure")]
    table = sweep.sensitivity(name)
    parts: list[RenderableType] = []
    if found.method == "sobol":
        made = FittedTable(f"Parts of the variance of {label}", 1, SOBOL)
        for row in table.iter_rows(named=True):
            cells = (row[key] for key in METHODS["sobol"].columns)
            made.add_row(row["path"], *map(_part, cells))
    else:
        made = FittedTable(f"Change of {label} over each range ({unit})", 1, MORRIS)
        for row in table.iter_rows(named=True):
            cells = (row[key] for key in ("mu_star", "mu_star_half_width", "mu", "sigma"))
            made.add_row(
                row["path"], *(figure(None if it is None else factor * it) for it in cells)
            )
    parts.append(made)
    if table[METHODS[found.method].columns[-1]].is_null().all():
        parts.append(Text(f"{label} does not vary: there is nothing to explain."))
    kind = "rows" if found.method == "sobol" else "trajectories"
    dropped = f"; {found.dropped:,} left out, in which a run failed" if found.dropped else ""
    parts.append(Text(f"{found.blocks:,} {kind}{dropped}. ±: half width of the 95 % interval."))
    return parts


def _part(value: float | None) -> str:
    return "\N{EN DASH}" if value is None else f"{value:.3f}"


def _failures(sweep: Sweep) -> list[Text]:
    notes = []
    failed = sweep.failed
    for run in failed[:MOST_FAILED]:
        notes.append(Text(f"failed: {plain(values_text(run.set))}: {plain(run.error)}"))
    if len(failed) > MOST_FAILED:
        notes.append(Text(f"{len(failed) - MOST_FAILED:,} more runs failed: see --json."))
    return notes
