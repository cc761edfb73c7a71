"""A sweep: simulations of a scenario at many points."""

import itertools
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import polars as pl

from headrace.quantities import NOT_KNOWN, SHOWN_FIGURES, ShownFigure, amounts, duration, figure
from headrace.render import units
from headrace.render.blocks import Axis, Block, Chart, Column, Headline, Line, Note, Table, View
from headrace.render.units import Unit
from headrace.sweeps.result import FIGURES, Sweep, values_text
from headrace.sweeps.sensitivity import METHODS, Sensitivity

MOST_ROWS = 200
"""Most points in the table; the files have all."""
MOST_FAILED = 10
MOST_LINES = 12
"""Most lines of one chart."""
MOST_PANELS = 6
"""Most fields with dots."""
MOST_BARS = 20
"""Axes of which the sensitivity is drawn."""
MOST_TICKS = 8
"""Most values that are written below an axis one by one."""
DECADES = 10.0
"""Values whose ratio is larger are drawn on a logarithmic axis."""
AXIS_UNITS = {
    "B/s": (("MB/s", 1e6), ("kB/s", 1e3)),
    "B": (("MiB", 2.0**20), ("KiB", 2.0**10)),
    "s": (("s", 1.0), ("ms", 1e-3), ("µs", 1e-6)),
}
"""Units of the axis of a field, and their sizes, the largest first."""
CHARTED = ("au", "score", "synced_writes", "throughput", "operations", "latency_p95")
"""Figures that are drawn if none is chosen."""
SOBOL = {
    "S1 (alone)": "s1",
    "±": "s1_half_width",
    "ST (with interactions)": "st",
    "± ": "st_half_width",
}
MORRIS = {"mu*": "mu_star", "±": "mu_star_half_width", "mu": "mu", "sigma": "sigma"}


def view(sweep: Sweep, chosen: str | None = None) -> View:
    """Return a row for each point, the sensitivity of a figure, and the points that failed.

    Parameters:
        sweep: The sweep. A sensitivity analysis has no rows of points.
        chosen: Name of the figure that is drawn; None for those of `CHARTED`.
    """
    names = [chosen] if chosen else [key for key in CHARTED if _known(sweep, key).height]
    sensitivity = sweep.sensitivities
    blocks: list[Block] = [_heading(sweep), *_headline(sweep, names[:1])]
    if chosen or sensitivity is None:
        for name in names:
            blocks += charts(sweep, name, "sweep" if chosen else f"sweep-{name}")
    if sensitivity is not None:
        blocks += _sensitivity(sweep, sensitivity, chosen or "throughput")
    else:
        blocks.append(_table(sweep))
        if (more := sweep.points.height - MOST_ROWS) > 0:
            blocks.append(Note(f"{more:,} more points: see --json or --output."))
    return [*blocks, *_failures(sweep)]


def _headline(sweep: Sweep, names: Sequence[str]) -> Iterator[Headline]:
    """Yield the best point of a figure: times are best short, and all others high."""
    for name in names:
        column, shown_as = FIGURES[name], SHOWN_FIGURES[name]
        is_time = column.endswith("_s") and not column.endswith("_per_s")
        known = _known(sweep, name).sort(column, descending=not is_time)
        for row in known.head(1).iter_rows(named=True):
            point = values_text({path: row[path] for path in sweep.paths})
            title = f"{'shortest' if is_time else 'highest'} {shown_as.words}"
            p95 = row.get("latency_p95_s")
            p95s = {} if p95 is None or is_time else {"its p95": units.MILLISECONDS.full(p95)}
            yield Headline({title: _axis(shown_as).unit.full(row[column]), "at": point} | p95s)


def _known(sweep: Sweep, name: str) -> pl.DataFrame:
    """Return the points that have a figure."""
    points, column = sweep.points, FIGURES[name]
    return points.filter(pl.col(column).is_not_null()) if points.height else points


def _heading(sweep: Sweep) -> Note:
    text = f": {sweep.points.height:,} points, {len(sweep.runs):,} runs in {duration(sweep.wall_s)}"
    text += f", {sweep.reused:,} of them from before" if sweep.reused else ""
    text += f"; {sweep.left:,} runs were not made" if sweep.left else ""
    return Note(text, sweep.name)


