"""The choice of a scenario: examples, presets, one's own."""

from urllib.parse import urlencode

from nicegui import run, ui

from headrace import _core
from headrace.simulate.examples import examples
from headrace.web.access.users import User
from headrace.web.draft_list import DraftList
from headrace.web.layout import heading

CARDS = """
.hr-cards { display: grid; gap: 12px; width: 100%; padding: 0; margin: 0; list-style: none;
  grid-template-columns: repeat(auto-fill, minmax(min(100%, 300px), 1fr)); }
"""


async def build(user: User) -> None:
    """Draw the choice."""
    ui.add_css(CARDS)
    ui.label(
        "A scenario describes a storage system, the work that it is given, and how to run it."
    ).classes("q-mb-md")
    heading("Open an example")
    samples = await run.io_bound(examples)
    with ui.element("ul").classes("hr-cards"):
        for it in samples or ():
            with ui.element("li"), ui.card().props("flat bordered").classes("h-full w-full"):
                ui.link(it.title, f"/simulate?{urlencode({'example': it.name})}").classes("text-lg")
                ui.label(it.description).classes("first-letter:uppercase")
    heading("Or begin with presets")
    with ui.row().classes("w-full items-center"):
        chosen = {
            name: ui.select(
                {key: f"{key}: {text}" for key, text in presets},
                label=name.capitalize(),
                value=first,
            )
            .props("outlined dense stack-label")
            .classes("w-full")
            for name, presets, first in (
                ("system", _core.presets(), "nfs"),
                ("workload", _core.workloads(), "sfs-nfsv3"),
            )
        }
        ui.button(
            "Open the presets",
            on_click=lambda: ui.navigate.to(
                f"/simulate?{urlencode({name: value.value for name, value in chosen.items()})}"
            ),
        )
    heading("Or bring your own")
    with ui.row():
        ui.link("Write, paste or upload a scenario", "/simulate?own=true")
        ui.link("Use the scenario of a result", "/results")
    heading("Or continue a draft")
    drafts = DraftList(user, "scenarios", lambda name: f"/simulate?{urlencode({'draft': name})}")
    await drafts.refresh()
