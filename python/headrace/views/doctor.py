"""Programs and features of the kernel that a machine has or lacks."""

from collections.abc import Callable

from headrace.doctor import Diagnosis, Part, State
from headrace.plain_text import plain_line
from headrace.quantities import size
from headrace.render.blocks import Block, Note, Table, View


def view(diagnosis: Diagnosis) -> View:
    """Return the machine in a line, and a table for each state of parts."""
    blocks: list[Block] = [_machine(diagnosis)]
    for state, (title, column, cell) in TABLES.items():
        rows = [
            [plain_line(text) for text in (part.name, ", ".join(part.commands), cell(part))]
            for part in diagnosis.parts
            if part.state is state
        ]
        if rows:
            blocks.append(Table.of_rows(title, ("part", "needed by", column), rows, 3))
    return blocks


def _machine(diagnosis: Diagnosis) -> Note:
    host = diagnosis.environment
    memory = host.get("memory_bytes")
    words = [
        f"Headrace {diagnosis.version}",
        f"Python {diagnosis.python}",
        host.get("kernel", ""),
        f"{host.get('processors', 0)} processors",
        "" if memory is None else f"{size(memory)} of memory",
    ]
    return Note("", plain_line(", ".join(filter(None, words))))


def _reason_and_remedy(part: Part) -> str:
    return f"{part.detail}: {part.remedy}" if part.remedy else part.detail


TABLES: dict[State, tuple[str, str, Callable[[Part], str]]] = {
    State.PRESENT: ("This machine has", "found", lambda part: part.detail),
    State.ABSENT: ("This machine lacks", "how to get it", _reason_and_remedy),
    State.UNKNOWN: ("Not checked", "reason", _reason_and_remedy),
}
"""Title, heading of the last column and its cell, by the state of the parts."""
