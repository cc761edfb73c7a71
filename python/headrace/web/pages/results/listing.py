"""The list of results."""

import asyncio
from collections.abc import Mapping
from typing import Any
from urllib.parse import urlencode

from nicegui import ui
from nicegui.events import ValueChangeEventArguments

from headrace.environment import local_time
from headrace.kinds import STORED
from headrace.store import StoreError, StoreFailure, make_filter
from headrace.store.listing import Listed, ResultEntry
from headrace.store.queries import SORT_KEYS
from headrace.views.stored_results import changed
from headrace.web.access.users import User
from headrace.web.page import follow_history, on_typed, push_address
from headrace.web.pages.results.figures import figure_text
from headrace.web.site import site

PAGE_SIZE = 50
EXPORTS = {
    "zip": "Archive (zip)",
    "csv": "CSV",
    "parquet": "Parquet",
    "json": "JSON",
    "html": "Report",
}
NAME_CELL = """
<q-td :props="props">
  <a :href="'/results/' + props.row.id">{{ props.row.name }}</a>
</q-td>
"""
"""Vue shows the name as text."""
HEADER_SELECTION = """
<q-checkbox v-model="props.selected" dense aria-label="Select all" />
"""
BODY_SELECTION = """
<q-checkbox v-model="props.selected" dense
  :aria-label="'Select ' + props.row.name + ', ' + props.row.started" />
"""
COLUMNS = (
    ("name", "Name", "left"),
    ("started", "Started", "left"),
    ("kind", "Kind", "left"),
    ("changed", "Changed", "left"),
    ("throughput", "MB/s", "right"),
    ("rate", "operations/s", "right"),
    ("p99", "p99 ms", "right"),
    ("host", "Host", "left"),
    ("labels", "Labels", "left"),
)


