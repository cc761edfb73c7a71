"""Simulate: choose or write a scenario, run it, and change it by sliders."""

import msgspec
from nicegui import ui
from nicegui.run import io_bound

from headrace.web.access.users import User
from headrace.web.design.drafts import DraftError, Drafts
from headrace.web.page import Address, Page
from headrace.web.pages.simulate import chooser
from headrace.web.pages.simulate.workbench import Workbench
from headrace.web.scenario_sources import Opened, Source, WrongSource, open_source
from headrace.web.site import site


async def build(
    user: User,
    example: str = "",
    system: str = "",
    workload: str = "",
    result: str = "",
    job: str = "",
    file: str = "",
    own: bool = False,
    draft: str = "",
    run: str = "",
    study: str = "",
) -> None:
    """Draw the choice of a scenario, or the one that the address names: its draft, or its source.

    `run` and `study` are jobs that are shown with it.
    """
    source = Source(
        example=example, system=system, workload=workload, result=result, job=job, file=file
    )
    if not (source.exists or own or draft):
        await chooser.build(user)
        return
    try:
        opened = await io_bound(_open, user, source, own, draft)
    except (WrongSource, DraftError) as error:
        ui.label(str(error)).props('role="alert"').classes("text-negative")
        await chooser.build(user)
        return
    if opened is None:
        return
    values = msgspec.structs.asdict(source) | {"own": "true" if own else ""}
    address = Address("/simulate", draft=draft, **values, run=run, study=study)
    ui.link("Other scenarios", "/simulate")
    Workbench(user, address, source.title, *opened).build()


def _open(user: User, source: Source, own: bool, draft: str) -> tuple[str, Opened | None]:
    """Return the text of a draft or source, and the source."""
    text = Drafts(site().settings, "scenarios").text(user.name, draft) if draft else None
    try:
        opened = open_source(source) if source.exists or own else None
    except WrongSource:
        # A draft outlives its source.
        if text is None:
            raise
        opened = None
    if text is None:
        text = "" if opened is None else opened.text
    return text, opened


PAGE = Page("/simulate", "Simulate", "play_circle", build)
