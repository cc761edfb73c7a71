"""Traces: upload, characterise, find costly requests, convert, simulate."""

from nicegui import events, run, ui

from headrace.report.units import size
from headrace.web.access.users import User
from headrace.web.jobs import RefusedRequest
from headrace.web.page import Page
from headrace.web.pages.traces import trace
from headrace.web.site import site
from headrace.web.times import local_time
from headrace.web.traces import path_for_upload, uploaded


async def build(user: User) -> None:
    """Draw the upload and the list of traces."""
    ui.label(
        "A trace lists the calls of programs: of strace, Darshan, blktrace, fio and other formats."
    )
    error = ui.label().classes("text-negative").props('role="alert"')

    async def save(event: events.UploadEventArguments) -> None:
        error.set_text("")
        try:
            path = path_for_upload(site(), user.name, event.file.name)
        except RefusedRequest as refused:
            error.set_text(str(refused))
            return
        partial = path.with_name(f".{path.name}.partial")
        await event.file.save(partial)
        partial.rename(path)
        ui.navigate.to(f"/traces/{path.name}")

    limit = site().settings.limits.upload
    ui.upload(
        label=f"Upload a trace (up to {size(limit)})",
        max_file_size=limit,
        auto_upload=True,
        on_upload=save,
        on_rejected=lambda: error.set_text(f"Expected one file of up to {size(limit)}."),
    ).classes("w-full").props("flat bordered")
    with ui.element("h2").classes("text-xl q-mt-lg"):
        ui.label("Uploaded traces")
    found = await run.io_bound(uploaded, site(), user.name)
    if not found:
        ui.label("No trace has been uploaded yet.")
    for it in found or ():
        with ui.row().classes("items-baseline gap-4"):
            ui.link(it.name, f"/traces/{it.name}")
            ui.label(f"{size(it.bytes)}, {local_time(it.modified)}")


PAGE = Page("/traces", "Traces", "timeline", build, {"/traces/{name}": trace.build})