def _table(sweep: Sweep) -> Table:
    points = sweep.points.head(MOST_ROWS)
    columns = [Column(path, points[path].to_list()) for path in sweep.paths]

    def add(name: str, key: str, unit: Unit, spare: int = 0) -> None:
        columns.append(Column(name, points[key].to_list(), unit, spare, absent=NOT_KNOWN))

    if "au" in points.columns and not sweep.points["au"].is_null().all():
        add("AU %", "au", units.SHARE)
        add("samples/s", "samples_per_s", units.FIGURE)
    if "io500_score" in points.columns and not sweep.points["io500_score"].is_null().all():
        add("IO500 score", "io500_score", units.FIGURE)
    column = "synced_writes_bytes_per_s"
    if column in points.columns and not sweep.points[column].is_null().all():
        add("write and sync MB/s", column, units.THROUGHPUT)
    add("runs", "runs", units.TEXT)
    add("MB/s", "throughput_bytes_per_s", units.THROUGHPUT)
    add("±", "throughput_bytes_per_s_half_width", units.THROUGHPUT)
    add("operations/s", "operations_per_s", units.FIGURE, 2)
    add("mean ms", "latency_mean_s", units.MILLISECONDS, 3)
    add("p95 ms", "latency_p95_s", units.MILLISECONDS)
    columns.append(Column("bottleneck", points["bottleneck"].to_list(), units.TEXT, 1))
    return Table("Points", columns, len(sweep.paths))


def charts(sweep: Sweep, name: str, picture: str = "sweep") -> list[Chart]:
    """Return the charts of a figure over one field, a line for each combination of the others.

    Points of samplers, which share no lines, are dots over each field.
    """
    known, shown_as = _known(sweep, name), SHOWN_FIGURES[name]
    y = _axis(shown_as)
    title = shown_as.words[:1].upper() + shown_as.words[1:]
    if known.is_empty() or not sweep.paths:
        empty = "no point has this figure"
        return [Chart(picture, title, Axis(), y, [], empty=empty)]
    across = max(sweep.paths, key=lambda path: known[path].n_unique())
    others = [path for path in sweep.paths if path != across and known[path].n_unique() > 1]
    lines = known.partition_by(others, maintain_order=True, as_dict=True) if others else {(): known}
    if len(lines) > MOST_LINES and 2 * len(lines) > known.height:
        shown = [path for path in sweep.paths if known[path].n_unique() > 1][:MOST_PANELS]
        return [
            Chart(picture, title, x, y, [_line(title, known, path, places, name, "mark")])
            for path in shown
            for x, places in [_places(path, known[path])]
        ]
    if len(lines) > MOST_LINES:
        title += f", first {MOST_LINES} of {len(lines)} lines"
    x, places = _places(across, known[across])
    drawn = [
        _line(
            " ".join(f"{path}={value}" for path, value in zip(others, values, strict=True))
            or title,
            rows,
            across,
            places,
            name,
        )
        for values, rows in itertools.islice(lines.items(), MOST_LINES)
    ]
    return [Chart(picture, title, x, y, drawn)]


def _axis(shown_as: ShownFigure) -> Axis:
    unit = "" if shown_as.unit == "1/s" else shown_as.unit
    return Axis(
        shown_as.words, Unit(unit, shown_as.factor, lambda value: figure(shown_as.factor * value))
    )


def _places(path: str, column: pl.Series) -> tuple[Axis, Callable[[Any], Any]]:
    """Return the axis of a field's values, and the place of each on it."""
    values = column.unique(maintain_order=True).to_list()
    numbers = amounts(values)
    if numbers is None:
        return Axis(path, scale="names"), str
    places = dict(zip(values, numbers[0], strict=True))
    texts = {place: str(value) for value, place in places.items()}
    largest = max(map(abs, places.values()))
    scales = [one for one in AXIS_UNITS.get(numbers[1], ()) if largest >= one[1]]
    name, one = scales[0] if scales else (numbers[1], 1.0)
    unit = Unit(name, 1 / one, lambda place: texts.get(place, figure(place / one)))
    is_wide = min(places.values()) > 0 and max(places.values()) >= DECADES * min(places.values())
    ticks = sorted(texts) if len(texts) <= MOST_TICKS else []
    return Axis(path, unit, "log" if is_wide else "linear", ticks=ticks), places.__getitem__


