"""View of `sweep`."""

from collections.abc import Mapping
from typing import Any

import polars as pl

from headrace.quantities import amounts
from headrace.report import sweep_tables
from headrace.sweeps.result import Sweep
from headrace.web.charts import Chart, Series, horizontal_bars
from headrace.web.rendered import show_rendered

Document = Mapping[str, Any]

FIGURES = (
    ("synced_writes_bytes_per_s", "Write and sync together", "MB/s", 1e-6),
    ("throughput_bytes_per_s", "Throughput", "MB/s", 1e-6),
    ("operations_per_s", "Operations a second", "operations/s", 1.0),
    ("latency_p95_s", "p95 latency", "ms", 1e3),
)
MOST_LINES = 8
"""Values of the second field that have a line each."""
MOST_POINTS = 500


def show(document: Document) -> None:
    """Show each figure over the first field that varies, and the points in a table."""
    sweep = Sweep.from_document(document)
    if sweep.sensitivities is not None:
        _sensitivities(sweep)
    elif sweep.paths and sweep.points.height:
        for column, title, unit, factor in FIGURES:
            if sweep.points[column].drop_nulls().len():
                _over_first(sweep, column, title, unit, factor)
    show_rendered(sweep_tables.sweep_table(sweep))


def _over_first(sweep: Sweep, column: str, title: str, unit: str, factor: float) -> None:
    first, *others = sweep.paths
    points = sweep.points.head(MOST_POINTS).with_columns(pl.col(column) * factor)
    numbers = amounts(points[first].to_list())
    x, name = (points[first].to_list(), first) if numbers is None else (numbers[0], first)
    if numbers is not None and numbers[1]:
        name = f"{first} ({numbers[1]})"
    lines: dict[str, list[tuple[Any, Any]]] = {}
    for at, y, *rest in zip(x, points[column], *(points[it] for it in others), strict=True):
        of = ", ".join(f"{path} = {it}" for path, it in zip(others, rest, strict=True))
        lines.setdefault(of or title, []).append((at, y))
    kind = "line"
    if len(lines) > MOST_LINES:
        lines = {title: [it for found in lines.values() for it in found]}
        kind = "scatter"
    is_wide = numbers is not None and min(x) > 0 and max(x) > 20 * min(x)
    Chart(
        title,
        name,
        unit,
        [
            Series(of, [a for a, _ in sorted_of(it)], [b for _, b in sorted_of(it)], kind)
            for of, it in lines.items()
        ],
        x_kind="category" if numbers is None else "log" if is_wide else "value",
    )


def sorted_of(points: list[tuple[Any, Any]]) -> list[tuple[Any, Any]]:
    """Return points in the order of their numbers; texts stay as they are."""
    if all(isinstance(at, int | float) for at, _ in points):
        return sorted(points, key=lambda it: it[0])
    return points


def _sensitivities(sweep: Sweep) -> None:
    found = sweep.sensitivities
    if found is None or found.error or "throughput" not in found.figures:
        return
    table = sweep.sensitivity("throughput")
    column = "st" if found.method == "sobol" else "mu_star"
    values = [it or 0.0 for it in table[column]]
    unit = "part of the variance" if found.method == "sobol" else "MB/s"
    factor = 1.0 if found.method == "sobol" else 1e-6
    horizontal_bars(
        "Sensitivity of throughput",
        "field",
        unit,
        [Series(column, table["path"].to_list(), [factor * it for it in values], "bar")],
    )
