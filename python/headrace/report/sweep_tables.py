"""A sweep as a table for a terminal."""

from rich.console import Group, RenderableType
from rich.text import Text

from headrace.report.fitted_table import FittedTable
from headrace.report.plain_text import plain
from headrace.report.units import duration, figure, megabytes, milliseconds
from headrace.sweep.result import Sweep, values_text

MOST_ROWS = 200
"""Most points in the table; the files have all."""
MOST_FAILED = 10
FIGURES = ("runs", "MB/s", "±", "operations/s", "mean ms", "p95 ms", "bottleneck")
LESS = ("mean ms", "operations/s", "bottleneck")


def sweep_table(sweep: Sweep) -> RenderableType:
    """Return a row for each point, then the points that failed."""
    points, paths = sweep.points, sweep.paths
    made = FittedTable("", len(paths), (*paths, *FIGURES), LESS)
    for row in points.head(MOST_ROWS).iter_rows(named=True):
        made.add_row(
            *(str(row[path]) for path in paths),
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
    heading.append(f"{runs}{reused}", style="not bold")
    notes = []
    if points.height > MOST_ROWS:
        notes.append(Text(f"{points.height - MOST_ROWS:,} more points: see --json or --output."))
    failed = sweep.failed
    for run in failed[:MOST_FAILED]:
        notes.append(Text(f"failed: {plain(values_text(run.set))}: {plain(run.error)}"))
    if len(failed) > MOST_FAILED:
        notes.append(Text(f"{len(failed) - MOST_FAILED:,} more runs failed: see --json."))
    return Group(heading, made, *notes)
