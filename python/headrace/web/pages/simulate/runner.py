"""The run of a scenario as a job."""

from typing import Any

from nicegui import ui

from headrace.web.access.users import User
from headrace.web.jobs import JobRequest
from headrace.web.page import submit_button
from headrace.web.pages.simulate.job_panel import JobPanel
from headrace.web.scenario_draft import ScenarioDraft

INPUT = "scenario.toml"


def request_of(draft: ScenarioDraft, *command: str, **values: Any) -> JobRequest:
    """Return the request of a job on a draft's scenario."""
    name = draft.checked.name if draft.checked is not None else "scenario"
    return JobRequest(
        command=command,
        values={"file": f"input:{INPUT}"} | values,
        inputs={INPUT: draft.text},
        title=f"{' '.join(command)}: {name}",
    )


class Runner:
    """The button that runs a draft, and its result."""

    def __init__(self, user: User, draft: ScenarioDraft, document: dict[str, Any] | None) -> None:
        self._draft = draft
        submit_button("Run", self._run, icon="play_arrow").classes("q-mb-sm")
        self._panel = JobPanel(user)
        if document is not None:
            self._panel.show(document)

    async def _run(self) -> None:
        if self._draft.error is not None:
            ui.notify("The scenario has an error: correct it first.", type="negative")
            return
        await self._panel.submit(request_of(self._draft, "run"))
