"""Results side by side as tables for a terminal."""

from collections.abc import Mapping, Sequence
from typing import Any

from rich.console import Group, RenderableType
from rich.text import Text

from headrace.plain_text import plain
from headrace.quantities import figure, megabytes, milliseconds
from headrace.render.fitted_table import FittedTable
from headrace.report.store_tables import when
from headrace.store.figures import LATENCIES, RATE, THROUGHPUT

Entry = Mapping[str, Any]

PERCENTILES = {"p999": "p99.9"}
"""Titles of percentiles that their names do not show."""
LETTERS = "ABCDEFGHIJKLMNOPQRSTUVWXYZ"
SHOWN = {THROUGHPUT: ("MB/s", megabytes), RATE: ("operations/s", figure)} | {
    f"{time}_{name}_s": (f"{words}{PERCENTILES.get(name, name)} ms", milliseconds)
    for time, words in (("latency", ""), ("response", "response "))
    for name in LATENCIES
}
"""Title and format of every catalogued figure."""
SURE = 0.0005
"""Smaller probabilities are shown as less than 0.001."""


def comparison(compared: Entry) -> RenderableType:
    """Return the groups, their figures and ratios, and the notes."""
    letters = group_letters(compared["groups"])
    parts: list[RenderableType] = [
        _groups(compared["groups"], letters),
        _figures(compared["figures"], letters),
    ]
    if compared["notes"]:
        parts.append(Text("\n" + "\n".join(map(plain, compared["notes"]))))
    return Group(*parts)


def group_letters(groups: Sequence[Entry]) -> dict[str, str]:
    """A short name for each: a letter, or a number where letters run out."""
    enough = len(groups) <= len(LETTERS)
    return {
        it["group"]: LETTERS[number] if enough else str(number + 1)
        for number, it in enumerate(groups)
    }


def _groups(groups: Sequence[Entry], letters: Mapping[str, str]) -> FittedTable:
    columns = (
        "",
        "what",
        "name",
        "results",
        "samples",
        "version",
        "calls",
        "seeds",
        "scenario",
        "started",
    )
    made = FittedTable("Compared", 3, columns, ("scenario", "seeds", "calls", "started"))
    for it in groups:
        made.add_row(
            letters[it["group"]],
            it["group"],
            _one(it["names"]),
            str(len(it["ids"])),
            str(it["samples"]),
            _one(it["versions"]),
            _one(it["calls"]),
            _one(it["seeds"]),
            _one([(sha256 or "none")[:12] for sha256 in it["scenarios"]]),
            when(it["started"]),
        )
    return made


def _one(values: Sequence[Any]) -> str:
    return "" if values == [None] else str(values[0]) if len(values) == 1 else f"{len(values)}"


def _figures(rows: Sequence[Entry], letters: Mapping[str, str]) -> FittedTable:
    first, *others = letters.values()
    columns = ["operation", "figure", *letters.values()]
    for letter in others:
        columns += [f"{letter}/{first}", f"{letter}/{first} 95 %", f"p of {letter}"]
    spare = [f"{letter}/{first} 95 %" for letter in reversed(others)]
    made = FittedTable("Figures", 2, columns, spare)
    keys = dict.fromkeys((row["operation"], row["figure"]) for row in rows)
    figures = {(row["operation"], row["figure"], letters[row["group"]]): row for row in rows}
    last = None
    for operation, name in keys:
        if last not in (None, operation):
            made.add_section()
        title, format = SHOWN[name]
        found = [figures.get((operation, name, letter)) for letter in letters.values()]
        made.add_row(
            "" if operation == last else operation,
            title,
            *("" if row is None else format(row["value"]) for row in found),
            *(cell for row in found[1:] for cell in _ratio(row)),
        )
        last = operation
    return made


def _ratio(row: Entry | None) -> tuple[str, str, str]:
    """A ratio, its interval, and the probability of such a difference by chance."""
    if row is None or row["ratio"] is None:
        return "", "", ""
    if row["p"] is None:
        return figure(row["ratio"]), "", ""
    high = "any" if row["ratio_high"] is None else figure(row["ratio_high"])
    sure = "<0.001" if row["p"] < SURE else f"{row['p']:.3f}"
    return figure(row["ratio"]), f"{figure(row['ratio_low'])} to {high}", sure
