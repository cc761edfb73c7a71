"""Any document as tables of its fields."""

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from nicegui import ui

from headrace.quantities import rate_text, size
from headrace.render.echarts import number_text
from headrace.web.layout import heading, when_opened

MOST_ROWS = 200
"""Rows of a table."""
MOST_COLUMNS = 12
LONG = 120
"""Characters of a text that is shown folded."""


UNITS = {
    re.compile(r"bytes_per_s$|(^|\.)(throughput|synced_writes)(\.[^.]*)?$"): rate_text,
    re.compile(r"(^|[._])bytes$"): size,
}
"""How fields are written whose names say what they are."""


def show_document(document: Mapping[str, Any]) -> None:
    """Draw a document: its plain fields in one table, each list of records in its own."""
    plain = dict(_plain("", document))
    short = {key: value for key, value in plain.items() if len(value) <= LONG and "\n" not in value}
    if short:
        field_table("Fields", [{"field": key, "value": value} for key, value in short.items()])
    for name, records in _records("", document):
        field_table(name, [_row(record) for record in records])
    for key, text in plain.items():
        if key not in short:
            show_folded(key, text, "text")


def show_folded(title: str, text: str, language: str) -> None:
    """Draw a text that is seen when its title is clicked."""
    with ui.expansion(title).classes("w-full") as box:
        when_opened(box, lambda: ui.code(text, language=language).classes("w-full"))


def field_table(title: str, rows: Sequence[Mapping[str, str]]) -> None:
    """Draw a table of texts. Its columns are the keys of the rows."""
    keys = list(dict.fromkeys(key for row in rows for key in row))[:MOST_COLUMNS]
    columns = [
        {"name": str(at), "label": key, "field": str(at), "align": "left"}
        for at, key in enumerate(keys)
    ]
    shown = [{str(at): row.get(key, "") for at, key in enumerate(keys)} for row in rows[:MOST_ROWS]]
    with ui.element("section").classes("w-full q-mb-md"):
        heading(title, 3)
        table = ui.table(rows=[], columns=columns).classes("w-full")
        # A tuple: NiceGUI watches each row of a list.
        table.props["rows"] = tuple(shown)
        table.props["aria-label"] = title
        table.props("dense flat wrap-cells")
        if len(rows) > MOST_ROWS:
            ui.label(f"{MOST_ROWS} of {len(rows):,} rows")


def _plain(path: str, value: Any) -> Iterator[tuple[str, str]]:
    if isinstance(value, Mapping):
        for key, part in value.items():
            yield from _plain(f"{path}.{key}" if path else str(key), part)
    elif isinstance(value, Sequence) and not isinstance(value, str):
        if not _are_records(value):
            yield path, ", ".join(number_text(item) for item in value)
    else:
        yield path, field_text(path, value)


def field_text(path: str, value: Any) -> str:
    """Return the value of a field, rates and sizes with their units."""
    if isinstance(value, int | float) and not isinstance(value, bool):
        for pattern, text in UNITS.items():
            if pattern.search(path):
                return text(value)
    return number_text(value)


def _records(path: str, value: Any) -> Iterator[tuple[str, Sequence[Mapping[str, Any]]]]:
    if isinstance(value, Mapping):
        for key, part in value.items():
            yield from _records(f"{path}.{key}" if path else str(key), part)
    elif _are_records(value):
        yield path, value


def _are_records(value: Any) -> bool:
    return (
        isinstance(value, Sequence)
        and not isinstance(value, str)
        and bool(value)
        and all(isinstance(item, Mapping) for item in value)
    )


def _row(record: Mapping[str, Any]) -> dict[str, str]:
    row: dict[str, str] = {}
    for key, value in record.items():
        if isinstance(value, Mapping):
            row |= dict(_plain(key, value))
        else:
            row[key] = next((text for _, text in _plain(key, value)), "")
    return row
