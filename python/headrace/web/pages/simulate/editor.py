"""The editor of a scenario: its form beside its text, both live."""

import asyncio
from collections.abc import Awaitable, Callable

from nicegui import app, ui

from headrace.web.file_button import file_button
from headrace.web.pages.simulate.form import ScenarioForm
from headrace.web.quick_run import LARGEST_TEXT
from headrace.web.scenario_draft import ScenarioDraft
from headrace.web.site import site

PAUSE_S = 0.3
"""Seconds without a key before the text is checked."""
STYLE = """
.hr-editor { display: grid; gap: 16px; width: 100%;
  grid-template-columns: minmax(0, 1fr) minmax(0, 1fr); }
.hr-editor .nicegui-codemirror { height: 60vh; min-height: 300px; max-height: none; width: 100%;
  border: 1px solid rgba(128, 128, 128, 0.5); }
.hr-wrong-line { background: rgba(220, 40, 40, 0.25); outline: 1px solid rgb(200, 30, 30); }
.hr-form { max-height: 60vh; overflow-y: auto; }
@media (max-width: 900px) {
  .hr-editor { grid-template-columns: minmax(0, 1fr); }
  .hr-editor .nicegui-codemirror { height: 40vh; }
  .hr-form { max-height: none; }
}
"""
LABEL = """
(() => {{
  const find = (left) => {{
    const it = document.querySelector('#c{id} .cm-content');
    if (it) it.setAttribute('aria-label', 'Scenario (TOML)');
    else if (left) setTimeout(() => find(left - 1), 100);
  }};
  find(50);
}})()
"""


class Editor:
    """Form and text of a draft."""

    def __init__(self, draft: ScenarioDraft) -> None:
        self._draft = draft
        self._turn = 0
        self._page = ui.context.client.id
        self._after: list[Callable[[], Awaitable[None]]] = []
        ui.add_css(STYLE)
        self._title = ui.label("").classes("text-xl").props("role=heading aria-level=2")
        self._state = ui.label("").props('role="status" data-testid="state"')
        self._wrong = ui.label("").props('role="alert" data-testid="error"')
        self._wrong.classes("text-negative whitespace-pre-line").set_visibility(False)
        with ui.element("div").classes("hr-editor"):
            with ui.element("section").props('aria-label="Form"').classes("hr-form"):
                self._form = ScenarioForm(draft, self._entered)
            with ui.element("section").props('aria-label="Text"'):
                self._text = ui.codemirror(
                    draft.text,
                    language="TOML",
                    theme="vscodeLight",
                    line_wrapping=True,
                    on_change=self._typed,
                )
                with ui.row().classes("items-center q-mt-sm"):
                    file_button("Open a file", self._opened, largest=LARGEST_TEXT, props="flat")
                    ui.button("Download", icon="download", on_click=self._download).props("flat")
        with ui.expansion("Complete scenario, with defaults and their origins").classes(
            "w-full"
        ) as self._complete:
            self._explained = ui.code("", language="toml").classes("w-full")
        self._complete.on_value_change(self._explain)
        ui.run_javascript(LABEL.format(id=self._text.id))
        self._follow_theme()

    def on_checked(self, call: Callable[[], Awaitable[None]]) -> None:
        """Call a function after each check."""
        self._after.append(call)

    def show_text(self) -> None:
        """Show the draft's text, which something else changed."""
        self._text.value = self._draft.text

    async def check(self) -> None:
        """Check the text and show what is wrong."""
        if not await self._draft.check(site().quick, self._page):
            return
        self._show()
        for call in self._after:
            await call()

    async def _typed(self) -> None:
        # Editors of Windows put a byte order mark before a text.
        self._draft.text = (self._text.value or "").removeprefix("\ufeff")
        self._turn += 1
        turn = self._turn
        self._form.follow()
        await asyncio.sleep(PAUSE_S)
        # Another key came meanwhile.
        if turn == self._turn:
            await self.check()

    def _entered(self) -> None:
        # The change of the text leads to the check.
        self.show_text()

    def _show(self) -> None:
        error, checked = self._draft.error, self._draft.checked
        self._wrong.set_visibility(error is not None)
        if checked is not None:
            self._title.text = checked.name
        if error is None:
            self._state.text = "The scenario is correct."
            self._wrong.text = ""
            self._text.decorations = []
            if checked is not None and checked.warnings:
                self._state.text += "".join(f" Note: {it}." for it in checked.warnings)
        else:
            self._state.text = ""
            at = ""
            if error.line is not None:
                at = f"Line {error.line}" + (f", column {error.column}" if error.column else "")
                self._text.decorations = [
                    {"kind": "line", "line": error.line, "class": "hr-wrong-line"}
                ]
            else:
                self._text.decorations = []
            self._wrong.text = f"{at}: {error.message}" if at else error.message
        self._form.follow()
        self._form.show_error()
        self._explain()

    def _explain(self) -> None:
        if self._complete.value and self._draft.checked is not None:
            self._explained.set_content(self._draft.checked.explained)

    def _opened(self, _: str, text: str) -> None:
        self._text.value = text

    def _download(self) -> None:
        ui.download.content(self._draft.text, "scenario.toml", "application/toml")

    def _follow_theme(self) -> None:
        dark_browser = False

        def theme() -> None:
            dark = app.storage.user.get("dark")
            is_dark = dark_browser if dark is None else dark
            self._text.theme = "githubDark" if is_dark else "vscodeLight"

        async def ask() -> None:
            nonlocal dark_browser
            dark_browser = bool(await ui.run_javascript("Quasar.Dark.isActive", timeout=10.0))
            theme()

        ui.timer(0.0, ask, once=True)
        ui.timer(2.0, theme)
