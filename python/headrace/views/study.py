"""A micro-benchmark over its range: `bench sweep`, `blocks`, `clients`, `meta`, `disk`, `copy`."""

from collections.abc import Iterator, Sequence
from typing import Literal

from headrace.measure.micro.study import Parameter
from headrace.measure.micro.summary import StudyReport, SummaryRow
from headrace.quantities import short_size
from headrace.render import units
from headrace.render.blocks import (
    Axis,
    Block,
    Chart,
    Column,
    Headline,
    HeatMap,
    Line,
    Note,
    Record,
    Records,
    Table,
    View,
)
from headrace.views.parts import ending, warning_note

UNITS = {"throughput": units.THROUGHPUT, "per_second": units.RATE}
HEADINGS = {"throughput": ("MB/s", units.THROUGHPUT), "per_second": ("/s", units.FIGURE)}
TITLES = {"throughput": "Throughput", "per_second": "Operations a second"}
MOST_LINES = 7
"""Lines of a chart, one for each colour; with more, each test has its own chart."""
MOST_HEADLINES = 4
WIDE = 20.0
"""Figures that differ by more than this factor are drawn on a logarithmic axis."""
IN_MEMORY = "fits-in-memory"
"""Condition of the warning that a table of several points has as marks."""


def view(result: StudyReport) -> View:
    """Return means or medians over the repeats, by point and test."""
    points = {tuple(row.parameters.values()) for row in result.summary}
    is_one = len(points) == 1
    return [
        Note(f": {result.scenario.description}", result.scenario.name),
        _headline(result),
        *_charts(result),
        _of_one(result) if is_one else _of_many(result),
        *(
            warning_note(warning)
            for warning in result.warnings
            if is_one or warning.condition != IN_MEMORY
        ),
        *ending(result.stop),
        Records([_record(row) for row in result.summary]),
    ]


def _headline(result: StudyReport) -> Headline:
    """Return the highest figure of each of the first tests, and the point that has it."""
    best: dict[str, SummaryRow] = {}
    for row in result.summary:
        if row.value is not None and row.value > (best.get(row.test, row).value or 0.0) * (
            row.test in best
        ):
            best[row.test] = row
    shown = {}
    for test, row in list(best.items())[:MOST_HEADLINES]:
        varying = [
            f"{key} {_named(result, key, value)}"
            for key, value in row.parameters.items()
            if any(other.parameters[key] != value for other in result.summary)
        ]
        name = f"highest {test}, {', '.join(varying)}" if varying else test
        shown[name] = UNITS[row.unit].full(row.value)
    return Headline(shown)


def has_intervals(result: StudyReport) -> bool:
    """Return whether there are enough repeats for confidence intervals of their mean."""
    return any(row.half_width is not None for row in result.summary)


def statistic(result: StudyReport) -> str:
    """Return the name of the displayed statistic; empty for a single repeat."""
    if has_intervals(result):
        return f"means of {_repeats(result)}, ± half the width of their 95 % interval (t)"
    if result.wanted_repeats == 1:
        return ""
    return f"medians of {_repeats(result)}, from the least to the most"


def _repeats(result: StudyReport) -> str:
    """Return the number of repeats, and the wanted number if it differs."""
    repeats = result.wanted_repeats
    done = [row.repeats for row in result.summary]
    least, most = min(done, default=0), max(done, default=0)
    if least == repeats:
        return f"{repeats} repeats"
    many = f"{most}" if least == most else f"{least} to {most}"
    return f"{many} of {repeats} repeats"


def _of_many(result: StudyReport) -> Table:
    """Return a row for each point and a column for each test."""
    unit_of = {row.test: row.unit for row in result.summary}
    by_point: dict[tuple[int | str, ...], dict[str, SummaryRow]] = {}
    for row in result.summary:
        by_point.setdefault(tuple(row.parameters.values()), {})[row.test] = row
    named = [
        Column(
            key,
            [point[at] for point in by_point],
            units.SHORT_SIZE if key in result.sizes else units.TEXT,
        )
        for at, key in enumerate(result.parameters)
    ]
    tests = []
    for test, unit in unit_of.items():
        heading, shown = HEADINGS[unit]
        rows = [tests_of.get(test) for tests_of in by_point.values()]
        tests.append(
            Column(
                f"{test} {heading}",
                [None if row is None else row.value for row in rows],
                shown,
                half_widths=[None if row is None else row.half_width for row in rows],
                marks=["*" if row and row.in_memory else "" for row in rows],
            )
        )
    caption = ""
    if any(row.in_memory for row in result.summary):
        caption = "* the page cache may have served reads: the files are smaller than memory"
    return Table(_title(result), [*named, *tests], names=len(named), caption=caption)


def _of_one(result: StudyReport) -> Table:
    """Return a row for each test of the only point."""
    rows = result.summary
    point = ", ".join(
        f"{key} {_named(result, key, value)}" for key, value in rows[0].parameters.items()
    )
    columns = []
    for unit in dict.fromkeys(row.unit for row in rows):
        heading, shown = HEADINGS[unit]
        values = [row.value if row.unit == unit else None for row in rows]
        halves = [row.half_width if row.unit == unit else None for row in rows]
        columns.append(Column(heading, values, shown, half_widths=halves))
    cpu = Column("CPU %", [row.cpu or None for row in rows], units.SHARE, spare=1)
    title = "; ".join(filter(None, (point, _title(result))))
    return Table(title, [Column("", [row.test for row in rows]), *columns, cpu])


