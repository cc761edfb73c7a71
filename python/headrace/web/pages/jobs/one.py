"""The page of a job."""

from collections.abc import Callable, Mapping
from typing import Any
from urllib.parse import quote

from nicegui import run, ui

from headrace.web.access.permissions import NotAllowed
from headrace.web.access.users import User
from headrace.web.jobs import Job, JobState, RefusedRequest
from headrace.web.jobs.commands import PLAYBACK
from headrace.web.jobs.directory import JobDirectory
from headrace.web.jobs.watch import JobView
from headrace.web.layout import heading
from headrace.web.live_figures import live_figures
from headrace.web.net_view import show_playback
from headrace.web.page import NotThere, submit_and_follow, submit_button
from headrace.web.pages.jobs.words import ICONS, may_change, moment, span
from headrace.web.result_views import show_result
from headrace.web.result_views.generic import field_table, show_folded
from headrace.web.site import site

LARGEST = 8 << 20
"""Bytes of a document that is shown; larger ones are downloaded."""
STYLE = """
.hr-log { white-space: pre-wrap; overflow: auto; max-height: 360px; font-family: monospace;
  font-size: 13px; border: 1px solid #8888; padding: 8px; overflow-wrap: anywhere; }
"""


async def one(user: User, identifier: str) -> None:
    """Draw a job."""
    job = site().jobs.job(identifier)
    if job is None:
        raise NotThere(f"There is no job {identifier}. It may have been removed.")
    page = JobPage(job, user)
    client = ui.context.client
    end = await site().watches.begin(job, page.show)
    client.on_delete(end)


