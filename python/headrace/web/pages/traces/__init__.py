"""Traces: upload, characterise, find costly requests, convert, simulate."""

from nicegui import run, ui

from headrace.quantities import size
from headrace.views.profile_values import timestamp
from headrace.web.access.users import User
from headrace.web.page import Page
from headrace.web.pages.traces import trace
from headrace.web.site import site
from headrace.web.upload import upload_field


async def build(user: User) -> None:
    """Draw the upload and the list of traces."""
    ui.label(
        "A trace lists the calls of programs: of strace, Darshan, blktrace, fio and other formats."
    )
    upload_field(user, lambda it: ui.navigate.to(f"/traces/{it.name}"), label="Upload a trace")
    with ui.element("h2").classes("text-xl q-mt-lg"):
        ui.label("Uploaded files")
    found = await run.io_bound(site().uploads.files, user.name)
    if not found:
        ui.label("You have uploaded no file yet.")
    for it in found or ():
        with ui.row().classes("items-baseline gap-4"):
            ui.link(it.name, f"/traces/{it.name}")
            ui.label(f"{size(it.size)}, {timestamp(it.uploaded)}")


PAGE = Page("/traces", "Traces", "timeline", build, {"/traces/{name}": trace.build})