def _title(result: StudyReport) -> str:
    text = statistic(result)
    if not has_intervals(result):
        text = text.partition(",")[0]
    return text[:1].upper() + text[1:]


def _named(result: StudyReport, key: str, value: int | str) -> str:
    return short_size(value) if key in result.sizes and isinstance(value, int) else str(value)


def _charts(result: StudyReport) -> Iterator[Block]:
    """Yield bars of one point, or lines over the range, of each unit."""
    known = [row for row in result.summary if row.value is not None]
    varying = [key for key in result.parameters if len({row.parameters[key] for row in known}) > 1]
    for unit in dict.fromkeys(row.unit for row in known):
        rows = [row for row in known if row.unit == unit]
        if not varying:
            yield _bars(result, rows, unit)
        else:
            yield from _lines(result, rows, unit, varying)


def _bars(result: StudyReport, rows: Sequence[SummaryRow], unit: str) -> Chart:
    return Chart(
        result.benchmark,
        f"{TITLES[unit]} of each test",
        Axis("test", scale="names"),
        Axis("", UNITS[unit]),
        [_line(UNITS[unit].name, [row.test for row in rows], rows, "bar")],
        statistic=statistic(result),
    )


def _lines(
    result: StudyReport, rows: Sequence[SummaryRow], unit: str, varying: Sequence[str]
) -> Iterator[Block]:
    """Yield a line for each test, or, of more lines than colours, a chart for each test."""
    numbers = [key for key in varying if all(isinstance(row.parameters[key], int) for row in rows)]
    across = (numbers or list(varying))[-1]
    in_sizes = across in result.sizes
    x = Axis(
        f"{across} size" if in_sizes else across,
        units.SHORT_SIZE if in_sizes else units.TEXT,
        "log2" if numbers else "names",
    )
    values = [row.value for row in rows if row.value]
    is_wide = bool(values) and max(values) > WIDE * min(values)
    y = Axis("", UNITS[unit], "log" if is_wide else "linear")
    by_test: dict[str, dict[str, list[SummaryRow]]] = {}
    for row in rows:
        others = ", ".join(
            _named(result, key, row.parameters[key]) for key in varying if key != across
        )
        by_test.setdefault(row.test, {}).setdefault(others, []).append(row)
    count = sum(len(lines) for lines in by_test.values())
    title = f"{TITLES[unit]} by {x.name}"
    by_chart = (
        {title: by_test} if count <= MOST_LINES else {key: {key: by_test[key]} for key in by_test}
    )
    for name, tests in by_chart.items():
        lines = [
            _line(
                " ".join(filter(None, (test if len(tests) > 1 or not others else "", others))),
                [row.parameters[across] for row in of_line],
                of_line,
            )
            for test, by_others in tests.items()
            for others, of_line in by_others.items()
        ]
        if len(varying) == 2 and set(varying) <= set(result.sizes) and name != title:
            yield _heat_map(result, name, varying, [row for row in rows if row.test == name])
        yield Chart(
            result.benchmark,
            title if name == title else f"{name}: {title[:1].lower()}{title[1:]}",
            x,
            y,
            lines,
            topic=name,
            statistic=statistic(result),
        )


def _line(
    name: str,
    x: Sequence[Parameter],
    rows: Sequence[SummaryRow],
    shape: Literal["line", "bar"] = "line",
) -> Line:
    ordered = list(zip(x, rows, strict=True))
    if all(isinstance(at, int) for at in x):
        ordered.sort(key=lambda pair: pair[0])
    ends = [row.ends for _, row in ordered]
    is_range = any(low != high for low, high in ends)
    return Line(
        name,
        [at for at, _ in ordered],
        [row.value for _, row in ordered],
        [low for low, _ in ends] if is_range else (),
        [high for _, high in ends] if is_range else (),
        shape=shape,
    )


def _heat_map(
    result: StudyReport, test: str, varying: Sequence[str], rows: Sequence[SummaryRow]
) -> HeatMap:
    """Return the figures of a test over both sizes."""
    first, second = varying
    by_sizes = {(row.parameters[first], row.parameters[second]): row.value for row in rows}
    lines, columns = (sorted({row.parameters[key] for row in rows}) for key in varying)
    return HeatMap(
        f"{result.benchmark}-sizes",
        f"{test}: {TITLES[rows[0].unit].lower()} by {first} and {second} size",
        Axis(f"{second} size"),
        Axis(f"{first} size"),
        [_named(result, second, column) for column in columns],
        [_named(result, first, line) for line in lines],
        [[by_sizes.get((line, column)) for column in columns] for line in lines],
        UNITS[rows[0].unit],
        topic=test,
    )


def _record(row: SummaryRow) -> Record:
    own = {name: getattr(row, name) for name in row.__struct_fields__ if name != "parameters"}
    return {**row.parameters, **own}
