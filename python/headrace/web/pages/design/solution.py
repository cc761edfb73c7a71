"""The search of a design: its progress, the Pareto front, and the report."""

from functools import partial

from nicegui import run, ui

from headrace.design.evaluation import Solution
from headrace.web.access.users import User
from headrace.web.design.figures import DesignView
from headrace.web.design.solving import (
    CHOSEN,
    COMMAND,
    REPORT_HTML,
    REPORT_PDF,
    solution_of,
)
from headrace.web.jobs import Job, JobRequest, JobState, NotAllowed, RefusedRequest
from headrace.web.jobs.watch import JobView
from headrace.web.layout import heading
from headrace.web.pages.design.design_panel import show_design
from headrace.web.pages.design.front import FrontChart
from headrace.web.pages.jobs.words import may_change
from headrace.web.site import site


async def build(user: User, identifier: str) -> None:
    """Draw a search."""
    job = site().jobs.job(identifier)
    ui.link("All worksheets", "/design")
    if job is None or job.request.command != COMMAND:
        ui.label(f"There is no search {identifier}.").props('role="alert"')
        return
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
            self._cancel.props("no-caps outline dense")
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
        self._state.set_text(", ".join(it for it in parts if it))
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
            Result(self._job, self._user, solution)


class Result:
    """A solution: its summary, its front and the design that is picked."""

    def __init__(self, job: Job, user: User, solution: Solution) -> None:
        self._job, self._user, self._solution = job, user, solution
        self._summary()
        self._report()
        self._front = FrontChart(solution, self._pick)
        self._place = (
            ui.element("section").classes("w-full").props('aria-label="Design" aria-live="polite"')
        )
        if self._front.points:
            ui.timer(0, partial(self._pick, solution.chosen or 0), once=True)
        _discarded(solution)

    def _summary(self) -> None:
        solution = self._solution
        if solution.chosen is None:
            text = "No design meets all requirements. These miss the least:"
        else:
            text = (
                f"{solution.front[solution.chosen].design.name} is the cheapest design that meets"
                " every known requirement."
            )
        ui.label(text).classes("text-subtitle1").props('data-testid="summary"')
        ui.label(
            f"{solution.enumerated:,} designs enumerated in {solution.seconds:.0f} s, seed"
            f" {solution.seed}"
        ).classes("text-caption")

    def _report(self) -> None:
        files = {it.name for it in site().jobs.directory(self._job.id).files()}
        base = f"/api/jobs/{self._job.id}/files"
        with ui.row().classes("items-center q-my-sm"):
            if REPORT_HTML in files:
                address = f"/api/design/solutions/{self._job.id}/report"
                ui.link("Report", address, new_tab=True)
                ui.link("Report (PDF)", f"{base}/{REPORT_PDF}").props("download")
            if CHOSEN in files:
                ui.link("Scenario", f"{base}/{CHOSEN}").props("download")
                ui.button(
                    "Simulate this design", icon="play_circle", on_click=self._simulate
                ).props("no-caps outline dense")
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

    async def _simulate(self) -> None:
        path = site().jobs.directory(self._job.id).file(CHOSEN)
        text = await run.io_bound(path.read_text, encoding="utf-8")
        request = JobRequest(
            ("run",),
            {"file": "input:chosen.toml"},
            {"chosen.toml": text or ""},
            f"simulation of {self._job.title}",
        )
        try:
            job = await run.io_bound(site().jobs.submit, request, self._user.name)
        except RefusedRequest as error:
            ui.notify(str(error), type="negative")
            return
        if job is not None:
            ui.navigate.to(f"/jobs/{job.id}")

    async def _pick(self, place: int) -> None:
        self._front.mark(place)
        view = await run.io_bound(DesignView, self._solution, place)
        if view is None:
            return
        self._place.clear()
        with self._place:
            show_design(view, self._front.points[place])


def _discarded(solution: Solution) -> None:
    lines = [f"{field}: {count:,} designs" for field, count in solution.discarded.items()]
    with (
        ui.expansion("Discarded designs and unknown answers").classes("w-full"),
        ui.element("ul"),
    ):
        for line in (*lines, *solution.unsure):
            with ui.element("li"):
                ui.label(line)
