"""Nets: an example or one's own is opened, checked, run and played."""

from typing import Any
from urllib.parse import urlencode

from nicegui import run, ui

from headrace.render.echarts import Series
from headrace.simulate.examples import NETS, examples
from headrace.web.access.users import User
from headrace.web.charts import Chart
from headrace.web.design.drafts import DraftError, Drafts
from headrace.web.draft_list import DraftList
from headrace.web.draft_saver import DraftSaver
from headrace.web.layout import heading
from headrace.web.net_view import NetView
from headrace.web.page import Address, NotThere, Page, submit_button
from headrace.web.quick_run import Work
from headrace.web.quick_worker import QuickAnswer
from headrace.web.site import site
from headrace.web.tables import show_table
from headrace.web.toml_editor import TomlEditor
from headrace.web.typed import keep

PAUSE_S = 0.5
"""Seconds without a key before the text is saved and checked."""
FIRST = "monitored-queue"
"""Example that is open at first: it has monitors."""
STYLE = """
.hr-nets { display: grid; gap: 16px; width: 100%;
  grid-template-columns: minmax(0, 2fr) minmax(0, 3fr); }
@media (max-width: 900px) {
  .hr-nets { grid-template-columns: minmax(0, 1fr); }
}
"""


async def build(user: User, example: str = "", draft: str = "") -> None:
    """Draw the editor with a draft or an example, what is known of it, and the user's drafts."""
    ui.add_css(STYLE)
    shipped = {each.name: each for each in examples(NETS)}
    if (source := example or FIRST) not in shipped:
        raise NotThere(f"There is no net {source}.")
    text = shipped[source].text
    if draft:
        try:
            drafts = Drafts(site().settings, "nets")
            text = await run.io_bound(drafts.text, user.name, draft) or ""
        except DraftError as error:
            ui.label(str(error)).props('role="alert"').classes("text-negative")
            draft = ""
    titles = {name: f"{each.title}: {each.description}" for name, each in shipped.items()}
    ui.select(
        titles,
        label="Open an example",
        value=None if draft else source,
        on_change=lambda event: ui.navigate.to(f"/nets?{urlencode({'example': event.value})}"),
    ).props("outlined dense stack-label").classes("w-full")
    address = Address("/nets", draft=draft, example=example)
    Nets(user, text, address, shipped[source].text)
    heading("Drafts")
    await DraftList(user, "nets", lambda name: f"/nets?{urlencode({'draft': name})}").refresh()


class Nets:
    """The text of a net beside its drawing, its figures and its play."""

    def __init__(self, user: User, text: str, address: Address, source: str) -> None:
        self._client = ui.context.client.id
        with ui.row().classes("items-end"):
            fields = (
                ("until", "End, such as 100 s", ""),
                ("replications", "Runs", ""),
                ("seed", "Seed", "1"),
                ("steps", "Firings to play", "100"),
            )
            self._fields = {
                name: keep(ui.input(label, value=value).classes("w-36"), name)
                for name, label, value in fields
            }
            submit_button("Run", self._run, icon="play_arrow", has_shortcut=True)
            submit_button("Play", self._play, icon="directions_run")
        self._state = ui.label("").props('role="status" data-testid="state"').classes("q-my-sm")
        self._wrong = ui.label("").props('role="alert" data-testid="error"')
        self._wrong.classes("text-negative whitespace-pre-line").set_visibility(False)
        with ui.element("div").classes("hr-nets"):
            self._editor = TomlEditor(text, "Net (TOML)", "net.toml", self._typed)
            with ui.element("section").props('aria-label="Net"').classes("min-w-0"):
                self._net = ui.element("div").classes("w-full")
        self._saver = DraftSaver(
            user,
            "nets",
            lambda name: address.with_values(draft=name),
            self._editor,
            address.value("draft"),
            "net",
            source,
        )
        self._figures = ui.element("div").classes("w-full")
        ui.timer(0.0, self._check, once=True)

    async def _ask(self, work: Work) -> Any:
        """Return the answer to a request, or None after showing why there is none."""
        text = self._editor.text
        sets = [f"{name}={field.value or ''}" for name, field in self._fields.items()]
        answer = await site().quick.ask(work, text, sets, page=self._client)
        if answer.superseded or text != self._editor.text:
            return None
        self._show_error(answer)
        return answer.result

    async def _typed(self) -> None:
        if await self._saver.follow(PAUSE_S):
            await self._check()

    async def _check(self) -> None:
        checked = await self._ask("net-check")
        if checked is None:
            return
        held = "".join(f" Always {fact}." for fact in checked["always"])
        self._state.text = f"The net {checked['name']} is correct.{held}"
        self._draw(checked["element"])
        self._figures.clear()

    async def _run(self) -> None:
        self._state.text = "The net runs."
        answer = await self._ask("net-run")
        if answer is None:
            return
        self._state.text = "; ".join(answer["end"])
        self._draw(answer["element"])
        self._figures.clear()
        with self._figures:
            if answer["curves"]:
                heading("Monitors over time")
                for name, curve in answer["curves"].items():
                    _chart(name, curve)
            heading("Figures")
            for table in answer["tables"]:
                show_table(table["title"], table["columns"], table["rows"])

    async def _play(self) -> None:
        self._state.text = "The net is played."
        answer = await self._ask("net-play")
        if answer is not None:
            self._state.text = "Play, or step with the arrow keys."
            self._draw(answer["element"])

    def _draw(self, element: str) -> None:
        self._net.clear()
        with self._net:
            NetView(element)

    def _show_error(self, answer: QuickAnswer) -> None:
        error = answer.error
        self._wrong.set_visibility(error is not None)
        self._wrong.text = self._editor.show_error(error)
        if error is not None:
            self._state.text = ""


def _chart(name: str, curve: dict[str, list[float | None]]) -> None:
    """Draw a monitor over time, with the ends of its 95 % interval if there are several runs."""
    time, mean, half = curve["time_s"], curve["mean"], curve["half_width"]
    series = [Series(name, time, mean)]
    if any(value is not None for value in half):
        for sign, end in ((-1, "lower"), (1, "upper")):
            bound = [
                None if value is None else value + sign * (width or 0.0)
                for value, width in zip(mean, half, strict=True)
            ]
            series.append(Series(f"{end} end of the 95 % interval", time, bound))
    Chart(name, "simulated time (s)", "value", series, height=260)


PAGE = Page("/nets", "Nets", "schema", build)
