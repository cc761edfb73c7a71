"""A worksheet: its pages beside its text, and what follows from it."""

from nicegui import run, ui

from headrace.web.access.users import User
from headrace.web.design.drafts import DraftError, Drafts
from headrace.web.design.fields import sections
from headrace.web.layout import heading, when_opened
from headrace.web.page import NotThere
from headrace.web.pages.design.advice import Advice
from headrace.web.pages.design.editor import Editor
from headrace.web.pages.design.flow import FlowDiagram
from headrace.web.pages.design.solve import SolvePanel
from headrace.web.site import site


async def build(user: User, name: str) -> None:
    """Draw a worksheet."""
    try:
        text = await run.io_bound(Drafts(site().settings).text, user.name, name)
    except DraftError as error:
        raise NotThere(str(error)) from None
    ui.link("All worksheets", "/design")
    heading(name)
    editor = Editor(user, name, text or "")
    tabs = editor.tabs()
    with ui.element("div").classes("hr-worksheet"):
        _panels(user, editor, tabs)
        editor.text_area()
    ui.timer(0.0, editor.check, once=True)


def _panels(user: User, editor: Editor, tabs: ui.tabs) -> None:
    with ui.tab_panels(tabs, value=sections()[0].title, animated=False).classes("w-full"):
        editor.panels()
        with ui.tab_panel("Flow diagram").classes("q-px-none"):
            flow = FlowDiagram(user, editor)
        with ui.tab_panel("Advice").classes("q-px-none"):
            advice = Advice(editor)
        with ui.tab_panel("Solve").classes("q-px-none"):
            when_opened(tabs, lambda: SolvePanel(user, editor), "Solve")

    async def follow() -> None:
        if tabs.value == "Flow diagram":
            flow.refresh()
        elif tabs.value == "Advice":
            await advice.refresh()

    tabs.on_value_change(follow)
    editor.on_checked(follow)
