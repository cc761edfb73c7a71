"""Traces: upload, characterise, find costly requests, convert, simulate."""

from nicegui import run, ui

from headrace.quantities import size
from headrace.views.profile_values import timestamp
from headrace.web.access.users import User
from headrace.web.layout import heading
from headrace.web.page import Page
from headrace.web.pages.traces import trace
from headrace.web.site import site
from headrace.web.upload import upload_field


async def build(user: User) -> None:
    """Draw the upload and the list of traces."""
    ui.label(
        "A trace lists the calls of programs: of strace, Darshan, blktrace, fio and other formats."
    )
    upload_field(user, lambda file: ui.navigate.to(f"/traces/{file.name}"), label="Upload a trace")
    heading("Uploaded files")
    files = await run.io_bound(site().uploads.files, user.name)
    if not files:
        ui.label("You have uploaded no file yet.")
    for file in files or ():
        with ui.row().classes("items-baseline gap-4"):
            ui.link(file.name, f"/traces/{file.name}")
            ui.label(f"{size(file.size)}, {timestamp(file.uploaded)}")


PAGE = Page("/traces", "Traces", "timeline", build, {"/traces/{name}": trace.build})
