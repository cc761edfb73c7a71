"""A micro-benchmark as a table for a terminal."""

from collections.abc import Callable, Mapping
from typing import Any

from rich.console import Group, RenderableType
from rich.text import Text

from headrace.report.fitted_table import FittedTable
from headrace.report.plain import plain
from headrace.report.units import binary_size, figure, megabytes

Document = Mapping[str, Any]

ENDS = {
    "interrupted": "It was interrupted: these are the figures until then.",
    "failed": "An operation failed: these are the figures until then.",
    "unfinished": "It did not come to its end: these are the figures until then.",
}
UNITS = {"throughput": "MB/s", "per_second": "/s"}


def study(document: Document) -> RenderableType:
    """A row for each point and a column for each test: medians over the repeats."""
    units = {it["test"]: it["unit"] for it in document["summary"]}
    keys = document["parameters"]
    columns = [*keys, *(f"{test} {UNITS[unit]}" for test, unit in units.items())]
    made = FittedTable(_title(document), len(keys), columns)
    by_point: dict[tuple[Any, ...], dict[str, str]] = {}
    for it in document["summary"]:
        format = figure if it["unit"] == "per_second" else megabytes
        mark = "*" if it["in_memory"] else ""
        cell = f"{_value(it, format)}{mark}"
        by_point.setdefault(tuple(it[key] for key in keys), {})[it["test"]] = cell
    for point, cells in by_point.items():
        named = (
            binary_size(value) if key in document["sizes"] else str(value)
            for key, value in zip(keys, point, strict=True)
        )
        made.add_row(*named, *(cells.get(test, "") for test in units))
    if any(it["in_memory"] for it in document["summary"]):
        made.caption = "* memory may have answered: the files are smaller than it"
    heading = Text(plain(document["scenario"]["name"]), style="bold")
    heading.append(f": {plain(document['scenario']['description'])}", style="not bold")
    notes = [
        Text(f"Note: {plain(warning['message'])}.", style="yellow")
        for warning in document["warnings"]
        if warning["condition"] != "fits-in-memory"
    ]
    ends = ENDS.get(document["stop"]["reason"])
    return Group(heading, made, *notes, *([Text(ends)] if ends else []))


def _title(document: Document) -> str:
    repeats = document["wanted_repeats"]
    if any(it.get("half_width") is not None for it in document["summary"]):
        return f"Means of {repeats} repeats, and half the width of their 95 % interval (t)"
    return f"Medians of {repeats} repeats" if repeats > 1 else ""


def _value(it: Document, format: Callable[[float], str]) -> str:
    """A mean with half the width of its interval; the median of fewer repeats."""
    if it.get("half_width") is not None:
        return f"{format(it['mean'])} ± {format(it['half_width'])}"
    return "" if it["median"] is None else format(it["median"])
