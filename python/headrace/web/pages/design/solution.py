"""The search of a design: its progress, the Pareto front, and the report."""

from nicegui import run, ui

from headrace.web.access.permissions import NotAllowed
from headrace.web.access.users import User
from headrace.web.design.solving import CHOSEN, COMMAND, REPORT_HTML, REPORT_PDF, solution_of
from headrace.web.jobs import Job, JobState
from headrace.web.jobs.watch import JobView
from headrace.web.layout import heading
from headrace.web.page import NotThere
from headrace.web.pages.jobs.words import may_change
from headrace.web.result_views.solution import SolutionView
from headrace.web.site import site


async def build(user: User, identifier: str) -> None:
    """Draw a search."""
    job = site().jobs.job(identifier)
    if job is None or job.request.command != COMMAND:
        raise NotThere(f"There is no search {identifier}.")
    ui.link("All worksheets", "/design")
    page = SolutionPage(job, user)
    client = ui.context.client
    client.on_delete(await site().watches.begin(job, page.show))


class SolutionPage:
    """A search in a browser, which follows it."""

    def __init__(self, job: Job, user: User) -> None:
        self._job, self._user = job, user
        self._shown = False
        heading(job.title)
        with ui.row().classes("items-center"):
            self._state = ui.label("").props('role="status" data-testid="job-state"')
            ui.link("Job with log and files", f"/jobs/{job.id}")
            self._cancel = ui.button("Cancel", icon="cancel", on_click=self._do_cancel)
            self._cancel.props("outline dense")
        self._bar = ui.linear_progress(show_value=False).props(
            'instant-feedback aria-label="Progress"'
        )
        self._place = ui.element("div").classes("w-full")
        # Apart from what they draw, which they may clear.
        self._timers = ui.element("div").classes("hidden")

    def show(self, view: JobView) -> None:
        """Show the state of the search."""
        job = view.job
        ended = job.state.ended
        parts = [job.state.value]
        if view.place:
            parts.append(f"number {view.place} in the queue")
        if view.latest is not None and not ended:
            parts.append(view.latest.text or view.latest.title)
            if view.latest.fraction is None:
                self._bar.props("indeterminate")
            else:
                self._bar.props(remove="indeterminate")
                self._bar.set_value(round(view.latest.fraction, 3))
        self._state.set_text(", ".join(part for part in parts if part))
        self._bar.set_visibility(not ended)
        self._cancel.set_visibility(not ended and may_change(job, self._user))
        if ended and not self._shown:
            self._shown = True
            with self._timers:
                ui.timer(0, self._show_solution, once=True)

    def _do_cancel(self) -> None:
        try:
            site().jobs.cancel(self._job.id, self._user)
        except (KeyError, NotAllowed) as error:
            ui.notify(str(error), type="negative")

    async def _show_solution(self) -> None:
        directory = site().jobs.directory(self._job.id)
        try:
            solution = await run.io_bound(solution_of, directory)
        except ValueError as error:
            with self._place:
                ui.label(str(error)).classes("text-negative")
            return
        with self._place:
            if solution is None:
                ui.label(self._job.message or "The search left no solution.").props('role="alert"')
                last = directory.log().strip().splitlines()[-3:]
                for line in last:
                    ui.label(line)
                return
            if self._job.state is JobState.FAILED and solution.chosen is None:
                self._state.set_text("done")
            self._report()
            SolutionView(solution)

    def _report(self) -> None:
        files = {file.name for file in site().jobs.directory(self._job.id).files()}
        base = f"/api/jobs/{self._job.id}/files"
        with ui.row().classes("items-center q-my-sm"):
            if REPORT_HTML in files:
                address = f"/api/design/solutions/{self._job.id}/report"
                ui.link("Report", address, new_tab=True)
            if REPORT_PDF in files:
                ui.link("Report (PDF)", f"{base}/{REPORT_PDF}").props("download")
            if CHOSEN in files:
                ui.link("Scenario", f"{base}/{CHOSEN}").props("download")
                ui.link("Simulate this design", f"/simulate?job={self._job.id}&file={CHOSEN}")
        if REPORT_HTML in files:
            with ui.expansion("Report", icon="description").classes("w-full") as place:
                frame = ui.element("iframe").classes("w-full").style("height: 70vh; border: 0")
                # Nothing in it runs, and it cannot leave its frame.
                frame.props('sandbox="" title="Report of the design" loading=lazy')

            def load() -> None:
                if place.value and "src" not in frame.props:
                    frame.props["src"] = f"/api/design/solutions/{self._job.id}/report"
                    frame.update()

            place.on_value_change(load)
