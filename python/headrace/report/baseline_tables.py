"""A baseline as tables for a terminal."""

from collections.abc import Mapping
from typing import Any

from rich.console import Group, RenderableType
from rich.text import Text

from headrace.plain_text import plain
from headrace.quantities import duration, figure, megabytes, percent, short_size
from headrace.report.fitted_table import FittedTable

Document = Mapping[str, Any]

COLUMNS = ("", "MB/s", "/s", "time", "CPU %", "predicted %")
SECTIONS = ("character-read", "cached-write", "random-read", "create", "network-send")
"""Figures that begin a section: bonnie++'s output is above its input, then memory, operations,
names and network."""


def baseline(document: Document) -> RenderableType:
    """Return a row for each figure, with its processor share and its prediction."""
    ratios = {it["figure"]: it["predicted"] / it["measured"] for it in document["self_check"]}
    made = FittedTable("What the directory can do", 1, COLUMNS, ("predicted %",))
    for name, it in document["figures"].items():
        if name in SECTIONS:
            made.add_section()
        made.add_row(
            name,
            megabytes(it["value"]) if it["unit"] == "B/s" else "",
            figure(it["value"]) if it["unit"] == "1/s" else "",
            duration(it["value"]) if it["unit"] == "s" else "",
            "" if it["cpu"] is None else percent(it["cpu"]),
            percent(ratios[name]) if name in ratios else "",
        )
    environment = document["environment"]
    heading = Text("baseline", style="bold")
    at = (environment.get(key) for key in ("host", "directory", "file_system", "device"))
    heading.append(f": {plain(', '.join(str(it) for it in at if it))}", style="not bold")
    size = document["file_bytes"]
    lines = [f"File size: {short_size(size) + ', ' if size else ''}{document['file_rule']}."]
    if (largest := document.get("largest_error")) is not None:
        lines.append(
            f"Self-check: the machine of the baseline predicts {largest['figure']} at"
            f" {percent(ratios[largest['figure']])} % of the measured value, the largest error."
        )
    lines += [f"Left out: {name}: {why}." for name, why in document["missing"].items()]
    notes = [Text(f"Note: {plain(note)}.", style="yellow") for note in document["notes"]]
    return Group(heading, made, *(Text(plain(line)) for line in lines), *notes)


def state(changes: list[str], note: str | None) -> RenderableType:
    """Return what has changed since a baseline, a sentence a line."""
    lines = [f"Out of date: {plain(it)}." for it in changes] or ["Up to date: nothing has changed."]
    lines += [f"Note: {note}."] if note else []
    return Text("\n".join(lines), style="yellow" if changes else "")
