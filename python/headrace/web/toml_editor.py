"""A text in TOML: its editor, with the line that is wrong, and its file."""

import json
from collections.abc import Callable
from typing import Any

from nicegui import app, ui
from nicegui.events import GenericEventArguments

from headrace.web.file_button import file_button
from headrace.web.quick_run import LARGEST_TEXT
from headrace.web.quick_worker import QuickError

STYLE = """
.hr-toml .nicegui-codemirror { height: 60vh; min-height: 300px; max-height: none; width: 100%;
  border: 1px solid rgba(128, 128, 128, 0.5); }
.hr-wrong-line { background: rgba(220, 40, 40, 0.25); outline: 1px solid rgb(200, 30, 30); }
@media (max-width: 900px) {
  .hr-toml .nicegui-codemirror { height: 40vh; }
}
"""
LABEL = """
(() => {{
  const find = (left) => {{
    const it = document.querySelector('#c{id} .cm-content');
    if (it) {{
      it.setAttribute('aria-label', '{label}');
      it.parentElement.setAttribute('tabindex', '0');
    }} else if (left) setTimeout(() => find(left - 1), 100);
  }};
  find(50);
}})()
"""


class _Text(ui.codemirror):
    """Text that the browser sends whole after each change.

    NiceGUI's own sends the change, and takes each update of the element for a text to show. Text
    that is typed while an update is on its way would be lost: the script `toml_editor.js` merges.
    """

    def __init__(self, text: str, on_change: Callable[[], Any]) -> None:
        self._number, self._sets, self._known = 0, 0, text
        self._pieces: dict[int, dict[int, str]] = {}
        super().__init__(
            text, language="TOML", theme="vscodeLight", line_wrapping=True, on_change=on_change
        )
        typed = f"() => headraceText.typed({self.id}, emit)"
        self.on("update:value", self._take, js_handler=typed)

    def _take(self, event: GenericEventArguments) -> None:
        number, sets, count, at, piece = event.args
        pieces = self._pieces.setdefault(number, {})
        pieces[at] = piece
        # The browser sends the text again once it has what was set here.
        if len(pieces) < count or number < self._number or sets < self._sets:
            return
        text = "".join(pieces[at] for at in range(count))
        self._pieces = {later: some for later, some in self._pieces.items() if later > number}
        self._number, self._known = number, text
        self.value = text

    def _event_args_to_value(self, e: GenericEventArguments) -> str:
        return self.value or ""

    def update(self) -> None:
        """Show the text in the browser, and update nothing else."""
        text = self.value or ""
        if text != self._known:
            known, self._known = self._known, text
            self._sets += 1
            self._run(f"set({self.id}, {json.dumps(known)}, {json.dumps(text)})")

    def call(self, method: str, argument: object) -> None:
        """Call a method of the editor in the browser."""
        self._run(f"call({self.id}, {json.dumps(method)}, {json.dumps(argument)})")

    def _run(self, call: str) -> None:
        self.client.run_javascript(f"headraceText.{call}")


class TomlEditor:
    """The text, with buttons that open and download it.

    Parameters:
        label: What screen readers call it.
        file: Name of the file that is downloaded.
        on_change: Called after each change of the text.
    """

    def __init__(self, text: str, label: str, file: str, on_change: Callable[[], Any]) -> None:
        self._file = file
        ui.add_css(STYLE)
        with ui.element("section").props('aria-label="Text"').classes("hr-toml"):
            self._text = _Text(_with_unix_lines(text), on_change)
            with ui.row().classes("items-center q-mt-sm"):
                file_button("Open a file", self._opened, largest=LARGEST_TEXT, props="flat")
                ui.button("Download", icon="download", on_click=self._download).props("flat")
        ui.run_javascript(LABEL.format(id=self._text.id, label=label))
        self._follow_theme()

    @property
    def element(self) -> ui.codemirror:
        """The element that holds the text."""
        return self._text

    @property
    def text(self) -> str:
        """The text, without the byte order mark that editors of Windows put before it."""
        return (self._text.value or "").removeprefix("\ufeff")

    @text.setter
    def text(self, text: str) -> None:
        self._text.value = _with_unix_lines(text)

    def mark(self, line: int | None) -> None:
        """Mark the line that is wrong, and no other."""
        wrong = [{"kind": "line", "line": line, "class": "hr-wrong-line"}]
        self._text.call("setDecorations", [] if line is None else wrong)

    def show_error(self, error: QuickError | None) -> str:
        """Mark the line that is wrong, and return the message with its place."""
        self.mark(None if error is None else error.line)
        if error is None or error.line is None:
            return "" if error is None else error.message
        column = f", column {error.column}" if error.column else ""
        return f"Line {error.line}{column}: {error.message}"

    def _opened(self, _: str, text: str) -> None:
        self.text = text

    def _download(self) -> None:
        ui.download.content(self.text, self._file, "application/toml")

    def _follow_theme(self) -> None:
        dark_browser = shown = False

        def theme() -> None:
            nonlocal shown
            dark = app.storage.user.get("dark")
            is_dark = dark_browser if dark is None else dark
            if is_dark != shown:
                shown = is_dark
                self._text.call("setTheme", "githubDark" if is_dark else "vscodeLight")

        async def ask() -> None:
            nonlocal dark_browser
            dark_browser = bool(await ui.run_javascript("Quasar.Dark.isActive", timeout=10.0))
            theme()

        ui.timer(0.0, ask, once=True)
        ui.timer(2.0, theme)


def _with_unix_lines(text: str) -> str:
    # The editor counts each end of a line as one character: changes would be at wrong places.
    return text.replace("\r\n", "\n").replace("\r", "\n")
