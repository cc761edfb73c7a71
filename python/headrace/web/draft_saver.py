"""Drafts of the text that is typed on a page; the address has their name."""

import asyncio
import json
import zlib
from contextlib import suppress

from nicegui import run, ui

from headrace.web.access.users import User
from headrace.web.design.drafts import DraftError, DraftKind, Drafts
from headrace.web.page import Address
from headrace.web.site import site
from headrace.web.toml_editor import TomlEditor

# A page that lost its connection is reloaded: the browser keeps the text until it is saved.
BROWSER = """
(() => {
  const key = () => {
    const query = new URLSearchParams(location.search);
    for (const name of ["run", "study"]) query.delete(name);
    return `headrace text ${location.pathname}?${query}`;
  };
  const checksum = (text) => {
    let crc = ~0;
    for (const byte of new TextEncoder().encode(text)) {
      crc ^= byte;
      for (let bit = 0; bit < 8; bit++) crc = (crc >>> 1) ^ (0xedb88320 & -(crc & 1));
    }
    return ~crc >>> 0;
  };
  const text = () => getElement(ELEMENT).editor.state.doc.toString();
  window.headraceText = {
    before: CHECKSUM,
    typed() {
      // Storage may be full or disabled: then the text is on the server only.
      try { sessionStorage.setItem(key(), JSON.stringify([text(), this.before])); } catch {}
    },
    saved(before, address) {
      const pending = sessionStorage.getItem(key());
      sessionStorage.removeItem(key());
      history.replaceState(history.state, "", address);
      this.before = before;
      if (pending && checksum(text()) !== before) this.typed();
    },
  };
  return JSON.parse(sessionStorage.getItem(key()));
})()
"""


class DraftSaver:
    """Saves the text of an editor, and tells where.

    Parameters:
        address: Address of the page, with the name of the draft if there is one.
        title: Name of a new draft.
        source: Text that the changes can be discarded to; None is that of the draft as opened.
    """

    def __init__(
        self,
        user: User,
        kind: DraftKind,
        address: Address,
        editor: TomlEditor,
        title: str,
        source: str | None,
    ) -> None:
        self._owner, self._address, self._editor = user.name, address, editor
        self._drafts = Drafts(site().settings, kind)
        self._name, self._title = address.value("draft"), title
        self._saved = editor.text
        self._has_source = source is not None
        self._opened = self._saved if source is None else source
        self._lock = asyncio.Lock()
        with ui.row().classes("items-center"):
            self._state = ui.label("").props('data-testid="draft"')
            self._discard = ui.button("Discard changes", icon="undo", on_click=self._restore_opened)
            self._discard.props("flat dense")
        self._show("")
        editor.element.on("update:value", js_handler="() => window.headraceText?.typed()")
        ui.timer(0.0, self._restore_typed, once=True)

    async def follow(self, pause: float) -> bool:
        """Save the text after a pause, the first change at once; return whether none came since."""
        text = self._editor.text
        if not self._name:
            await self.save()
        await asyncio.sleep(pause)
        if text != self._editor.text:
            return False
        await self.save()
        return True

    async def save(self) -> None:
        """Save the text if it has changed."""
        async with self._lock:
            text, before = self._editor.text, self._name
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
            self._confirm(name, text)
            self._show(f"{before} has been changed elsewhere: this is {name}." if other else "")

    def _write(self, text: str) -> str:
        name = self._name or self._title
        if self._name:
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

    def _confirm(self, name: str, text: str) -> None:
        self._name, self._saved = name, text
        address = json.dumps(self._address.with_values(draft=name))
        ui.run_javascript(f"headraceText.saved({_checksum(text)}, {address})")

    def _show(self, problem: str) -> None:
        saved = f"Saved as {self._name}." if self._name else ""
        self._state.text = problem or saved
        self._state.classes(
            "text-negative" if problem else "", remove="" if problem else "text-negative"
        )
        self._discard.set_visibility(self._editor.text != self._opened)

    async def _restore_typed(self) -> None:
        script = BROWSER.replace("ELEMENT", str(self._editor.element.id))
        script = script.replace("CHECKSUM", str(_checksum(self._saved)))
        with suppress(TimeoutError):
            pending = await ui.run_javascript(script, timeout=10.0)
            if not pending or pending[0] == self._saved:
                return
            if pending[1] != _checksum(self._saved):
                # The draft has been changed since: both texts stay.
                self._title, self._name = self._name or self._title, ""
            self._editor.text = pending[0]

    async def _restore_opened(self) -> None:
        async with self._lock:
            discarded, self._editor.text = self._editor.text, self._opened
            if self._has_source and self._name:
                await run.io_bound(self._remove, discarded)
                self._confirm("", self._opened)
        await self.save()
        self._show("")

    def _remove(self, discarded: str) -> None:
        with suppress(DraftError):
            if self._drafts.text(self._owner, self._name) in (self._saved, discarded):
                self._drafts.remove(self._owner, self._name)


def _checksum(text: str) -> int:
    return zlib.crc32(text.encode(errors="replace"))
