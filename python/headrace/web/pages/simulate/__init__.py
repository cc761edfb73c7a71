"""Simulate: choose or write a scenario, run it, and change it by sliders."""

from nicegui import run, ui

from headrace.web.access.users import User
from headrace.web.page import Page
from headrace.web.pages.simulate import chooser
from headrace.web.pages.simulate.workbench import Workbench
from headrace.web.scenario_sources import Source, WrongSource, open_source


async def build(
    user: User,
    example: str = "",
    system: str = "",
    workload: str = "",
    result: str = "",
    job: str = "",
    file: str = "",
    own: bool = False,
) -> None:
    """Draw the choice of a scenario, or the scenario that the address names."""
    if not (example or system or workload or result or job or own):
        await chooser.build()
        return
    source = Source(
        example=example, system=system, workload=workload, result=result, job=job, file=file
    )
    try:
        opened = await run.io_bound(open_source, source)
    except WrongSource as error:
        ui.label(str(error)).props('role="alert"').classes("text-negative")
        await chooser.build()
        return
    if opened is None:
        return
    ui.link("Other scenarios", "/simulate")
    Workbench(user, opened.text, opened.document).build()


PAGE = Page("/simulate", "Simulate", "play_circle", build)
