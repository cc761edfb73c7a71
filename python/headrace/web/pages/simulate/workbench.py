"""A scenario on the page: form, text, and what is done with it."""

import asyncio
from collections.abc import Callable
from functools import partial

from nicegui import run, ui

from headrace.web.access.users import User
from headrace.web.layout import when_opened
from headrace.web.net_view import NetView
from headrace.web.page import Address, submit_button
from headrace.web.pages.simulate.editor import Editor
from headrace.web.pages.simulate.job_panel import JobPanel, request_of
from headrace.web.pages.simulate.slider_panel import SliderPanel
from headrace.web.pages.simulate.studies import Studies
from headrace.web.scenario_draft import ScenarioDraft
from headrace.web.scenario_sources import Opened, simulated_document
from headrace.web.site import site
from headrace.web.typed import forget


class NetTab:
    """The net of a draft's scenario. It is drawn when the tab is open."""

    def __init__(self, draft: ScenarioDraft) -> None:
        self._draft = draft
        self._page = ui.context.client.id
        self._text = ""
        self._state = ui.label("").props('role="status"')
        self._place = ui.element("div").classes("w-full overflow-auto")

    async def refresh(self) -> None:
        """Draw the net of the draft as it is now."""
        if self._draft.error is not None:
            self._state.text = "The scenario has an error: correct it first."
            return
        if self._text == self._draft.text:
            return
        self._text = text = self._draft.text
        answer = await site().quick.ask("net", text, page=self._page)
        if answer.superseded or text != self._text:
            return
        if answer.error is not None:
            self._state.text = answer.error.message
            return
        self._state.text = ""
        self._place.clear()
        prepared = await asyncio.to_thread(NetView.prepare, answer.result["structure"])
        with self._place:
            NetView(prepared)


Panel = SliderPanel | Studies | NetTab


class Workbench:
    """Editor of a scenario with its run, and tabs for result, sliders, studies and net."""

    def __init__(
        self, user: User, address: Address, title: str, text: str, source: Opened | None
    ) -> None:
        """Take a scenario.

        Parameters:
            title: Name for a draft of it.
            text: Its text: of the draft if the address names one.
            source: The scenario without changes, and its result.
        """
        self._user, self._address = user, address
        self._draft = ScenarioDraft(text)
        self._source = source
        self._title = title

    def build(self) -> None:
        """Draw it."""
        source = self._source
        self._editor = Editor(self._user, self._draft)
        with ui.tabs().props("align=left outside-arrows mobile-arrows") as tabs:
            for name in ("Result", "Sliders", "Studies", "Net"):
                ui.tab(name)
        shown = (
            "Studies"
            if self._address.value("study") and not self._address.value("run")
            else "Result"
        )
        with ui.tab_panels(tabs, value=shown, animated=False).classes("w-full"):
            with ui.tab_panel("Result").classes("q-px-none"):
                result = ui.element("div").classes("w-full")
            panels: dict[str, Panel] = {}
            ways: dict[str, Callable[[], Panel]] = {
                "Sliders": lambda: SliderPanel(self._draft, self._editor.show_text),
                "Studies": lambda: Studies(self._user, self._draft, self._address),
                "Net": lambda: NetTab(self._draft),
            }
            for name, way in ways.items():

                def draw(name: str = name, way: Callable[[], Panel] = way) -> None:
                    panels[name] = way()

                with ui.tab_panel(name).classes("q-px-none"):
                    when_opened(tabs, draw, name)
        with self._editor.bar:
            self._panel = JobPanel(self._user, self._address, "run", result)
        if source is not None and source.result:
            ui.timer(0.0, partial(self._show, source.result), once=True)
        with self._editor.head:
            submit_button("Run", partial(self._run, tabs), icon="play_arrow", has_shortcut=True)
            self._editor.save_as(
                self._address, self._title, None if source is None else source.text
            )

        async def opened() -> None:
            if tabs.value in panels:
                await panels[tabs.value].refresh()

        tabs.on_value_change(opened)
        self._editor.on_checked(opened)
        ui.timer(0.0, self._editor.check, once=True)

    async def _show(self, result: str) -> None:
        """Show a result of the store, unless there is a newer one."""
        document = await run.io_bound(simulated_document, result)
        if document is not None and not self._address.value("run"):
            self._panel.show(document)

    async def _run(self, tabs: ui.tabs) -> None:
        await self._editor.check()
        if self._draft.error is not None:
            ui.notify("The scenario has an error: correct it first.", type="negative")
            return
        tabs.value = "Result"
        forget("tab")
        await self._panel.submit(request_of(self._draft, "run"))
