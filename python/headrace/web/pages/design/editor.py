"""The editor of a worksheet: a page for each section, and the text, both live and saved."""

import asyncio
from collections.abc import Awaitable, Callable
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from nicegui import run, ui

from headrace._core import ScenarioError
from headrace.design.catalogue_file import DEFAULT
from headrace.toml_positions import FieldPath
from headrace.web.access.users import User
from headrace.web.design.catalogues import open_catalogue
from headrace.web.design.drafts import DraftError
from headrace.web.design.fields import SheetSection, section_of, sections
from headrace.web.design.sheet import (
    CheckedSheet,
    Sheet,
    answered,
    check_sheet,
    load_sheet,
    page_of,
)
from headrace.web.draft_saver import DraftSaver
from headrace.web.layout import heading, when_opened
from headrace.web.pages.design.drafts import address
from headrace.web.pages.design.form import SectionForm
from headrace.web.scenario_text import UnchangeableText
from headrace.web.site import site
from headrace.web.toml_editor import TomlEditor

if TYPE_CHECKING:
    from headrace.design.evaluation import Choice
    from headrace.design.recommendation.rule_table import RuleTable

PAUSE_S = 0.4
"""Seconds without a key before the text is saved and checked."""
STYLE = """
.hr-worksheet { display: grid; gap: 24px; width: 100%;
  grid-template-columns: minmax(0, 3fr) minmax(0, 2fr); }
.hr-sheet-text { position: sticky; top: 80px; align-self: start; }
@media (max-width: 1100px) {
  .hr-worksheet { grid-template-columns: minmax(0, 1fr); }
  .hr-sheet-text { position: static; }
}
.hr-sheet-text .hr-toml .nicegui-codemirror { height: calc(100vh - 220px); }
.body--dark .text-negative { --q-negative: #ff9d94; }
.body--dark .q-btn--flat, .body--dark .q-btn--outline { --q-primary: #7cc0ee; }
.hr-questions li { margin: 4px 0; }
"""


