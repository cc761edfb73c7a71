"""The editor of a scenario: its form beside its text, both live."""

from collections.abc import Awaitable, Callable

from nicegui import ui

from headrace.web.access.users import User
from headrace.web.draft_saver import DraftSaver
from headrace.web.page import Address
from headrace.web.pages.simulate.form import ScenarioForm
from headrace.web.scenario_draft import ScenarioDraft
from headrace.web.site import site
from headrace.web.toml_editor import TomlEditor

PAUSE_S = 0.3
"""Seconds without a key before the text is saved and checked."""
STYLE = """
.hr-editor { display: grid; gap: 16px; width: 100%;
  grid-template-columns: minmax(0, 1fr) minmax(0, 1fr); }
.hr-form { max-height: 60vh; overflow-y: auto; }
@media (max-width: 900px) {
  .hr-editor { grid-template-columns: minmax(0, 1fr); }
  .hr-form { max-height: none; }
}
"""


class Editor:
    """Form and text of a draft."""

    def __init__(self, user: User, draft: ScenarioDraft) -> None:
        self._user, self._draft = user, draft
        self._page = ui.context.client.id
        self._after: list[Callable[[], Awaitable[None]]] = []
        ui.add_css(STYLE)
        self.head = ui.row().classes("items-center w-full")
        """Row of the title, for what is done with the scenario."""
        with self.head:
            self._title = ui.label("").classes("text-xl").props("role=heading aria-level=2")
        self._state = ui.label("").props('role="status" data-testid="state"')
        self._wrong = ui.label("").props('role="alert" data-testid="error"')
        self._wrong.classes("text-negative whitespace-pre-line").set_visibility(False)
        self.bar = ui.element("div").classes("w-full")
        """Place for the run, above form and text."""
        with ui.element("div").classes("hr-editor"):
            with ui.element("section").props('aria-label="Form"').classes("hr-form"):
                self._form = ScenarioForm(draft, self._entered)
            self._editor = TomlEditor(draft.text, "Scenario (TOML)", "scenario.toml", self._typed)
        with ui.expansion("Complete scenario, with defaults and their origins").classes(
            "w-full"
        ) as self._complete:
            self._explained = ui.code("", language="toml").classes("w-full")
        self._complete.on_value_change(self._explain)

    def save_as(self, address: Address, title: str, source: str | None) -> None:
        """Save what is typed as a draft, and show its name."""
        self._saver = DraftSaver(
            self._user,
            "scenarios",
            lambda name: address.with_values(draft=name),
            self._editor,
            address.value("draft"),
            title,
            source,
        )

    def on_checked(self, call: Callable[[], Awaitable[None]]) -> None:
        """Call a function after each check."""
        self._after.append(call)

    def show_text(self) -> None:
        """Show the draft's text, which something else changed."""
        self._editor.text = self._draft.text

    async def check(self) -> None:
        """Check the text and show what is wrong."""
        if not await self._draft.check(site().quick, self._page):
            return
        self._show()
        for call in self._after:
            await call()

    async def _typed(self) -> None:
        self._draft.text = self._editor.text
        self._form.follow()
        if await self._saver.follow(PAUSE_S):
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
            if checked is not None and checked.warnings:
                self._state.text += "".join(f" Note: {warning}." for warning in checked.warnings)
        else:
            self._state.text = ""
        self._wrong.text = self._editor.show_error(error)
        self._form.follow()
        self._form.show_error()
        self._explain()

    def _explain(self) -> None:
        if self._complete.value and self._draft.checked is not None:
            self._explained.set_content(self._draft.checked.explained)
