"""Results side by side: their figures, ratios and notes."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import msgspec

from headrace.environment import local_time
from headrace.fields import convert
from headrace.quantities import NOT_KNOWN, figure, megabytes, milliseconds
from headrace.render.blocks import Note, Table, View
from headrace.store.figures import LATENCIES, RATE, THROUGHPUT, most_changed
from headrace.store.record import ScenarioField

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
MOST_FIELDS = 10
"""Differing fields of a scenario that are named."""
MOST_IN_NAME = 2
SURE = 0.0005
"""Smaller probabilities are shown as less than 0.001."""


class Row(msgspec.Struct):
    """A figure of a group."""

    operation: str
    figure: str
    group: str
    value: float
    ratio: float | None = None
    ratio_low: float | None = None
    ratio_high: float | None = None
    p: float | None = None


def view(compared: Entry) -> View:
    """Return the groups, their figures and ratios, and the notes."""
    letters = group_letters(compared["groups"])
    notes, rows = compared["notes"], convert(compared["figures"], list[Row])
    return [
        *_changes(compared, rows, letters),
        _groups(compared["groups"], letters),
        _figures(rows, letters),
        *([Note("\n" + "\n".join(notes))] if notes else []),
    ]


def group_letters(groups: Sequence[Entry]) -> dict[str, str]:
    """A short name for each: a letter, or a number where letters run out."""
    enough = len(groups) <= len(LETTERS)
    return {
        group["group"]: LETTERS[number] if enough else str(number + 1)
        for number, group in enumerate(groups)
    }


def group_names(compared: Entry) -> dict[str, str]:
    """Return a short name for each group: its letter, with its values of a few changed fields, or
    its name."""
    groups = compared["groups"]
    letters = group_letters(groups)
    several = len({kind for group in groups for kind in group["kinds"]}) > 1
    changes = convert(compared.get("changes", ())[:MOST_IN_NAME], list[ScenarioField])
    names = {}
    for number, group in enumerate(groups):
        label = group["group"]
        values = [f"{change.path} {_value(change.values[number])}" for change in changes]
        name = f"{letters[label]}: {', '.join(values or group['names']) or label}"
        names[label] = f"{name} ({', '.join(group['kinds'])})" if several else name
    return names


def change_text(fields: Mapping[str, Sequence[Any]], effect: str = "") -> str:
    """Return the fields of a scenario that differ, each with both values, and the effect."""
    named = [f"{path} {_value(old)} → {_value(new)}" for path, (old, new) in fields.items()]
    text = ", ".join(named[:MOST_FIELDS])
    if len(named) > MOST_FIELDS:
        text += f" and {len(named) - MOST_FIELDS} more"
    return "; ".join(filter(None, (text, effect)))


def ratio_text(operation: str, name: str, ratio: float, values: str = "") -> str:
    """Return how many times as large a figure is, behind its values if there are any."""
    text = f"\N{MULTIPLICATION SIGN} {figure(ratio)}"
    return f"{operation} {SHOWN[name][0]} " + (f"{values} ({text})" if values else text)


def _value(value: Any) -> str:
    if value is None:
        return NOT_KNOWN
    return value if isinstance(value, str) else msgspec.json.encode(value).decode()


def _changes(compared: Entry, figures: Sequence[Row], letters: Mapping[str, str]) -> Iterator[Note]:
    """Yield, for each group but the first, its changed fields and what they do to the main
    figure."""
    changes = convert(compared.get("changes", ()), list[ScenarioField])
    rows = {(row.group, row.operation, row.figure): row for row in figures}
    first, *others = letters
    for number, group in enumerate(others, 1):
        pairs = {change.path: (change.values[0], change.values[number]) for change in changes}
        fields = {path: pair for path, pair in pairs.items() if pair[0] != pair[1]}
        ratios = {key[1:]: row.ratio for key, row in rows.items() if key[0] == group and row.ratio}
        key = most_changed(ratios)
        effect = ""
        if key is not None:
            old, new = (SHOWN[key[1]][1](rows[one, *key].value) for one in (first, group))
            effect = ratio_text(*key, ratios[key], f"{old} → {new}")
        if fields:
            text = change_text(fields, effect)
            yield Note(f": {text}", f"{letters[group]} instead of {letters[first]}")


def _groups(groups: Sequence[Entry], letters: Mapping[str, str]) -> Table:
    described = [
        {
            "": letters[group["group"]],
            "name": _one(group["names"]),
            "results": str(len(group["ids"])),
            "samples": str(group["samples"]),
            "version": _one(group["versions"]),
            "calls": _one(group["calls"]),
            "seeds": _one(group["seeds"]),
            "started": local_time(group["started"]),
            "group" if len(group["ids"]) > 1 else "identifier": group["group"],
        }
        for group in groups
    ]
    columns = list(dict.fromkeys(key for row in described for key in row))
    rows = [[row.get(key, "") for key in columns] for row in described]
    return Table.of_rows("Compared", columns, rows, 2, ("seeds", "calls", "started"))


def _one(values: Sequence[Any]) -> str:
    return "" if values == [None] else str(values[0]) if len(values) == 1 else f"{len(values)}"


def _figures(rows: Sequence[Row], letters: Mapping[str, str]) -> Table:
    first, *others = letters.values()
    columns = ["operation", "figure", *letters.values()]
    for letter in others:
        columns += [f"{letter}/{first}", f"{letter}/{first} 95 %", f"p of {letter}"]
    spare = [f"{letter}/{first} 95 %" for letter in reversed(others)]
    keys = dict.fromkeys((row.operation, row.figure) for row in rows)
    figures = {(row.operation, row.figure, letters[row.group]): row for row in rows}
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
                *("" if row is None else format(row.value) for row in found),
                *(cell for row in found[1:] for cell in _ratio(row)),
            ]
        )
        last = operation
    return Table.of_rows("Figures", columns, cells, 2, spare, sections)


def _ratio(row: Row | None) -> tuple[str, str, str]:
    """A ratio, its interval, and the probability of such a difference by chance."""
    if row is None or row.ratio is None:
        return "", "", ""
    if row.p is None:
        return figure(row.ratio), "", ""
    high = "any" if row.ratio_high is None else figure(row.ratio_high)
    sure = "<0.001" if row.p < SURE else f"{row.p:.3f}"
    return figure(row.ratio), f"{figure(row.ratio_low)} to {high}", sure
