"""Studies of a scenario as jobs: what-if, sweep, optimum."""

from functools import partial

from nicegui import ui

from headrace.web.access.users import User
from headrace.web.command_form import CommandFields, command_fields
from headrace.web.jobs import RefusedRequest
from headrace.web.page import submit_button
from headrace.web.pages.simulate.job_panel import JobPanel
from headrace.web.pages.simulate.runner import request_of
from headrace.web.scenario_draft import ScenarioDraft
from headrace.web.site import site

STUDIES = {
    "whatif": "What would help? Changes each resource and kind in turn.",
    "sweep": "How does it scale? Runs the scenario at every combination of values.",
    "optimise": "What is best? Searches values for an objective.",
}


class Studies:
    """Forms of the commands that run a scenario many times, and the result of the last one."""

    def __init__(self, user: User, draft: ScenarioDraft) -> None:
        self._draft = draft
        for name, question in STUDIES.items():
            form = site().forms.get((name,))
            if form is None:
                continue
            with ui.expansion(name, caption=question, group="studies").classes("w-full"):
                fields = command_fields(form, without=("file", "sets"))
                start = submit_button(f"Start {name}", partial(self._start, name, fields))
                start.classes("q-mt-sm")
        self._panel = JobPanel(user)

    async def _start(self, name: str, fields: CommandFields) -> None:
        try:
            request = request_of(self._draft, name, **fields())
        except RefusedRequest:
            return
        await self._panel.submit(request, fields.show_error)
