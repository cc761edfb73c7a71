"""A baseline: what a machine and a directory can do."""

from headrace.profile.baseline.baseline import Baseline
from headrace.quantities import percent, short_size
from headrace.render import units
from headrace.render.blocks import Axis, Block, Chart, Column, Headline, Line, Note, Table, View
from headrace.render.units import Unit

SECTIONS = ("character-read", "cached-write", "random-read", "create", "network-send")
"""Figures that begin a section: bonnie++'s output is above its input, then memory, operations,
names and network."""
MAIN = ("block-write", "block-read", "random-read", "create")
CHARTS = {"B/s": ("Throughput", units.THROUGHPUT), "1/s": ("Rates", units.RATE)}


def view(result: Baseline) -> View:
    """Return each figure with its processor share and its prediction."""
    figures, environment = result.figures, result.environment
    ratios = {prediction.figure: prediction.ratio for prediction in result.self_check}
    places = (environment.get(key) for key in ("host", "directory", "file_system", "device"))
    known = ", ".join(str(place) for place in places if place)
    size = result.file_bytes
    largest = result.largest_error

    def column(name: str, symbol: str, unit: Unit) -> Column:
        values = [figure.value if figure.unit == symbol else None for figure in figures.values()]
        return Column(name, values, unit)

    shown = {name: figures[name] for name in MAIN if name in figures}
    main = {name: CHARTS[each.unit][1].full(each.value) for name, each in shown.items()}
    view: list[Block] = [Note(f": {known}", "baseline"), Headline(main)]
    view += [chart for unit in CHARTS for chart in _chart(result, unit)]
    view.append(
        Table(
            "What the directory can do",
            [
                Column("", list(figures)),
                column("MB/s", "B/s", units.THROUGHPUT),
                column("/s", "1/s", units.FIGURE),
                column("time", "s", units.TIME),
                Column("CPU %", [figure.cpu for figure in figures.values()], units.SHARE),
                Column("predicted %", [ratios.get(name) for name in figures], units.SHARE, spare=1),
            ],
            sections=[row for row, name in enumerate(figures) if row and name in SECTIONS],
        )
    )
    view.append(Note(f"File size: {short_size(size) + ', ' if size else ''}{result.file_rule}."))
    if largest is not None:
        view.append(
            Note(
                f"Self-check: the machine of the baseline predicts {largest.figure} at"
                f" {percent(largest.ratio)} % of the measured value, the largest error."
            )
        )
    view += [Note(f"Left out: {name}: {reason}.") for name, reason in result.missing.items()]
    view += [Note(f"Note: {note}.", style="warning") for note in result.notes]
    return view


def _chart(result: Baseline, symbol: str) -> list[Chart]:
    title, unit = CHARTS[symbol]
    measured = {n: figure.value for n, figure in result.figures.items() if figure.unit == symbol}
    if not measured:
        return []
    predicted = {row.figure: row.predicted for row in result.self_check if row.figure in measured}
    lines = [Line("measured", list(measured), list(measured.values()), shape="bar")]
    if predicted:
        lines.append(Line("simulated", list(predicted), list(predicted.values()), shape="mark"))
    return [Chart("baseline", title, Axis("figure", scale="names"), Axis("", unit, "log"), lines)]


def state(changes: list[str], note: str | None) -> View:
    """Return what has changed since a baseline, a sentence a line."""
    lines = [f"Out of date: {text}." for text in changes] or ["Up to date: nothing has changed."]
    lines += [f"Note: {note}."] if note else []
    return [Note("\n".join(lines), style="warning" if changes else "")]
