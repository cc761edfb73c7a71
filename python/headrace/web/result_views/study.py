"""View of a micro-benchmark: `bench sweep`, `blocks`, `clients`, `meta`, `disk`, `copy`."""

from collections.abc import Mapping, Sequence
from typing import Any

from nicegui import ui

from headrace.quantities import short_size
from headrace.report import study_tables
from headrace.report.study_values import shown
from headrace.web.charts import Chart, Series
from headrace.web.heat_map import HeatMap
from headrace.web.rendered import show_rendered
from headrace.web.result_views.origin import show_origin

Document = Mapping[str, Any]

UNITS = {"throughput": ("MB/s", 1e-6), "per_second": ("operations/s", 1.0)}


def show(document: Document) -> None:
    """Show a heat map over two sizes, lines over one parameter, or bars of one point."""
    keys = _varying(document)
    for unit in dict.fromkeys(it["unit"] for it in document["summary"]):
        rows = [it for it in document["summary"] if it["unit"] == unit and _value(it) is not None]
        if not rows:
            continue
        if not keys:
            _bars(rows, unit)
        elif len(keys) == 2 and set(keys) <= set(document["sizes"]):
            _surface(document, rows, unit, keys)
        else:
            _lines(document, rows, unit, keys)
    show_rendered(study_tables.study(document))
    show_origin(document)


def _varying(document: Document) -> list[str]:
    return [
        key for key in document["parameters"] if len({it[key] for it in document["summary"]}) > 1
    ]


def _bars(rows: Sequence[Document], unit: str) -> None:
    label, _ = UNITS[unit]
    names = [it["test"] for it in rows]
    title = "Throughput of each test" if unit == "throughput" else "Rate of each test"
    Chart(
        title,
        "test",
        label,
        [Series(label, names, [_value(it) for it in rows], "bar")],
        x_kind="category",
    )


def _lines(document: Document, rows: Sequence[Document], unit: str, keys: Sequence[str]) -> None:
    across = max(
        keys, key=lambda key: len({it[key] for it in rows if not isinstance(it[key], str)})
    )
    label, _ = UNITS[unit]
    lines: dict[str, list[Document]] = {}
    for it in rows:
        rest = [_named(document, key, it[key]) for key in keys if key != across]
        lines.setdefault(", ".join([it["test"], *rest]), []).append(it)
    in_sizes = across in document["sizes"]
    Chart(
        f"{'Throughput' if unit == 'throughput' else 'Operations a second'} by {across}",
        f"{across} (bytes)" if in_sizes else across,
        label,
        [
            Series(
                name,
                [_named(document, across, it[across]) if in_sizes else it[across] for it in of],
                [_value(it) for it in of],
            )
            for name, of in lines.items()
        ],
        x_kind="category" if in_sizes else "value",
    )


def _surface(document: Document, rows: Sequence[Document], unit: str, keys: Sequence[str]) -> None:
    """Draw one test as a heat map over both sizes, and as a line for each file size."""
    label, _ = UNITS[unit]
    first, second = keys
    tests = list(dict.fromkeys(it["test"] for it in rows))
    columns, lines = (sorted({it[key] for it in rows}) for key in (second, first))

    def of_test(test: str) -> dict[tuple[int, int], float | None]:
        return {(it[second], it[first]): _value(it) for it in rows if it["test"] == test}

    def names(values: Sequence[int]) -> list[str]:
        return [short_size(it) for it in values]

    def series(test: str) -> list[Series]:
        found = of_test(test)
        return [
            Series(
                f"{first} {short_size(line)}",
                names(columns),
                [found.get((it, line)) for it in columns],
            )
            for line in lines
        ]

    def draw(test: str) -> None:
        found = of_test(test)
        surface.show(
            f"{test}: throughput by file and block size",
            [[found.get((column, line)) for column in columns] for line in lines],
        )
        chart.show(series(test))

    ui.select(
        tests, value=tests[0], label="Test", on_change=lambda event: draw(str(event.value))
    ).classes("w-64")
    surface = HeatMap(f"{second} size", names(columns), f"{first} size", names(lines), label)
    chart = Chart(f"Throughput by {second} size", second, label, x_kind="category")
    draw(tests[0])


def _named(document: Document, key: str, value: Any) -> str:
    return short_size(value) if key in document["sizes"] else f"{value}"


def _value(it: Document) -> float | None:
    value = shown(it).value
    return None if value is None else value * UNITS[it["unit"]][1]
