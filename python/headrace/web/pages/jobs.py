"""Jobs: what waits, runs and has ended."""

from nicegui import ui

from headrace.web.access.users import User
from headrace.web.page import Page
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
    ui.label(f"{job.title}: {job.state}")
    ui.code(site().jobs.directory(identifier).log(), language="text")


PAGE = Page("/jobs", "Jobs", "list", build, {"/jobs/{identifier}": one})