async def build(
    user: User,
    search: str = "",
    kind: str = "",
    name: str = "",
    label: str = "",
    since: str = "",
    page: int = 1,
    sort: str = "",
) -> None:
    """Draw the list; its filters, page and order (`headrace.store.queries.Filter.sort`) are in the
    address."""
    follow_history()
    with ui.row().classes("w-full items-end"):
        text = ui.input("Search", value=search).props("clearable").classes("grow")
        kinds = ui.select(
            {"": "all", **{key: key for key in STORED}},
            label="Kind",
            value=kind if kind in STORED else "",
        )
        kinds.classes("min-w-32")
        names = await asyncio.to_thread(lambda: list(site().store().names()))
        named = ui.select(
            {"": "all", **{value: value for value in names}},
            label="Name",
            value=name if name in names else "",
        ).classes("min-w-40")
        labelled = ui.input("Label", value=label, placeholder="disks=new").classes("min-w-32")
        after = ui.input("Since", value=since, placeholder="7 d or 2026-11-01").classes("min-w-32")
    message = ui.label().props('role="alert"').classes("text-negative")
    count = ui.label().props('aria-live="polite"')
    table = _table(sort)
    fields = {"search": text, "kind": kinds, "name": named, "label": labelled, "since": after}
    place, order = {"page": max(1, page)}, {"sort": sort}

    async def show() -> None:
        message.text = ""
        try:
            values = {key: field.value for key, field in fields.items()}
            listed = await asyncio.to_thread(_listed, values, place["page"], order["sort"])
        except (StoreError, StoreFailure, ValueError) as error:
            message.text = str(error)
            return
        pages = max(1, -(-listed.total // PAGE_SIZE))
        if place["page"] > pages:
            place["page"] = pages
            await show()
            return
        table.rows = [_row(entry) for entry in listed.entries]
        table.update()
        count.text = f"{listed.total:,} results, page {place['page']} of {pages}"
        if listed.damaged:
            message.text = "Damaged and omitted: " + "; ".join(listed.damaged)
        earlier.set_enabled(place["page"] > 1)
        later.set_enabled(place["page"] < pages)

    async def turn(by: int) -> None:
        place["page"] = max(1, place["page"] + by)
        remember()
        await show()

    async def filtered() -> None:
        place["page"] = 1
        remember()
        await show()

    async def sorted_by(event: ValueChangeEventArguments[Any]) -> None:
        column = event.value.get("sortBy") or ""
        sort = f"-{column}" if column and event.value.get("descending") else column
        # The table also reports other changes than those of the order.
        if sort != order["sort"]:
            order["sort"] = sort
            await filtered()

    def remember() -> None:
        values = {key: field.value for key, field in fields.items()}
        number = place["page"] if place["page"] > 1 else ""
        push_address("/results", {**values, "page": number, "sort": order["sort"]})

    with ui.row().classes("items-center q-mt-md"):
        earlier = ui.button("Previous", on_click=lambda: turn(-1)).props("outline")
        later = ui.button("Next", on_click=lambda: turn(1)).props("outline")
        _actions(table, named)
    for element in (text, labelled, after):
        on_typed(element, "change", filtered)
        element.on("clear", filtered)
    for select in (kinds, named):
        select.on_value_change(filtered)
    table.on_pagination_change(sorted_by)
    await show()


def _table(sort: str) -> ui.table:
    table = ui.table(
        rows=[],
        columns=[
            {
                "name": key,
                "label": title,
                "field": key,
                "align": align,
                "sortable": key in SORT_KEYS,
                "classes": {
                    "changed": "whitespace-normal [&:not(:empty)]:min-w-48",
                    "labels": "whitespace-normal",
                }.get(key, ""),
            }
            for key, title, align in COLUMNS
        ],
        pagination={
            "rowsPerPage": 0,
            "sortBy": sort.removeprefix("-") or None,
            "descending": sort.startswith("-"),
        },
        row_key="id",
        selection="multiple",
    )
    table.props('flat bordered dense hide-pagination aria-label="Results"').classes("w-full")
    # The store has sorted the rows.
    table.props[":sort-method"] = "(rows) => rows"
    table.add_slot("body-cell-name", NAME_CELL)
    table.add_slot("header-selection", HEADER_SELECTION)
    table.add_slot("body-selection", BODY_SELECTION)
    return table


def _listed(values: Mapping[str, str | None], page: int, sort: str) -> Listed:
    """Return a page of the results that match the filters. Raises ValueError for a wrong label."""
    label, search = values.get("label") or "", values.get("search")
    key, equals, value = label.partition("=")
    if label and not (key and equals):
        raise ValueError(f"label {label}: expected KEY=VALUE, such as disks=new")
    chosen = make_filter(
        values.get("kind") or None,
        values.get("name") or None,
        {key: value} if key else None,
        values.get("since") or None,
        PAGE_SIZE,
        skip=(page - 1) * PAGE_SIZE,
        search=search or None,
        sort=sort,
    )
    return site().store().listed(chosen)


def _actions(table: ui.table, named: ui.select) -> None:
    compare = ui.button("Compare", icon="compare_arrows", on_click=lambda: _compare(table))
    with ui.dropdown_button("Export", icon="download") as export:
        for format_, title in EXPORTS.items():
            ui.item(title, on_click=lambda format_=format_: _export(table, format_))
    ui.button("History", icon="timeline", on_click=lambda: _history(named.value)).props("outline")

    # A binding to the selection would be looked at ten times a second.
    def follow() -> None:
        compare.set_enabled(len(table.selected) > 1)
        export.set_enabled(bool(table.selected))

    table.on_select(follow)
    follow()


def _row(entry: ResultEntry) -> dict[str, str]:
    return {
        "id": entry.id,
        "name": entry.name,
        "started": local_time(entry.started),
        "kind": entry.kind,
        "changed": changed(entry),
        "throughput": figure_text(entry.figures, "throughput_bytes_per_s"),
        "rate": figure_text(entry.figures, "operations_per_s"),
        "p99": figure_text(entry.figures, "latency_p99_s"),
        "host": entry.environment.get("host", ""),
        "labels": ", ".join(f"{key}={value}" for key, value in entry.labels.items()),
    }


def _selected(table: ui.table) -> str:
    return ",".join(row["id"] for row in table.selected)


def _compare(table: ui.table) -> None:
    ui.navigate.to(f"/results/compare?ids={_selected(table)}")


def _export(table: ui.table, format_: str) -> None:
    ui.download.from_url(f"/api/results/export?ids={_selected(table)}&format={format_}")


def _history(name: str) -> None:
    ui.navigate.to("/results/history?" + urlencode({"name": name or ""}))
