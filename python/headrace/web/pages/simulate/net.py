"""The net of a scenario, drawn."""

import asyncio

from nicegui import ui

from headrace.web.net_view import NetView
from headrace.web.scenario_draft import ScenarioDraft
from headrace.web.site import site


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