class Editor:
    """A draft in a browser. Each change is saved at once."""

    def __init__(self, user: User, name: str, text: str) -> None:
        self._user, self._name = user, name
        self.sheet = Sheet(text)
        self.checked = CheckedSheet()
        self._shown = CheckedSheet()
        self.catalogue = DEFAULT
        """Name of the catalogue that the worksheet is compared with."""
        self._lock = asyncio.Lock()
        self._after: list[Callable[[], Awaitable[None]]] = []
        self._forms: dict[str, SectionForm] = {}
        self._tabs: dict[str, ui.tab] = {}
        ui.add_css(STYLE)
        self._state = ui.label("").props('role="status" data-testid="state"')
        self._wrong = ui.label("").props('role="alert" data-testid="error"')
        self._wrong.classes("text-negative whitespace-pre-line").set_visibility(False)
        self._contradictions = ui.element("div").classes("w-full").props('role="alert"')
        self._unknown = ui.expansion("").classes("w-full")
        self._unknown.props('data-testid="unknown"').set_visibility(False)

    def tabs(self) -> ui.tabs:
        """Draw the tabs: the sections, and what follows from them."""
        with ui.tabs().props("align=left outside-arrows mobile-arrows") as tabs:
            for section in sections():
                self._tabs[section.name] = ui.tab(section.title)
            for title in ("Flow diagram", "Advice", "Solve"):
                ui.tab(title)
        self._bar = tabs
        return tabs

    def panels(self) -> None:
        """Draw the panel of each section."""
        for number, section in enumerate(sections()):
            with ui.tab_panel(section.title).classes("q-px-none"):
                when_opened(self._bar, partial(self._draw, section), section.title)
                if number + 1 < len(sections()):
                    after = sections()[number + 1].title
                    ui.button(f"Next: {after}", on_click=partial(self._bar.set_value, after)).props(
                        "outline icon-right=arrow_forward"
                    ).classes("q-mt-md")

    def _draw(self, section: SheetSection) -> None:
        self._forms[section.name] = SectionForm(section, self)

    def text_area(self) -> None:
        """Draw the text."""
        with ui.element("div").classes("hr-sheet-text"):
            heading("Text (TOML)", 3)
            self._text = TomlEditor(
                self.sheet.text, "Worksheet (TOML)", f"{self._name}.toml", self._typed
            )
            name, text = self._name, self._text
            self._saver = DraftSaver(self._user, "worksheets", address, text, name, name, None)

    @property
    def name(self) -> str:
        """Name of the draft."""
        return self._saver.name

    def on_checked(self, call: Callable[[], Awaitable[None]]) -> None:
        """Call a function after each check."""
        self._after.append(call)

    async def enter(self, path: FieldPath, entered: str) -> str | None:
        """Change an answer; return why it cannot be changed."""
        return await self._change(partial(self.sheet.enter, path, entered))

    async def add(self, path: FieldPath) -> None:
        """Add an entry to a list."""
        self._notify(await self._change(partial(self.sheet.add, path)))
        self._follow()

    async def remove(self, path: FieldPath) -> None:
        """Remove an entry of a list."""
        self._notify(await self._change(partial(self.sheet.remove, path)))
        self._follow()

    def recommend(self) -> "tuple[tuple[Choice, ...], RuleTable]":
        """Return what the rules recommend for the text, and the rules.

        Raises:
            ScenarioError, DraftError: There is a mistake in the text, or no such catalogue.
        """
        from headrace.design.recommendation import load_rules, recommend

        rules = load_rules(None)
        loaded = load_sheet(self.sheet.text, self._uploads)
        catalogue = open_catalogue(site().settings, self._user.name, self.catalogue).catalogue
        return recommend(loaded.worksheet, catalogue, rules), rules

    @property
    def _uploads(self) -> Path:
        return site().settings.data / "uploads" / self._user.name

    async def check(self) -> None:
        """Check the text and show what is wrong."""
        text = self.sheet.text
        try:
            checked = await run.io_bound(
                _checked, text, self._user.name, self.catalogue, self._uploads
            )
        except (DraftError, ScenarioError) as error:
            self._notify(f"catalogue: {error}")
            return
        if checked is None or text != self.sheet.text:
            return
        self.checked = checked
        self._show()
        for call in self._after:
            await call()

    async def _change(self, change: Callable[[], None]) -> str | None:
        async with self._lock:
            try:
                await run.io_bound(change)
            except UnchangeableText as error:
                return str(error)
            self._text.text = self.sheet.text
            await self._saver.save()
        await self.check()
        return None

    async def _typed(self) -> None:
        if self._text.text == self.sheet.text:
            return
        async with self._lock:
            self.sheet.text = self._text.text
        if await self._saver.follow(PAUSE_S):
            self._follow()
            await self.check()

    def _follow(self) -> None:
        for form in self._forms.values():
            form.follow()

    def _notify(self, message: str | None) -> None:
        if message is not None:
            ui.notify(message, type="negative")

    def _show(self) -> None:
        error, before, self._shown = self.checked.error, self._shown, self.checked
        self._wrong.set_visibility(error is not None)
        self._text.mark(None if error is None else error.line)
        wrong = None
        if error is None:
            self._state.text = "The worksheet is correct and saved."
        else:
            self._state.text = "Saved. The worksheet has a mistake:"
            at = "" if error.line is None else f"Line {error.line}, column {error.column}: "
            named = f"{error.field}: " if error.field else ""
            self._wrong.text = f"{at}{named}{error.message}"
            wrong = section_of(error.path)
        # What has not changed stays: its buttons may be clicked meanwhile.
        if self.checked.contradictions != before.contradictions:
            self._show_contradictions()
        if self.checked.unknown != before.unknown:
            self._show_unknown()
        for name, tab in self._tabs.items():
            given, total = answered(self.sheet, name)
            mark = ": mistake" if name == wrong else ""
            tab.props["label"] = f"{tab.props['name']} ({given}/{total}){mark}"
            if mark:
                tab.props["alert"] = "negative"
            else:
                tab.props.pop("alert", None)
            tab.update()
        for form in self._forms.values():
            form.show_errors()

    def _show_contradictions(self) -> None:
        self._contradictions.clear()
        with self._contradictions:
            for it in self.checked.contradictions:
                ui.label(
                    f"Contradiction: {it.field}: {it.message} (wanted {it.wanted}, got {it.got})"
                ).classes("text-negative")
                self._page_button(it.field)

    def _show_unknown(self) -> None:
        unknown = self.checked.unknown
        self._unknown.set_visibility(bool(unknown))
        number = len(unknown)
        self._unknown.text = (
            f"{number} {'question' if number == 1 else 'questions'} without an answer,"
            " and what that costs in certainty"
        )
        self._unknown.clear()
        with self._unknown, ui.element("ul").classes("hr-questions"):
            for line in unknown:
                with ui.element("li"):
                    ui.label(line).classes("inline")
                    self._page_button(line.split(",")[0].split(" ")[0])

    def _page_button(self, field: str) -> None:
        """Draw a button that opens the page of a field."""
        page = page_of(field)
        if page is not None:
            title = next(section.title for section in sections() if section.name == page)
            ui.button(title, on_click=partial(self._bar.set_value, title)).props("flat dense")


def _checked(text: str, owner: str, catalogue: str, uploads: Path) -> CheckedSheet:
    return check_sheet(text, open_catalogue(site().settings, owner, catalogue).catalogue, uploads)
