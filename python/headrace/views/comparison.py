"""Results side by side: their figures, ratios and notes."""

from collections.abc import Mapping, Sequence
from typing import Any

from headrace.environment import local_time
from headrace.quantities import figure, megabytes, milliseconds
from headrace.render.blocks import Note, Table, View
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


def view(compared: Entry) -> View:
    """Return the groups, their figures and ratios, and the notes."""
    letters = group_letters(compared["groups"])
    notes = compared["notes"]
    return [
        _groups(compared["groups"], letters),
        _figures(compared["figures"], letters),
        *([Note("\n" + "\n".join(notes))] if notes else []),
    ]


def group_letters(groups: Sequence[Entry]) -> dict[str, str]:
    """A short name for each: a letter, or a number where letters run out."""
    enough = len(groups) <= len(LETTERS)
    return {
        group["group"]: LETTERS[number] if enough else str(number + 1)
        for number, group in enumerate(groups)
    }


def _groups(groups: Sequence[Entry], letters: Mapping[str, str]) -> Table:
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
    rows = [
        (
            letters[group["group"]],
            group["group"],
            _one(group["names"]),
            str(len(group["ids"])),
            str(group["samples"]),
            _one(group["versions"]),
            _one(group["calls"]),
            _one(group["seeds"]),
            _one([(sha256 or "none")[:12] for sha256 in group["scenarios"]]),
            local_time(group["started"]),
        )
        for group in groups
    ]
    spare = ("scenario", "seeds", "calls", "started")
    return Table.of_rows("Compared", columns, rows, 3, spare)


def _one(values: Sequence[Any]) -> str:
    return "" if values == [None] else str(values[0]) if len(values) == 1 else f"{len(values)}"


def _figures(rows: Sequence[Entry], letters: Mapping[str, str]) -> Table:
    first, *others = letters.values()
    columns = ["operation", "figure", *letters.values()]
    for letter in others:
        columns += [f"{letter}/{first}", f"{letter}/{first} 95 %", f"p of {letter}"]
    spare = [f"{letter}/{first} 95 %" for letter in reversed(others)]
    keys = dict.fromkeys((row["operation"], row["figure"]) for row in rows)
    figures = {(row["operation"], row["figure"], letters[row["group"]]): row for row in rows}
    cells: list[list[str]] = []
    sections = []
    last = None
    for operation, name in keys:
        if last not in (None, operation):
            sections.append(len(cells))
        title, format = SHOWN[name]
        found = [figures.get((operation, name, letter)) for letter in letters.values()]
        cells.append(
            [
                "" if operation == last else operation,
                title,
                *("" if row is None else format(row["value"]) for row in found),
                *(cell for row in found[1:] for cell in _ratio(row)),
            ]
        )
        last = operation
    return Table.of_rows("Figures", columns, cells, 2, spare, sections)


def _ratio(row: Entry | None) -> tuple[str, str, str]:
    """A ratio, its interval, and the probability of such a difference by chance."""
    if row is None or row["ratio"] is None:
        return "", "", ""
    if row["p"] is None:
        return figure(row["ratio"]), "", ""
    high = "any" if row["ratio_high"] is None else figure(row["ratio_high"])
    sure = "<0.001" if row["p"] < SURE else f"{row['p']:.3f}"
    return figure(row["ratio"]), f"{figure(row['ratio_low'])} to {high}", sure
