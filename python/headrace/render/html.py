"""Tables for a terminal as HTML for a notebook, without scripts and style sheets."""

from collections.abc import Iterator
from html import escape

from rich.console import Console, Group, RenderableType
from rich.text import Text

from headrace.render.fitted_table import FittedTable

FIGURE = ' style="text-align:right"'
NAME = ' style="text-align:left"'
WIDE = 160
"""Columns of what has no form of its own in HTML."""


def as_html(shown: RenderableType) -> str:
    """Return tables and text as HTML.

    The first table is open. Those after it open on a click, so that a result takes a screen at
    most.

    Args:
        shown: What a command prints: texts and tables, or a group of them.
    """
    parts, tables = [], 0
    for part in _parts(shown):
        if isinstance(part, FittedTable):
            parts.append(_table(part) if tables == 0 else _folded(part))
            tables += 1
        elif isinstance(part, Text):
            parts.append(_text(part))
        else:
            parts.append(f"<pre>{escape(_plain(part))}</pre>")
    return f"<div>{''.join(parts)}</div>"


def _parts(shown: RenderableType) -> Iterator[RenderableType]:
    if isinstance(shown, Group):
        for part in shown.renderables:
            yield from _parts(part)
    else:
        yield shown


def _text(text: Text) -> str:
    words = escape(text.plain.strip()).replace("\n", "<br>")
    if not words:
        return ""
    # A heading is bold up to its first colon.
    if "bold" in str(text.style) and not text.spans:
        return f"<p><strong>{words}</strong></p>"
    name = escape(text.plain[: text.spans[0].start]) if text.spans else ""
    if name and "bold" in str(text.style) and words.startswith(name):
        return f"<p><strong>{name}</strong>{words[len(name) :]}</p>"
    return f"<p>{words}</p>"


def _folded(table: FittedTable) -> str:
    if not table.title:
        return _table(table)
    inner = _table(table, with_title=False)
    return f"<details><summary>{escape(table.title)}</summary>{inner}</details>"


def _table(table: FittedTable, *, with_title: bool = True) -> str:
    def cells(tag: str, row: tuple[str, ...]) -> str:
        return "".join(
            f"<{tag}{NAME if at < table.names else FIGURE}>"
            f"{escape(cell).replace(chr(10), '<br>')}</{tag}>"
            for at, cell in enumerate(row)
        )

    title = f"<caption>{escape(table.title)}</caption>" if table.title and with_title else ""
    rows = "".join(f"<tr>{cells('td', row)}</tr>" for row in table.rows)
    note = f"<p><small>{escape(table.caption)}</small></p>" if table.caption else ""
    head = f"<thead><tr>{cells('th', tuple(table.columns))}</tr></thead>"
    return f"<table>{title}{head}<tbody>{rows}</tbody></table>{note}"


def _plain(shown: RenderableType) -> str:
    console = Console(width=WIDE, color_system=None, force_terminal=False, force_jupyter=False)
    with console.capture() as captured:
        console.print(shown)
    return captured.get()
