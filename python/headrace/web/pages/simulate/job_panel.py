"""A job within a page: submits it, shows its progress, and its result at the end."""

from collections.abc import Callable
from contextlib import suppress
from typing import Any

from nicegui import run, ui

from headrace.kinds import UNSHOWN
from headrace.views.simulated import main_figures
from headrace.web.access.users import User
from headrace.web.jobs import Job, JobRequest, JobState, Progress, RefusedRequest
from headrace.web.jobs.commands import PLAYBACK
from headrace.web.jobs.directory import ProgressReader
from headrace.web.net_view import show_playback
from headrace.web.page import Address
from headrace.web.result_views import show_result
from headrace.web.result_views.figure_cards import show_figures
from headrace.web.scenario_draft import ScenarioDraft
from headrace.web.site import site

INPUT = "scenario.toml"
POLL_S = 0.15
"""Seconds between two looks at the job, while it waits or runs."""


def request_of(draft: ScenarioDraft, *command: str, **values: Any) -> JobRequest:
    """Return the request of a job on a draft's scenario."""
    name = draft.checked.name if draft.checked is not None else "scenario"
    return JobRequest(
        command=command,
        values={"file": f"input:{INPUT}"} | values,
        inputs={INPUT: draft.text},
        title=f"{' '.join(command)}: {name}",
    )


class JobPanel:
    """Shows one job at a time: the last one that was submitted here, and is in the address.

    Parameters:
        parameter: Its parameter of the address.
        result: Where its result is drawn, with the main figures here; None is below the state.
    """

    def __init__(
        self, user: User, address: Address, parameter: str, result: ui.element | None = None
    ) -> None:
        self._user, self._address, self._parameter = user, address, parameter
        self._job: Job | None = None
        self._reader: ProgressReader | None = None
        self._latest: Progress | None = None
        with ui.element("div").classes("w-full").props('aria-live="polite"'):
            self._state = ui.label("").props('data-testid="job-state"')
        self._bar = ui.linear_progress(0.0, show_value=False).props('aria-label="Progress"')
        self._bar.set_visibility(False)
        with ui.row() as self._actions:
            self._link = ui.link("Job", "/jobs")
            ui.button("Cancel", icon="stop", on_click=self._cancel).props("flat dense")
        self._actions.set_visibility(False)
        self._figures = ui.element("div").classes("w-full")
        self._has_figures = result is not None
        self._result = result or ui.element("div").classes("w-full")
        self._timer = ui.timer(POLL_S, self._poll, active=False)
        # A job that was removed is not shown.
        if job := site().jobs.job(address.value(parameter)):
            self._follow(job)

    async def submit(
        self, request: JobRequest, refused: Callable[[RefusedRequest], object] | None = None
    ) -> None:
        """Submit a job in place of the one that is shown."""
        try:
            job = await run.io_bound(site().jobs.submit, request, self._user.name)
        except RefusedRequest as error:
            if refused is None:
                self._state.text = str(error)
            else:
                refused(error)
            return
        if job is None:
            return
        self._address.show(**{self._parameter: job.id})
        self._follow(job)

    def _follow(self, job: Job) -> None:
        self._job = job
        self._reader = site().jobs.directory(job.id).progress_reader()
        self._latest = None
        self._state.text = f"{job.title}: {job.state}"
        self._clear()
        self._link.props(f"href=/jobs/{job.id}")
        self._actions.set_visibility(True)
        self._bar.set_visibility(True)
        self._bar.props("indeterminate")
        self._timer.activate()

    def show(self, document: dict[str, Any]) -> None:
        """Show a result that is there already."""
        with self._result:
            show_result(document)
        if self._has_figures:
            with self._figures, suppress(*UNSHOWN):
                show_figures(main_figures(document))

    def _clear(self) -> None:
        self._result.clear()
        self._figures.clear()

    async def _poll(self) -> None:
        if self._job is None:
            return
        identifier = self._job.id
        job = site().jobs.job(identifier)
        if job is None:
            self._timer.deactivate()
            return
        directory = site().jobs.directory(identifier)
        if not job.state.ended:
            assert self._reader is not None
            lines = await run.io_bound(self._reader.read)
            if lines:
                self._latest = lines[-1][1]
            self._show_progress(job, self._latest)
            return
        self._timer.deactivate()
        self._bar.set_visibility(False)
        self._actions.set_visibility(False)
        self._state.text = f"{job.title}: {job.state}"
        if job.state is not JobState.DONE and job.message:
            self._state.text += f": {job.message}"
        document = await run.io_bound(directory.document)
        if document is not None and self._job is not None and self._job.id == identifier:
            self._clear()
            self.show(document)
            with self._result:
                show_playback(directory.path / PLAYBACK)
            if self._has_figures:
                ui.run_javascript(
                    f"getHtmlElement({self._figures.id}).scrollIntoView({{block: 'nearest'}})"
                )

    def _show_progress(self, job: Job, progress: Progress | None) -> None:
        self._state.text = f"{job.title}: {job.state}"
        if progress is not None:
            self._state.text += f", {progress.text}" if progress.text else ""
            if progress.fraction is not None:
                self._bar.props(remove="indeterminate")
                self._bar.value = progress.fraction

    async def _cancel(self) -> None:
        if self._job is not None:
            await run.io_bound(site().jobs.cancel, self._job.id, self._user)
