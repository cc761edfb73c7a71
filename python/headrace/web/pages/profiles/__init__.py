"""Profiles: record what limits an application, and see it on charts."""

from nicegui import run, ui

from headrace.quantities import duration
from headrace.views.profile_values import NO_VERDICT
from headrace.web.access.users import User
from headrace.web.layout import heading
from headrace.web.page import Page
from headrace.web.pages.profiles import profile
from headrace.web.pages.profiles.record import draw_record
from headrace.web.profiles import list_profiles
from headrace.web.site import site
from headrace.web.times import local_time


async def build(user: User) -> None:
    """Draw the form that records, and the list of profiles."""
    ui.label(
        "A profile samples processors, disks, network and memory while an application runs, and"
        " names what limits it in each phase."
    )
    draw_record(user)
    heading("Profiles")
    profiles = await run.io_bound(list_profiles, site())
    if not profiles:
        ui.label("No profile has been recorded yet.")
    for entry in profiles or ():
        with ui.row().classes("w-full items-baseline gap-4"):
            ui.link(entry.title, f"/profiles/{entry.id}")
            ui.label(local_time(entry.created))
            if entry.duration_s is None:
                ui.label(entry.state)
            else:
                ui.label(f"{duration(entry.duration_s)}, {entry.verdict or NO_VERDICT}")


PAGE = Page(
    "/profiles", "Profiles", "monitor_heart", build, {"/profiles/{identifier}": profile.build}
)
