"""One result: how it was made, its figures, its labels and note."""

import asyncio
from collections.abc import Mapping

import polars as pl
from nicegui import ui

from headrace.environment import described, local_time
from headrace.kinds import KINDS, SIMULATED
from headrace.render.html import as_html
from headrace.simulate.stored_results import stored_tables
from headrace.store import StoreError, StoreFailure
from headrace.store.listing import ShownResult
from headrace.store.record import SERVER_LABELS
from headrace.views.stored_results import changed_since, one_result
from headrace.web.access.permissions import NotAllowed
from headrace.web.access.users import User
from headrace.web.layout import heading, when_opened
from headrace.web.page import NotThere, on_typed
from headrace.web.result_views import show_result
from headrace.web.results import change_labels, may_change, remove
from headrace.web.site import site
from headrace.web.typed import forget, keep


async def build(user: User, identifier: str) -> None:
    """Draw a result."""
    try:
        entry = await asyncio.to_thread(lambda: site().store().shown(identifier))
    except StoreError as error:
        raise NotThere(str(error)) from None
    except StoreFailure as error:
        ui.label(str(error)).props('role="alert"')
        return
    heading(entry.name)
    origin = f"{entry.kind}, started {local_time(entry.started)}, version {entry.version}"
    seed = "" if entry.seed is None else f", seed {entry.seed}"
    ui.label(f"{entry.id}: {origin}{seed}")
    for line in (*changed_since(entry), *described(entry.environment)):
        ui.label(line)
    with ui.row().classes("q-mt-sm"):
        if entry.kind == "simulated":
            _link("Change and run again", f"/simulate?result={entry.id}", "tune")
        _link("History of this scenario", f"/results/history?result={entry.id}", "timeline")
        with ui.dropdown_button("Export", icon="download"):
            for format_ in ("zip", "csv", "parquet", "json", "html"):
                address = f"/api/results/export?ids={entry.id}&format={format_}"
                ui.item(format_, on_click=lambda address=address: ui.download.from_url(address))
        if may_change(user, entry):
            ui.button("Remove", icon="delete", on_click=lambda: _remove(user, entry)).props(
                "outline"
            )
    _labels(user, entry)
    with ui.tabs().props("align=left outside-arrows mobile-arrows") as tabs:
        ui.tab("Charts")
        ui.tab("Tables")
        ui.tab("Scenario")
    with ui.tab_panels(tabs, value="Charts").classes("w-full"):
        with ui.tab_panel("Charts"):
            ui.timer(0.0, lambda: _charts(entry), once=True)
        with ui.tab_panel("Tables"):
            when_opened(tabs, lambda: _tables(entry), "Tables")
        with ui.tab_panel("Scenario"):
            when_opened(tabs, lambda: _scenario(entry), "Scenario")


def _tables(entry: ShownResult) -> None:
    # `as_html` escapes all texts of the document.
    ui.html(as_html(one_result(entry)), sanitize=False).classes("hr-tables")


def _scenario(entry: ShownResult) -> None:
    text = entry.document.get("scenario", {})
    toml = text.get("toml") if isinstance(text, dict) else None
    ui.code(toml or "This result has no scenario.", language="toml")


def _link(text: str, target: str, icon: str) -> None:
    ui.button(text, icon=icon, on_click=lambda: ui.navigate.to(target)).props("outline")


async def _charts(entry: ShownResult) -> None:
    try:
        tables, frames = await asyncio.to_thread(_load, entry)
    except (StoreError, StoreFailure) as error:
        ui.label(str(error)).props('role="alert"')
        return
    show_result({**entry.document, **tables}, frames)


def _load(entry: ShownResult) -> tuple[Mapping[str, object], Mapping[str, pl.DataFrame]]:
    """Return the tables of a simulated result, and those that its view takes.

    Raises StoreError or StoreFailure if they cannot be read.
    """
    store = site().store()
    simulated = stored_tables(store, entry.id) if entry.kind == SIMULATED else {}
    names = [name for name in KINDS[entry.kind].frames if name in entry.tables]
    return simulated, {name: store.table(entry.id, name) for name in names}


def _labels(user: User, entry: ShownResult) -> None:
    """Draw labels and note, which the owner of the result and operators can change."""
    message = ui.label().props('role="alert"').classes("text-negative")
    labels = dict(entry.labels)
    changeable = may_change(user, entry)

    async def change(changes: dict[str, str | None]) -> bool:
        try:
            await asyncio.to_thread(lambda: change_labels(user, entry.id, changes))
        except (StoreError, StoreFailure, NotAllowed) as error:
            message.text = str(error)
            return False
        message.text = ""
        for key, value in changes.items():
            labels.pop(key, None)
            if value is not None:
                labels[key] = value
        show_chips()
        return True

    chips = ui.element("div")

    def show_chips() -> None:
        chips.clear()
        with chips, ui.row().classes("items-center"):
            for key, value in labels.items():
                if key == "note":
                    continue
                with ui.chip(f"{key}={value}", icon="label").props("outline"):
                    if key in SERVER_LABELS or not changeable:
                        continue
                    removal = ui.button(
                        icon="close", on_click=lambda key=key: change({key: None})
                    ).props("flat dense round size=sm")
                    removal.props(f'aria-label="Remove the label {_plain(key)}"')
            if not changeable:
                return
            new = keep(ui.input("New label", placeholder="disks=new"), "label").props("dense")

            async def add() -> None:
                key, equals, value = (new.value or "").partition("=")
                if not key or not equals:
                    message.text = "A label is KEY=VALUE, such as disks=new."
                    return
                await change({key.strip(): value.strip()})

            on_typed(new, "keydown.enter", add)
            ui.button("Add", on_click=add).props("outline dense")

    show_chips()
    note = ui.textarea("Note", value=labels.get("note", "")).classes("w-full").props("autogrow")
    keep(note, "note")

    async def keep_note() -> None:
        await change({"note": note.value or None})
        forget("note")

    if changeable:
        on_typed(note, "change", keep_note)
    else:
        note.props("readonly")


async def _remove(user: User, entry: ShownResult) -> None:
    with ui.dialog() as dialog, ui.card():
        ui.label(f"Remove {entry.name} ({entry.id}) with its tables?")
        with ui.row():
            ui.button("Remove", on_click=lambda: dialog.submit(True))
            ui.button("Cancel", on_click=lambda: dialog.submit(False)).props("outline")
    if await dialog:
        try:
            await asyncio.to_thread(remove, user, entry.id)
        except (StoreFailure, NotAllowed) as error:
            ui.notify(str(error), type="negative")
            return
        except KeyError:
            # Removed elsewhere meanwhile.
            pass
        ui.navigate.to("/results")


def _plain(text: str) -> str:
    return text.replace('"', "'").replace("\n", " ")
