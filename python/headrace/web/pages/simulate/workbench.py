"""A scenario on the page: form, text, and what is done with it."""

from typing import Any

from nicegui import ui

from headrace.web.access.users import User
from headrace.web.pages.simulate.editor import Editor
from headrace.web.pages.simulate.net import NetTab
from headrace.web.pages.simulate.runner import Runner
from headrace.web.pages.simulate.slider_panel import SliderPanel
from headrace.web.pages.simulate.studies import Studies
from headrace.web.scenario_draft import ScenarioDraft


class Workbench:
    """Editor of a scenario, with tabs for its run, sliders, studies and net."""

    def __init__(self, user: User, text: str, document: dict[str, Any] | None) -> None:
        self._user, self._document = user, document
        self._draft = ScenarioDraft(text)

    def build(self) -> None:
        """Draw it."""
        editor = Editor(self._draft)
        with ui.tabs().props("align=left outside-arrows mobile-arrows") as tabs:
            names = ("Run", "Sliders", "Studies", "Net")
            for name in names:
                ui.tab(name)
        with ui.tab_panels(tabs, value="Run", animated=False).classes("w-full bg-transparent"):
            with ui.tab_panel("Run").classes("q-px-none"):
                Runner(self._user, self._draft, self._document)
            with ui.tab_panel("Sliders").classes("q-px-none"):
                sliders = SliderPanel(self._draft, editor.show_text)
            with ui.tab_panel("Studies").classes("q-px-none"):
                studies = Studies(self._user, self._draft)
            with ui.tab_panel("Net").classes("q-px-none"):
                net = NetTab(self._draft)

        async def opened() -> None:
            if tabs.value == "Sliders":
                await sliders.refresh()
            elif tabs.value == "Studies":
                studies.refresh()
            elif tabs.value == "Net":
                await net.refresh()

        tabs.on_value_change(opened)
        editor.on_checked(opened)
        ui.timer(0.0, editor.check, once=True)
