"""A dialog with the arithmetic of a figure, whose inputs can be followed."""

from collections.abc import Collection
from functools import partial

from nicegui import ui

from headrace.web.design.figures import FigureBook, FigureView
from headrace.web.layout import heading

STYLE = """
.hr-arithmetic { font-family: monospace; overflow-wrap: anywhere; white-space: pre-wrap; }
.hr-figure-rows { width: 100%; border-collapse: collapse; }
.hr-figure-rows th, .hr-figure-rows td { text-align: left; vertical-align: baseline;
  padding: 4px 8px 4px 0; border-bottom: 1px solid rgba(128, 128, 128, 0.3); }
.hr-main h3 { font-size: 1.05rem; font-weight: 600; line-height: 1.3; margin: 12px 0 4px; }
.hr-figure-rows th.hr-number, .hr-figure-rows .hr-number { text-align: right; white-space: nowrap; }
.hr-figure-rows .q-btn { text-decoration: underline dotted; min-height: 24px; }
.body--dark .q-btn--flat, .body--dark .q-btn--outline { --q-primary: #7cc0ee; }
"""


class FigureDialog:
    """Shows a figure of a book with its formula, numbers, inputs and source."""

    def __init__(self, book: FigureBook) -> None:
        self._book = book
        self._path: list[str] = []
        ui.add_css(STYLE)
        with ui.dialog() as self._dialog, ui.card().classes("w-full").style("max-width: 720px"):
            self._place = ui.element("div").classes("w-full")
            with ui.row().classes("justify-end w-full"):
                self._back = ui.button("Back", icon="arrow_back", on_click=self._go_back)
                self._back.props("flat")
                ui.button("Close", on_click=self._dialog.close).props("flat")
        self._dialog.props('aria-label="Arithmetic of a figure"')

    def open(self, key: str) -> None:
        """Show a figure."""
        self._path = [key]
        self._show()
        self._dialog.open()

    def button(self, key: str) -> ui.button:
        """Draw the value of a figure; a click on it shows its arithmetic."""
        view = self._book.view(key)
        button = ui.button(view.text, on_click=partial(self.open, key))
        button.props("flat dense align=right")
        button.props["aria-label"] = f"{view.title}: {view.text}: show the arithmetic"
        return button

    def _go_back(self) -> None:
        self._path.pop()
        self._show()

    def _follow(self, key: str) -> None:
        self._path.append(key)
        self._show()

    def _show(self) -> None:
        view = self._book.view(self._path[-1])
        self._back.set_visibility(len(self._path) > 1)
        self._place.clear()
        with self._place:
            heading(view.title)
            ui.label(view.text).classes("text-h5").props('data-testid="figure-value"')
            ui.label(f"= {view.formula}").classes("hr-arithmetic")
            if view.numbers:
                ui.label(f"= {view.numbers}").classes("hr-arithmetic").props(
                    'data-testid="figure-numbers"'
                )
            if view.inputs:
                self._inputs(view)
            for word, text in (("Source", view.source), ("Limit", view.note)):
                if text:
                    ui.label(f"{word}: {text}").classes("q-mt-sm")

    def _inputs(self, view: FigureView) -> None:
        with ui.element("table").classes("hr-figure-rows q-mt-sm"):
            header("input", "value", "source")
            with ui.element("tbody"):
                for it in view.inputs:
                    with ui.element("tr"):
                        cell(it.name)
                        with ui.element("td"):
                            if it.figure is None:
                                ui.label(it.text)
                            else:
                                follow = ui.button(
                                    it.text, on_click=partial(self._follow, it.figure)
                                )
                                follow.props("flat dense")
                                follow.props["aria-label"] = f"{it.name}: {it.text}: its arithmetic"
                        cell(it.source)


def figure_rows(title: str, figures: list[FigureView], dialog: FigureDialog) -> None:
    """Draw figures as a table whose values open their arithmetic."""
    with ui.element("div").classes("w-full overflow-auto"):
        table = ui.element("table").classes("hr-figure-rows")
        table.props["aria-label"] = title
        with table:
            header("figure", "value", right=("value",))
            with ui.element("tbody"):
                for figure in figures:
                    with ui.element("tr"):
                        cell(figure.title)
                        with ui.element("td").classes("hr-number"):
                            dialog.button(figure.key)


def header(*names: str, right: Collection[str] = ()) -> None:
    """Draw the head of a table; columns of the names in `right` are numbers."""
    with ui.element("thead"), ui.element("tr"):
        for name in names:
            column = ui.element("th").props("scope=col")
            column.classes("hr-number" if name in right else "")
            with column:
                ui.label(name)


def cell(text: str, *, right: bool = False) -> None:
    """Draw a cell of a table."""
    with ui.element("td").classes("hr-number" if right else ""):
        ui.label(text)