class JobPage:
    """A job in a browser, which follows it."""

    def __init__(self, job: Job, user: User) -> None:
        self._job, self._user = job, user
        ui.add_css(STYLE)
        heading(job.title)
        with ui.row().classes("items-center"):
            self._icon = ui.icon(ICONS[job.state], size="sm").props('aria-hidden="true"')
            self._state = ui.label().props('role="status"').classes("text-subtitle1")
        self._message = ui.label().classes("text-body1 text-negative").props('role="alert"')
        self._facts = ui.label().classes("text-caption")
        self._bar = ui.linear_progress(show_value=False, size="12px").props("instant-feedback")
        self._bar.props["aria-label"] = "Progress"
        self._text = ui.label()
        self._buttons()
        with ui.element("div").classes("w-full") as self._body:
            with ui.element("section").classes("w-full"):
                self._live = live_figures(job)
            self._result = ui.element("section").classes("w-full")
        self._result_shown = False
        self._client, self._shown_state = ui.context.client, ""
        _heading("Log")
        self._log = ui.label().classes("hr-log w-full").props('tabindex=0 aria-label="Log"')
        self._log.props("role=log")
        _request(job)
        _heading("Files")
        self._files = ui.element("div").classes("w-full")
        # Apart from what they draw, which they may clear.
        self._timers = ui.element("div").classes("hidden")
        self._add(self._show_files)

    def show(self, view: JobView) -> None:
        """Show the state of the job."""
        job = view.job
        self._icon.set_name(ICONS[job.state])
        place = f", number {view.place} in the queue" if view.place else ""
        ending = ", is being cancelled" if job.cancelled and not job.state.ended else ""
        self._state.set_text(f"{job.state.value}{place}{ending}")
        if self._shown_state != job.state:
            self._shown_state = job.state
            with self._client:
                ui.page_title(f"{job.state.value}: {job.title} - Headrace")
        self._message.set_text(job.message)
        self._message.set_visibility(bool(job.message))
        self._facts.set_text(self._facts_of(job))
        self._show_progress(view)
        may = may_change(job, self._user)
        self._cancel.set_visibility(may and not job.state.ended and not job.cancelled)
        self._remove.set_visibility(may and job.state.ended)
        self._monitors.set_visibility(job.started is not None)
        self._live(view)
        self._log.set_text(view.log or "empty")
        if job.state.ended and not self._result_shown:
            self._result_shown = True
            # Before the curves, which were first as long as it ran.
            self._result.move(target_index=0)
            self._add(self._show_document)
            self._add(self._show_files)
        if job.result is not None:
            self._link.props["href"] = f"/results/{job.result}"
            self._link.set_visibility(True)

    def _facts_of(self, job: Job) -> str:
        parts = [f"by {job.owner}", f"created {moment(job.created)}"]
        if job.started is not None:
            parts.append(f"started {moment(job.started)}")
        if job.ended is not None:
            parts.append(f"ended {moment(job.ended)}, after {span(job.seconds) or '0 s'}")
        if job.measures and job.state is JobState.WAITING:
            parts.append("a measurement: it runs alone")
        return ", ".join(parts)

    def _show_progress(self, view: JobView) -> None:
        runs = view.job.state is JobState.RUNNING
        self._bar.set_visibility(runs)
        self._text.set_visibility(runs)
        if not runs:
            return
        latest, left = view.latest, view.seconds_left
        fraction = None if latest is None else latest.fraction
        if fraction is None:
            self._bar.props("indeterminate")
        else:
            self._bar.props(remove="indeterminate")
            self._bar.set_value(round(fraction, 3))
        parts = [] if latest is None else [latest.title, latest.text]
        if fraction is not None:
            parts.append(f"{100 * fraction:.0f} %")
        if left is not None:
            parts.append(f"about {span(left)} left")
        self._text.set_text(": ".join(part for part in parts[:1] if part) + _joined(parts[1:]))

    def _buttons(self) -> None:
        with ui.row().classes("items-center q-my-sm"):
            self._cancel = ui.button("Cancel", icon="cancel", on_click=self._do_cancel, color=None)
            self._cancel.props("outline")
            again = submit_button("Run again", self._run_again, icon="replay", color=None)
            again.props("outline")
            ui.link("Change and run again", f"/jobs/{self._job.id}/change")
            self._link = ui.link("Its result in the store", "/results")
            self._link.set_visibility(False)
            self._monitors = ui.link("Monitors at its time", f"/monitors/job/{self._job.id}")
            self._remove = ui.button("Remove", icon="delete", on_click=self._do_remove, color=None)
            self._remove.props("flat")

    def _do_cancel(self) -> None:
        try:
            site().jobs.cancel(self._job.id, self._user)
        except (KeyError, NotAllowed) as error:
            ui.notify(str(error), type="negative")
            return
        self._cancel.set_visibility(False)

    async def _do_remove(self) -> None:
        with ui.dialog() as dialog, ui.card():
            ui.label("Remove this job with its files? Its result stays in the store.")
            with ui.row():
                ui.button("Remove it", on_click=lambda: dialog.submit(True))
                ui.button("Keep it", on_click=dialog.close).props("flat")
        if not await dialog:
            return
        try:
            await run.io_bound(site().jobs.remove, self._job.id, self._user)
        except (KeyError, NotAllowed, RefusedRequest) as error:
            ui.notify(str(error), type="negative")
            return
        ui.navigate.to("/jobs")

    async def _run_again(self) -> None:
        try:
            await submit_and_follow(self._job.request, self._user)
        except RefusedRequest as error:
            ui.notify(str(error), type="negative", timeout=0, close_button="Close")

    def _add(self, draw: Callable[[], object]) -> None:
        """Draw something that may take long, after the rest of the page."""
        with self._timers:
            ui.timer(0, draw, once=True)

    async def _show_document(self) -> None:
        document = await run.io_bound(_document, site().jobs.directory(self._job.id))
        with self._result:
            _heading("Result")
            if isinstance(document, str):
                ui.label(document)
            else:
                show_result(document)
            show_playback(site().jobs.directory(self._job.id).path / PLAYBACK)

    async def _show_files(self) -> None:
        files = await run.io_bound(site().jobs.directory(self._job.id).files)
        self._files.clear()
        with self._files, ui.element("ul").classes("q-my-none"):
            for file in files or ():
                with ui.element("li"):
                    target = f"/api/jobs/{self._job.id}/files/{quote(file.name)}"
                    ui.link(file.name, target).props("download")
                    ui.label(f" {file.bytes:,} bytes").classes("text-caption inline")


def _document(directory: JobDirectory) -> Mapping[str, Any] | str:
    """Return the document of a job, or why there is none to show."""
    sizes = {file.name: file.bytes for file in directory.files()}
    size = sizes.get("result.json") or sizes.get("document.json", 0)
    if not size:
        return "The job left no document."
    if size > LARGEST:
        return "The document is large: download document.json below."
    document = directory.document()
    if not isinstance(document, Mapping):
        return "The command printed no JSON document: download document.json below."
    return document


def _request(job: Job) -> None:
    _heading("Parameters")
    command = {"field": "command", "value": "headrace " + " ".join(job.request.command)}
    values = [{"field": key, "value": _plain(value)} for key, value in job.request.values.items()]
    field_table("Values", [command, *values])
    for name, text in job.request.inputs.items():
        show_folded(name, text, "toml")


def _heading(text: str) -> None:
    heading(text, 3)


def _plain(value: object) -> str:
    return ", ".join(map(str, value)) if isinstance(value, list) else str(value)


def _joined(parts: list[str]) -> str:
    words = ", ".join(part for part in parts if part)
    return f": {words}" if words else ""