def _line(
    label: str,
    rows: pl.DataFrame,
    across: str,
    place: Callable[[Any], Any],
    name: str,
    shape: Any = "line",
) -> Line:
    x = [place(value) for value in rows[across]]
    column = FIGURES[name]
    y, halves = rows[column].to_list(), rows[f"{column}_half_width"].to_list()
    ordered = list(zip(x, y, halves, strict=True))
    if not isinstance(x[0], str):
        ordered.sort(key=lambda pair: pair[0])
    x, y, halves = (list(column) for column in zip(*ordered, strict=True))
    return Line.of_means(label, x, y, halves, shape)


def _sensitivity(sweep: Sweep, shares: Sensitivity, name: str) -> Iterator[Block]:
    if shares.error:
        yield Note(shares.error)
        return
    if name not in shares.figures:
        yield Note(f"no run has the figure {name}: choose another one by --figure")
        return
    yield sensitivity_chart(sweep, name)
    label, factor, unit = SHOWN_FIGURES[name]
    table = sweep.sensitivity(name)
    is_sobol = shares.method == "sobol"
    part = Unit(
        "",
        1.0 if is_sobol else factor,
        "{:.3f}".format if is_sobol else lambda value: figure(factor * value),
    )
    title = f"Parts of the variance of {label}"
    columns = [
        Column(heading, table[key].to_list(), part, absent=NOT_KNOWN)
        for heading, key in (SOBOL if is_sobol else MORRIS).items()
    ]
    if not is_sobol:
        title = f"Change of {label} over each range ({unit})"
    yield Table(title, [Column("axis", table["path"].to_list()), *columns])
    if table[METHODS[shares.method].columns[-1]].is_null().all():
        yield Note(f"{label} does not vary: there is nothing to explain.")
    kind = "rows" if is_sobol else "trajectories"
    dropped = f"; {shares.dropped:,} left out, in which a run failed" if shares.dropped else ""
    yield Note(f"{shares.blocks:,} {kind}{dropped}. ±: half width of the 95 % interval.")


def sensitivity_chart(sweep: Sweep, name: str) -> Chart:
    """Return two bars for each axis: first order and total indices, or mu* and sigma."""
    shown_as, table = SHOWN_FIGURES[name], sweep.sensitivity(name).head(MOST_BARS)
    bars = {"s1": "alone (S1)", "st": "with interactions (ST)"}
    y = Axis("part of the variance")
    if "st" not in table.columns:
        bars = {"mu_star": "mean size (mu*)", "sigma": "spread (sigma)"}
        unit = _axis(shown_as).unit
        y = Axis(f"change of {shown_as.words} over the whole range", unit)
    varies = not table[list(bars)[-1]].is_null().all()
    return Chart(
        "sensitivity",
        f"Sensitivity of {shown_as.words}",
        Axis("field", scale="names"),
        y,
        [_bars(label, table, key) for key, label in bars.items()] if varies else [],
        empty=f"{shown_as.words} does not vary",
    )


def _bars(label: str, table: pl.DataFrame, key: str) -> Line:
    halves = []
    if f"{key}_half_width" in table.columns:
        halves = table[f"{key}_half_width"].to_list()
    values = table[key].fill_null(0.0).to_list()
    return Line.of_means(label, table["path"].to_list(), values, halves, "bar")


def _failures(sweep: Sweep) -> list[Note]:
    failed = sweep.failed
    notes = [Note(f"failed: {values_text(run.set)}: {run.error}") for run in failed[:MOST_FAILED]]
    if len(failed) > MOST_FAILED:
        notes.append(Note(f"{len(failed) - MOST_FAILED:,} more runs failed: see --json."))
    return notes
