"""A micro-benchmark as a table for a terminal."""

from collections.abc import Mapping
from typing import Any

from rich.console import Group, RenderableType
from rich.text import Text

from headrace.report.fitted_table import FittedTable
from headrace.report.plain import plain
from headrace.report.units import binary_size, figure, megabytes

Document = Mapping[str, Any]

UNITS = {"throughput": "MB/s", "per_second": "/s"}


def study(document: Document) -> RenderableType:
    """A row for each point and a column for each test: medians over the repeats."""
    units = {it["test"]: it["unit"] for it in document["summary"]}
    keys = document["parameters"]
    columns = [*keys, *(f"{test} {UNITS[unit]}" for test, unit in units.items())]
    repeats = document["wanted_repeats"]
    made = FittedTable(f"Medians of {repeats} repeats" if repeats > 1 else "", len(keys), columns)
    by_point: dict[tuple[Any, ...], dict[str, str]] = {}
    for it in document["summary"]:
        format = figure if it["unit"] == "per_second" else megabytes
        value = "" if it["median"] is None else format(it["median"])
        mark = "*" if it["in_memory"] else ""
        by_point.setdefault(tuple(it[key] for key in keys), {})[it["test"]] = f"{value}{mark}"
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
    return Group(heading, made, *notes)
