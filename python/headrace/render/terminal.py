"""Blocks as texts and tables for a terminal."""

from typing import Literal

from rich.console import Group, RenderableType
from rich.table import Table as RichTable
from rich.text import Text

from headrace.plain_text import plain
from headrace.render.blocks import Note, Table, View
from headrace.render.fitted_table import FittedTable

STYLES = {"": "", "warning": "yellow", "error": "red", "minor": "dim"}
LEVELS = {"warning": "red", "note": "yellow", "good": "green"}


def rendered(view: View) -> Group:
    """Return the notes and tables of a view."""
    parts: list[RenderableType] = []
    for block in view:
        match block:
            case Note():
                parts.append(_text(block))
            case Table():
                parts.append(_plain_table(block) if block.is_plain else _table(block))
    return Group(*parts)


def _text(note: Note) -> Text:
    if not note.name:
        return Text(plain(note.text), style=STYLES[note.style])
    if note.level:
        text = Text().append(plain(note.name), style=LEVELS[note.level])
        return text.append(plain(note.text))
    text = Text(plain(note.name), style="bold")
    return text.append(plain(note.text), style="not bold")


def _plain_table(table: Table) -> RichTable:
    plain_table = RichTable(box=None, pad_edge=False)
    # Names are cut where figures stand beside them.
    overflow: Literal["fold", "ellipsis"] = "ellipsis"
    if table.names == len(table.columns):
        overflow = "fold"
    for number, column in enumerate(table.columns):
        side: Literal["left", "right"] = "left" if number < table.names else "right"
        plain_table.add_column(column.name, justify=side, overflow=overflow)
    for row in zip(*(column.cells() for column in table.columns), strict=True):
        plain_table.add_row(*(Text(plain(cell)) for cell in row))
    return plain_table


def _table(table: Table) -> FittedTable:
    spare = sorted((column for column in table.columns if column.spare), key=lambda one: -one.spare)
    fitted = FittedTable(
        plain(table.title),
        table.names,
        [plain(column.name) for column in table.columns],
        [plain(column.name) for column in spare],
        table.redirected_width,
    )
    fitted.caption = table.caption
    fitted.left_out_caption = table.narrow_caption
    for number, row in enumerate(zip(*(column.cells() for column in table.columns), strict=True)):
        if number in table.sections:
            fitted.add_section()
        fitted.add_row(*row)
    return fitted
