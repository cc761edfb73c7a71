"""A user's drafts on a page: open, rename, copy, download, delete."""

from collections.abc import Callable
from functools import partial

from nicegui import run, ui

from headrace.web.access.users import User
from headrace.web.design.drafts import Draft, DraftError, DraftKind, Drafts
from headrace.web.site import site


class DraftList:
    """The drafts of a kind.

    Parameters:
        address: Returns the address of the page of a draft.
    """

    def __init__(self, user: User, kind: DraftKind, address: Callable[[str], str]) -> None:
        self._user, self._kind, self._address = user, kind, address
        self._drafts = Drafts(site().settings, kind)
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
            ui.link(draft.name, self._address(draft.name)).classes("text-body1")
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

    async def _rename(self, name: str) -> None:
        with ui.dialog() as dialog, ui.card():
            entry = ui.input("New name", value=name).props("outlined autofocus")
            with ui.row():
                ui.button("Rename", on_click=lambda: dialog.submit(entry.value))
                ui.button("Cancel", on_click=dialog.close).props("flat")
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
            ui.label(f"Delete {name} from the {self._kind}?")
            with ui.row():
                ui.button("Delete it", on_click=lambda: dialog.submit(True))
                ui.button("Keep it", on_click=dialog.close).props("flat")
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
