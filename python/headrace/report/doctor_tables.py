"""The parts of a machine as tables for a terminal."""

from collections.abc import Callable, Sequence

from rich.console import Group, RenderableType
from rich.text import Text

from headrace.doctor import Diagnosis, Part, State
from headrace.plain_text import plain_line
from headrace.quantities import size
from headrace.render.fitted_table import FittedTable


def diagnosis_tables(diagnosis: Diagnosis) -> RenderableType:
    """Return the machine in a line, and a table for each state of parts."""
    tables: list[RenderableType] = [_machine(diagnosis)]
    for state, (title, column, cell) in TABLES.items():
        parts = [it for it in diagnosis.parts if it.state is state]
        if parts:
            tables.append(_table(title, column, parts, cell))
    return Group(*tables)


def _machine(diagnosis: Diagnosis) -> Text:
    host = diagnosis.environment
    memory = host.get("memory_bytes")
    words = [
        f"Headrace {diagnosis.version}",
        f"Python {diagnosis.python}",
        host.get("kernel", ""),
        f"{host.get('processors', 0)} processors",
        "" if memory is None else f"{size(memory)} of memory",
    ]
    return Text(plain_line(", ".join(filter(None, words))), style="bold")


def _table(
    title: str, column: str, parts: Sequence[Part], cell: Callable[[Part], str]
) -> FittedTable:
    columns = ("part", "needed by", column)
    table = FittedTable(title, len(columns), columns)
    for part in parts:
        table.add_row(*map(plain_line, (part.name, ", ".join(part.commands), cell(part))))
    return table


def _reason_and_remedy(part: Part) -> str:
    return f"{part.detail}: {part.remedy}" if part.remedy else part.detail


TABLES: dict[State, tuple[str, str, Callable[[Part], str]]] = {
    State.PRESENT: ("This machine has", "found", lambda part: part.detail),
    State.ABSENT: ("This machine lacks", "how to get it", _reason_and_remedy),
    State.UNKNOWN: ("Not checked", "reason", _reason_and_remedy),
}
"""Title, heading of the last column and its cell, by the state of the parts."""
