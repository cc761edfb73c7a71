"""A micro-benchmark as a table for a terminal."""

from collections.abc import Mapping
from typing import Any

from rich.console import Group, RenderableType
from rich.text import Text

from headrace.plain_text import plain
from headrace.quantities import figure, megabytes, percent, short_size
from headrace.report.fitted_table import FittedTable
from headrace.report.study_values import has_intervals, shown, statistic

Document = Mapping[str, Any]

ENDS = {
    "interrupted": "Interrupted: partial figures.",
    "time": "Stopped after --time: partial figures.",
    "failed": "An operation failed: partial figures.",
    "unfinished": "Not complete: partial figures.",
}
UNITS = {"throughput": "MB/s", "per_second": "/s"}


def study(document: Document) -> RenderableType:
    """Means or medians over the repeats: a row for each point and a column for each test. A study
    of one point has a row for each test."""
    points = {tuple(it[key] for key in document["parameters"]) for it in document["summary"]}
    made = _of_one(document) if len(points) == 1 else _of_many(document)
    marked = len(points) > 1 and any(it["in_memory"] for it in document["summary"])
    if marked:
        made.caption = "* the page cache may have served reads: the files are smaller than memory"
    heading = Text(plain(document["scenario"]["name"]), style="bold")
    heading.append(f": {plain(document['scenario']['description'])}", style="not bold")
    notes = [
        Text(f"Note: {plain(warning['message'])}.", style="yellow")
        for warning in document["warnings"]
        if warning["condition"] != "fits-in-memory" or len(points) == 1
    ]
    ends = ENDS.get(document["stop"]["reason"])
    return Group(heading, made, *notes, *([Text(ends)] if ends else []))


def _of_many(document: Document) -> FittedTable:
    """A row for each point."""
    units = {it["test"]: it["unit"] for it in document["summary"]}
    keys = document["parameters"]
    columns = [*keys, *(f"{test} {UNITS[unit]}" for test, unit in units.items())]
    made = FittedTable(_title(document), len(keys), columns)
    by_point: dict[tuple[Any, ...], dict[str, str]] = {}
    for it in document["summary"]:
        mark = "*" if it["in_memory"] else ""
        cells = by_point.setdefault(tuple(it[key] for key in keys), {})
        cells[it["test"]] = f"{_value(it)}{mark}"
    for point, cells in by_point.items():
        named = _named(document, dict(zip(keys, point, strict=True)))
        made.add_row(*named.values(), *(cells.get(test, "") for test in units))
    return made


def _of_one(document: Document) -> FittedTable:
    """A row for each test of the only point."""
    point = _named(document, {key: document["summary"][0][key] for key in document["parameters"]})
    text = ", ".join(f"{key} {value}" for key, value in point.items())
    title = "; ".join(part for part in (text, _title(document)) if part)
    units = list(dict.fromkeys(it["unit"] for it in document["summary"]))
    made = FittedTable(title, 1, ["", *(UNITS[unit] for unit in units), "CPU %"], ("CPU %",))
    for it in document["summary"]:
        cells = (_value(it) if it["unit"] == unit else "" for unit in units)
        made.add_row(it["test"], *cells, _cpu(it))
    return made


def _cpu(it: Document) -> str:
    """Return the share of one processor; results of earlier versions have none."""
    return percent(it["cpu"]) if "cpu" in it else ""


def _named(document: Document, point: Mapping[str, Any]) -> dict[str, str]:
    """Return the parameters of a point in words."""
    sizes = document["sizes"]
    return {key: short_size(value) if key in sizes else str(value) for key, value in point.items()}


def _title(document: Document) -> str:
    text = statistic(document)
    if not has_intervals(document):
        text = text.partition(",")[0]
    return text[:1].upper() + text[1:]


def _value(it: Document) -> str:
    """A mean with half the width of its interval; the median of fewer repeats."""
    format = figure if it["unit"] == "per_second" else megabytes
    found = shown(it)
    if found.value is None:
        return ""
    if found.half_width is None:
        return format(found.value)
    return f"{format(found.value)} ± {format(found.half_width)}"
