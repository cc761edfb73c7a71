"""Worksheets: the ways to start one, and the user's own."""

from functools import partial
from urllib.parse import quote

from nicegui import ui

from headrace.design import forms
from headrace.web.access.users import User
from headrace.web.design.drafts import LARGEST_TEXT, DraftError, Drafts, draft_name
from headrace.web.design.sheet import EMPTY
from headrace.web.draft_list import DraftList
from headrace.web.figure_dialog import STYLE
from headrace.web.file_button import file_button
from headrace.web.layout import heading
from headrace.web.site import site

EXAMPLES = {
    "lab": "a research lab of 20 TB",
    "video": "a video workshop",
    "hpc": "an HPC centre of 1 PB",
}


async def build(user: User) -> None:
    """Draw the list of worksheets and the ways to start one."""
    await WorksheetStart(user).drafts.refresh()


class WorksheetStart:
    """The ways to start a worksheet, and the user's worksheets."""

    def __init__(self, user: User) -> None:
        self._user = user
        ui.add_css(STYLE)
        ui.label(
            "Describe what a storage system must do. Headrace recommends how to build it, and"
            " searches the cheapest design that does it."
        )
        ui.link("Calculators of capacity, reliability, power and cost", "/design/calculators")
        heading("Start a worksheet")
        with ui.row().classes("items-center"):
            ui.button("Empty worksheet", icon="note_add", on_click=self._start_empty)
            for name in forms.examples():
                button = ui.button(f"Example {name}", on_click=partial(self._start, name))
                button.props("outline").tooltip(EXAMPLES.get(name, ""))
            file_button("Upload TOML", self._uploaded, largest=LARGEST_TEXT)
        heading("Your worksheets")
        self.drafts = DraftList(user, "worksheets", address)

    def _start_empty(self) -> None:
        self._create("worksheet", EMPTY)

    def _start(self, example: str) -> None:
        self._create(example, forms.example(example))

    def _create(self, name: str, text: str) -> None:
        try:
            created = Drafts(site().settings).create(self._user.name, name, text)
        except DraftError as error:
            ui.notify(str(error), type="negative")
            return
        ui.navigate.to(address(created))

    def _uploaded(self, name: str, text: str) -> None:
        self._create(draft_name(name), text)


def address(name: str) -> str:
    """Return the address of a worksheet's page."""
    return f"/design/drafts/{quote(name)}"
