"""Jobs: what waits, runs and has ended."""

from nicegui import run, ui

from headrace.web.access.users import User
from headrace.web.live_figures import LiveCharts
from headrace.web.page import Page
from headrace.web.result_views import show_result
from headrace.web.site import site


def build(user: User) -> None:
    """Draw the list of jobs."""
    for job in site().jobs.jobs():
        ui.link(f"{job.title}: {job.state}", f"/jobs/{job.id}")


def one(user: User, identifier: str) -> None:
    """Draw a job."""
    job = site().jobs.job(identifier)
    if job is None:
        ui.label(f"There is no job {identifier}.")
        return
    state = ui.label(f"{job.title}: {job.state}")
    live = LiveCharts()
    place = ui.column().classes("w-full")
    read = 0

    async def look() -> None:
        nonlocal read
        now = site().jobs.job(identifier) or job
        lines = await run.io_bound(lambda: list(site().jobs.directory(identifier).progress(read)))
        if lines:
            read += len(lines)
            live.add(lines)
        state.set_text(f"{job.title}: {now.state} {now.message}")
        if now.state.ended:
            timer.cancel()
            with place:
                show_result(site().jobs.directory(identifier).document())
                ui.code(site().jobs.directory(identifier).log(), language="text")

    timer = ui.timer(0.3, look)


PAGE = Page("/jobs", "Jobs", "list", build, {"/jobs/{identifier}": one})
