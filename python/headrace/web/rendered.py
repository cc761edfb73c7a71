"""Tables and texts that the command line prints, shown in a page.

The functions of `headrace.report` return what `rich` draws on a terminal: groups of tables and
texts. A page shows the same cells.
"""

from rich.console import Group, RenderableType
from rich.text import Text

from headrace.render.fitted_table import FittedTable
from headrace.web.tables import show_table


def show_rendered(found: RenderableType) -> None:
    """Show a group, table or text. Texts of users are shown as texts."""
    from nicegui import ui

    match found:
        case Group():
            for part in found.renderables:
                show_rendered(part)
        case FittedTable():
            names = set(range(found.names))
            show_table(
                found.title.strip() or "Figures",
                found.columns,
                found.rows,
                left=names or {0},
            )
            for note in (found.caption,):
                if note:
                    ui.label(note).classes("text-sm")
        case Text() | str():
            text = found.plain if isinstance(found, Text) else found
            if text.strip():
                bold = isinstance(found, Text) and "bold" in str(found.style)
                label = ui.label(text.strip()).classes("whitespace-pre-line")
                if bold:
                    label.classes("font-bold")
        case _:
            raise TypeError(f"a page cannot show {type(found).__name__}")
