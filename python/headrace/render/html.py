"""Blocks as HTML for a notebook, without scripts and style sheets."""

from html import escape

from headrace.plain_text import plain
from headrace.render.blocks import Note, Table, View

FIGURE = ' style="text-align:right"'
NAME = ' style="text-align:left"'


def as_html(view: View) -> str:
    """Return the notes and tables of a view as HTML.

    The first table is open. Those after it open on a click, so that a result takes a screen at
    most.
    """
    parts, tables = [], 0
    for block in view:
        if isinstance(block, Table):
            parts.append(_table(block) if tables == 0 else _folded(block))
            tables += 1
        elif isinstance(block, Note):
            parts.append(_note(block))
    return f"<div>{''.join(parts)}</div>"


def _note(note: Note) -> str:
    name, text = (escape(plain(part)) for part in (note.name.strip(), note.text))
    if name:
        text = f"<strong>{name}</strong>{text}"
    text = text.strip().replace("\n", "<br>")
    return f"<p>{text}</p>" if text else ""


def _folded(table: Table) -> str:
    if not table.title:
        return _table(table)
    inner = _table(table, with_title=False)
    return f"<details><summary>{escape(table.title)}</summary>{inner}</details>"


def _table(table: Table, *, with_title: bool = True) -> str:
    def cells(tag: str, row: tuple[str, ...]) -> str:
        return "".join(
            f"<{tag}{NAME if at < table.names else FIGURE}>"
            f"{escape(cell).replace(chr(10), '<br>')}</{tag}>"
            for at, cell in enumerate(row)
        )

    title = f"<caption>{escape(table.title)}</caption>" if table.title and with_title else ""
    rows = "".join(f"<tr>{cells('td', row)}</tr>" for row in table.rows())
    note = f"<p><small>{escape(table.caption)}</small></p>" if table.caption else ""
    head = f"<thead><tr>{cells('th', tuple(column.name for column in table.columns))}</tr></thead>"
    return f"<table>{title}{head}<tbody>{rows}</tbody></table>{note}"
