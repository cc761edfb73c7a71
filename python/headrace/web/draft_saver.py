"""Drafts of the text that is typed on a page; the address has their name."""

import asyncio
import json
import zlib
from collections.abc import Callable
from contextlib import suppress

from nicegui import run, ui

from headrace.web.access.users import User
from headrace.web.design.drafts import DraftError, DraftKind, Drafts
from headrace.web.site import site
from headrace.web.toml_editor import TomlEditor
from headrace.web.typed import typed_entries


class DraftSaver:
    """Saves the text of an editor, and tells where.

    Parameters:
        address: Returns the address of the page with a draft; of a page without one for "".
        editor: The text. Fields whose values become part of it are registered `of_draft`.
        name: The draft; empty if there is none yet.
        title: Name of a new draft.
        source: Text that the changes can be discarded to; None is that of the draft as opened.
    """

    def __init__(
        self,
        user: User,
        kind: DraftKind,
        address: Callable[[str], str],
        editor: TomlEditor,
        name: str,
        title: str,
        source: str | None,
    ) -> None:
        self._owner, self._address, self._editor = user.name, address, editor
        self._drafts = Drafts(site().settings, kind)
        self.name, self._title = name, title
        self._saved = editor.text
        self._own = {_checksum(self._saved)}
        self._has_source = source is not None
        self._opened = self._saved if source is None else source
        self._lock = asyncio.Lock()
        with ui.row().classes("items-center"):
            self._state = ui.label("").props('data-testid="draft"')
            self._discard = ui.button("Discard changes", icon="undo", on_click=self._restore_opened)
            self._discard.props("flat dense")
        self._show("")
        self._typed = typed_entries()
        self._typed.on_draft = self._follow_draft
        script = f"headraceTyped.keepText(NAME, {editor.element.id})"
        self._typed.keep(editor.element, "text", script=script, enter=self._restore_typed)
        ui.run_javascript(f"headraceTyped.drafts = [{_checksum(self._saved)}]")

    async def follow(self, pause: float) -> bool:
        """Save the text after a pause, the first change at once; return whether none came since."""
        text = self._editor.text
        if not self.name:
            await self.save()
        await asyncio.sleep(pause)
        if text != self._editor.text:
            return False
        await self.save()
        return True

    async def save(self) -> None:
        """Save the text if it has changed."""
        async with self._lock:
            text, before, number = self._editor.text, self.name, self._typed.number
            if text == self._saved:
                return
            try:
                name = await run.io_bound(self._write, text)
            except DraftError as error:
                self._show(f"Not saved: {error}.")
                return
            if not name:
                return
            other = bool(before) and name != before
            self._confirm(name, text, number)
            self._show(f"{before} has been changed elsewhere: this is {name}." if other else "")

    def _write(self, text: str) -> str:
        name = self.name or self._title
        if self.name:
            try:
                self._drafts.save(self._owner, name, text, self._saved)
                return name
            except DraftError as error:
                if error.status not in (404, 409):
                    raise
        with suppress(DraftError):
            # The page before a reload may have saved the same text.
            if self._drafts.text(self._owner, name) == text:
                return name
        return self._drafts.create(self._owner, name, text)

    def _confirm(self, name: str, text: str, number: int) -> None:
        self.name, self._saved = name, text
        self._own.add(_checksum(text))
        address = json.dumps(self._address(name))
        ui.run_javascript(f"headraceTyped.saved({number}, {_checksum(text)}, {address})")

    def _show(self, problem: str) -> None:
        saved = f"Saved as {self.name}." if self.name else ""
        self._state.text = problem or saved
        self._state.classes(
            "text-negative" if problem else "", remove="" if problem else "text-negative"
        )
        self._discard.set_visibility(self._editor.text != self._opened)

    def _follow_draft(self, checksums: list[int]) -> None:
        if self.name and self._own.isdisjoint(checksums):
            # The draft has been changed elsewhere since: both texts stay.
            self._title, self.name = self.name, ""

    def _restore_typed(self, text: str) -> None:
        self._editor.text = text

    async def _restore_opened(self) -> None:
        async with self._lock:
            discarded, self._editor.text = self._editor.text, self._opened
            if self._has_source and self.name:
                await run.io_bound(self._remove, discarded)
                self._confirm("", self._opened, self._typed.number)
        await self.save()
        self._show("")

    def _remove(self, discarded: str) -> None:
        with suppress(DraftError):
            if self._drafts.text(self._owner, self.name) in (self._saved, discarded):
                self._drafts.remove(self._owner, self.name)


def _checksum(text: str) -> int:
    return zlib.crc32(text.encode(errors="replace"))
