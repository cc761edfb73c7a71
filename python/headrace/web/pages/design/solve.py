"""Search a design that meets a worksheet, as a job."""

from typing import TYPE_CHECKING

from nicegui import run, ui

from headrace._core import ScenarioError
from headrace.web.access.users import User
from headrace.web.command_form import command_fields
from headrace.web.design.catalogues import add_catalogue, catalogue_names
from headrace.web.design.drafts import LARGEST_TEXT, DraftError, draft_name
from headrace.web.design.solving import jobs_of, solve_request
from headrace.web.file_button import file_button
from headrace.web.jobs import RefusedRequest
from headrace.web.layout import heading
from headrace.web.page import submit_and_follow, submit_button
from headrace.web.pages.jobs.words import moment
from headrace.web.site import site
from headrace.web.typed import keep

if TYPE_CHECKING:
    from headrace.web.pages.design.editor import Editor


class SolvePanel:
    """The form of a search, and the earlier searches of the draft."""

    def __init__(self, user: User, editor: "Editor") -> None:
        self._user, self._editor = user, editor
        ui.label(
            "The search enumerates what the catalogue allows, discards what misses a requirement,"
            " simulates the applications on the rest, and chooses the cheapest design."
        )
        with ui.row().classes("items-center"):
            self._catalogue = ui.select(
                catalogue_names(site().settings, user.name),
                label="Catalogue",
                value=editor.catalogue,
                on_change=self._chosen,
            ).props("outlined dense stack-label")
            keep(self._catalogue, "catalogue").classes("min-w-[240px]")
            file_button("Upload a catalogue", self._uploaded, largest=LARGEST_TEXT, props="flat")
        form = site().forms["design", "solve"]
        self._fields = command_fields(form, only=("budget", "seed", "everything"))
        search = submit_button("Search", self._start, icon="search")
        search.classes("q-mt-md")
        earlier = jobs_of(site().jobs, user.name, editor.name)
        if earlier:
            heading("Searches of this worksheet", 3)
            with ui.element("ul"):
                for job in earlier:
                    with ui.element("li"):
                        ui.link(
                            f"{moment(job.created)}: {job.state.value}",
                            f"/design/solutions/{job.id}",
                        )

    async def _chosen(self) -> None:
        self._editor.catalogue = self._catalogue.value
        await self._editor.check()

    async def _uploaded(self, file: str, text: str) -> None:
        owner = self._user.name
        try:
            added = await run.io_bound(
                add_catalogue, site().settings, owner, draft_name(file), text
            )
        except (DraftError, ScenarioError) as error:
            ui.notify(str(error), type="negative", timeout=0, close_button="Close")
            return
        self._catalogue.set_options(catalogue_names(site().settings, owner), value=added)

    async def _start(self) -> None:
        if self._editor.checked.error is not None:
            ui.notify("the worksheet has a mistake: correct it first", type="negative")
            return
        try:
            values = self._fields()
            request = solve_request(
                site().settings,
                self._user.name,
                self._editor.name,
                self._editor.sheet.text,
                self._editor.catalogue,
                values,
            )
            await submit_and_follow(request, self._user, "/design/solutions")
        except RefusedRequest as error:
            self._fields.show_error(error)
        except DraftError as error:
            ui.notify(str(error), type="negative")
