"""One profile: its charts, phases and report, and its replay in a model."""

from pathlib import Path

from nicegui import run, ui

from headrace.web.access.users import User
from headrace.web.jobs import Job, JobRequest, RefusedRequest
from headrace.web.jobs.watch import JobView
from headrace.web.layout import heading
from headrace.web.page import NotThere, submit_and_follow, submit_button
from headrace.web.profile_charts import profile_document, read_samples
from headrace.web.profiles import COMMAND, DIRECTORY, REPORT, chunks, directory_of, trace_of
from headrace.web.result_views import profile as view
from headrace.web.site import site
from headrace.web.typed import keep
from headrace.web.uploads import RefusedUpload

MACHINE = "machine.toml"


async def build(user: User, identifier: str) -> None:
    """Draw a profile; before its end, how far its recording is."""
    job = site().jobs.job(identifier)
    if job is None or job.request.command != COMMAND:
        raise NotThere(f"There is no profile {identifier}.")
    heading(job.title)
    ui.link("Job with its log", f"/jobs/{identifier}")
    place = ui.column().classes("w-full")
    if not job.state.ended:
        await _wait(place, job, user)
        return
    await _draw(place, job, user)


async def _wait(place: ui.column, job: Job, user: User) -> None:
    with place:
        state = ui.label().props('role="status"')
        bar = ui.linear_progress(0, show_value=False).props('aria-label="Progress" indeterminate')
        ui.button("Stop", icon="stop", on_click=lambda: site().jobs.cancel(job.id, user)).props(
            "outline"
        )
    ended = False

    def show(view: JobView) -> None:
        nonlocal ended
        latest = view.latest
        state.set_text(f"{view.job.state}{'' if latest is None else f': {latest.text}'}")
        if latest is not None and latest.fraction is not None:
            bar.props(remove="indeterminate")
            bar.value = latest.fraction
        if view.job.state.ended and not ended:
            ended = True
            place.clear()
            with place:
                ui.timer(0, lambda: _draw(place, view.job, user), once=True)

    end = await site().watches.begin(job, show)
    ui.context.client.on_delete(end)


async def _draw(place: ui.column, job: Job, user: User) -> None:
    directory = directory_of(site(), job.id)
    document = await run.io_bound(profile_document, directory)
    if document is None:
        with place:
            ui.label(f"The job is {job.state} and left no profile. {job.message}").props(
                'role="alert"'
            )
        return
    samples = await run.io_bound(read_samples, directory, document)
    with place:
        view.show(document, samples)
        if (directory / REPORT).is_file():
            _report(job.id)
        _evaluate(job, user)
        trace = trace_of(site(), job.id, document)
        if trace is not None:
            _take_trace(job, trace, user)


def _take_trace(job: Job, trace: Path, user: User) -> None:
    name = f"profile-{job.id}{trace.suffix}"

    async def take() -> None:
        try:
            if all(file.name != name for file in site().uploads.files(user.name)):
                await site().uploads.store(user.name, name, chunks(trace))
        except RefusedUpload as refused:
            ui.notify(str(refused), type="negative")
            return
        ui.navigate.to(f"/traces/{name}")

    heading("Captured trace")
    ui.label("Characterise the captured calls, convert them, or replay them in a simulated system.")
    ui.button("Open as a trace", icon="timeline", on_click=take).props("outline")


def _report(identifier: str) -> None:
    address = f"/api/profiles/{identifier}/report"
    heading("Report")
    with ui.row():
        ui.link("Open the report", address, new_tab=True)
        ui.link("Download the report", f"{address}?download=true")
    with ui.expansion("Show the report here").classes("w-full") as shown:
        frame = ui.element("iframe").classes("w-full").style("height: 80vh; border: 0")
        frame.props('sandbox="" title="Report of the profile"')

    def load() -> None:
        frame.props["src"] = address
        frame.update()

    shown.on("before-show", load)


def _evaluate(job: Job, user: User) -> None:
    with ui.expansion("Predict with another machine").classes("w-full"):
        ui.label(
            "Evaluates the recording once more: predictions then use the machine of this text, as"
            " headrace calibrate or headrace baseline --save-machine writes it, or a scenario."
        )
        text = keep(ui.textarea("Machine (TOML)"), "machine").props("outlined autogrow")
        text.classes("w-full font-mono")
        error = ui.label().classes("text-negative").props('role="alert"')

        async def start() -> None:
            if not str(text.value or "").strip():
                error.set_text("Expected a machine in TOML.")
                return
            request = JobRequest(
                command=COMMAND,
                values={"again": f"job:{job.id}/{DIRECTORY}", "machine": f"input:{MACHINE}"},
                inputs={MACHINE: str(text.value)},
                title=f"{job.title}, with another machine",
            )
            try:
                await submit_and_follow(request, user)
            except RefusedRequest as refused:
                error.set_text(str(refused))

        submit_button("Evaluate", start)
