"""Where a measurement was made: host, file system, device."""

from collections.abc import Mapping
from typing import Any

from nicegui import ui

from headrace.environment import of_document, shown
from headrace.web.layout import when_opened
from headrace.web.tables import show_table

Document = Mapping[str, Any]


def show_origin(document: Document) -> None:
    """Show where and when a result was measured, closed at first."""
    environment = of_document(document)
    rows = [[key.replace("_", " "), shown(key, value)] for key, value in environment.items()]
    place = [environment.get(key) for key in ("host", "file_system", "device_kind", "directory")]
    line = ", ".join(str(part) for part in place if part)
    rows.append(["Headrace", str(document.get("version", ""))])
    with ui.expansion(f"Measured on {line or 'this host'}", icon="dns").classes("w-full") as box:
        columns = ["property", "value"]
        when_opened(box, lambda: show_table("Environment", columns, rows, left={0, 1}))


def note(text: str) -> None:
    """Show a statement that limits a result."""
    with ui.row().classes("items-start no-wrap q-my-xs").props('role="note"'):
        ui.icon("info", color="warning").props('aria-hidden="true"')
        ui.label(text).classes("whitespace-pre-line")
