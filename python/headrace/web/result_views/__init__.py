"""Results as pages show them: a file here and a line in the table for each kind of document."""

from collections.abc import Callable, Mapping
from typing import Any

from nicegui import ui

from headrace.web.result_views.generic import show_document

Document = Mapping[str, Any]

VIEWS: dict[str, Callable[[Document], object]] = {}
"""Functions that draw a document, by its `kind`."""


def kind_of(document: Document) -> str:
    """Return the kind of a document. Documents of simulations have no field of that name."""
    return str(document.get("kind", "simulation"))


def show_result(document: Any) -> None:
    """Draw a result: by its view, or as tables of all its fields."""
    if not isinstance(document, Mapping):
        ui.label("There is no result." if document is None else str(document))
        return
    draw = VIEWS.get(kind_of(document))
    if draw is None:
        show_document(document)
        return
    draw(document)
    with ui.expansion("All fields").classes("w-full"):
        show_document(document)
