"""The user's worksheets: start, resume, rename, copy, download, delete."""

from collections.abc import Callable
from functools import partial
from urllib.parse import quote

from nicegui import run, ui

from headrace.design import forms
from headrace.web.access.users import User
from headrace.web.design.drafts import (
    LARGEST_TEXT,
    Draft,
    DraftError,
    Drafts,
    draft_name,
)
from headrace.web.design.sheet import EMPTY
from headrace.web.figure_dialog import STYLE
from headrace.web.file_button import file_button
from headrace.web.layout import heading
from headrace.web.site import site

EXAMPLES = {
    "lab": "a research lab of 20 TB",
    "video": "a video workshop",
    "hpc": "an HPC centre of 1 PB",
}


async def build(user: User) -> None:
    """Draw the list of worksheets and the ways to start one."""
    page = DraftList(user, Drafts(site().settings))
    await page.refresh()


class DraftList:
    """The worksheets of a user."""

    def __init__(self, user: User, drafts: Drafts) -> None:
        self._user, self._drafts = user, drafts
        ui.add_css(STYLE)
        ui.label(
            "Describe what a storage system must do. Headrace recommends how to build it, and"
            " searches the cheapest design that does it."
        )
        ui.link("Calculators of capacity, reliability, power and cost", "/design/calculators")
        heading("Start a worksheet")
        with ui.row().classes("items-center"):
            ui.button("Empty worksheet", icon="note_add", on_click=self._start_empty).props(
                "no-caps"
            )
            for name in forms.examples():
                button = ui.button(f"Example {name}", on_click=partial(self._start, name))
                button.props("no-caps outline").tooltip(EXAMPLES.get(name, ""))
            file_button("Upload TOML", self._uploaded, largest=LARGEST_TEXT)
        heading("Your worksheets")
        self._place = ui.element("div").classes("w-full")

    async def refresh(self) -> None:
        """Show the list as it is now."""
        drafts = await run.io_bound(self._drafts.drafts, self._user.name) or []
        self._place.clear()
        with self._place:
            if not drafts:
                ui.label("There is none yet.")
                return
            with ui.element("ul").classes("q-pl-none q-my-none"):
                for draft in drafts:
                    self._row(draft)

    def _row(self, draft: Draft) -> None:
        with ui.element("li").classes("row items-center q-gutter-x-sm").style("list-style: none"):
            ui.link(draft.name, address(draft.name)).classes("text-body1")
            ui.label(f"changed {draft.changed[:16].replace('T', ' ')} UTC").classes("text-caption")
            for icon, word, call in (
                ("edit", "Rename", self._rename),
                ("content_copy", "Copy", self._copy),
                ("download", "Download", self._download),
                ("delete", "Delete", self._remove),
            ):
                button = ui.button(icon=icon, on_click=partial(call, draft.name))
                button.props("flat round dense")
                button.props["aria-label"] = f"{word} {draft.name}"

    def _start_empty(self) -> None:
        self._create("worksheet", EMPTY)

    def _start(self, example: str) -> None:
        self._create(example, forms.example(example))

    def _create(self, name: str, text: str) -> None:
        try:
            created = self._drafts.create(self._user.name, name, text)
        except DraftError as error:
            ui.notify(str(error), type="negative")
            return
        ui.navigate.to(address(created))

    def _uploaded(self, name: str, text: str) -> None:
        self._create(draft_name(name), text)

    async def _rename(self, name: str) -> None:
        with ui.dialog() as dialog, ui.card():
            entry = ui.input("New name", value=name).props("outlined autofocus")
            with ui.row():
                ui.button("Rename", on_click=lambda: dialog.submit(entry.value)).props("no-caps")
                ui.button("Cancel", on_click=dialog.close).props("no-caps flat")
        new = await dialog
        if new and new != name:
            await self._change(lambda: self._drafts.rename(self._user.name, name, new.strip()))

    async def _copy(self, name: str) -> None:
        def copy() -> None:
            text = self._drafts.text(self._user.name, name)
            self._drafts.create(self._user.name, f"{name[:70]} copy", text)

        await self._change(copy)

    async def _remove(self, name: str) -> None:
        with ui.dialog() as dialog, ui.card():
            ui.label(f"Delete the worksheet {name}?")
            with ui.row():
                ui.button("Delete it", on_click=lambda: dialog.submit(True)).props("no-caps")
                ui.button("Keep it", on_click=dialog.close).props("no-caps flat")
        if await dialog:
            await self._change(lambda: self._drafts.remove(self._user.name, name))

    def _download(self, name: str) -> None:
        try:
            text = self._drafts.text(self._user.name, name)
        except DraftError as error:
            ui.notify(str(error), type="negative")
            return
        ui.download.content(text, f"{name}.toml", "application/toml")

    async def _change(self, change: Callable[[], None]) -> None:
        try:
            change()
        except DraftError as error:
            ui.notify(str(error), type="negative")
        await self.refresh()


def address(name: str) -> str:
    """Return the address of a worksheet's page."""
    return f"/design/drafts/{quote(name)}"
