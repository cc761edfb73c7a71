"""All hosts with their states."""

from urllib.parse import quote

from nicegui import run, ui

from headrace.monitors.service import HostStatus
from headrace.web.access.permissions import Action, Kind, is_allowed
from headrace.web.access.users import User
from headrace.web.layout import heading
from headrace.web.pages.monitors.events import EventTable
from headrace.web.pages.monitors.words import STYLE, clock_text, facts_text, seen_text, state_icon
from headrace.web.site import site
from headrace.web.typed import keep

EVERY_S = 2.0
GRID = (
    "grid-template-columns: repeat(auto-fill, minmax(min(100%, 320px), 1fr));"
    "list-style: none; padding: 0; margin: 0"
)


async def hosts(user: User) -> None:
    """Draw all hosts and the newest events."""
    ui.add_css(STYLE)
    problem = ui.label().props('role="alert"').classes("text-negative")
    drawn = ui.element("ul").classes("w-full grid gap-3").style(GRID)
    cards: dict[tuple[object, ...], HostCard] = {}
    none = ui.label("No host is monitored: add an agent below.")
    heading("Changes of states")
    events = EventTable()

    async def refresh() -> None:
        problem.set_text(site().monitors.problem)
        problem.set_visibility(bool(site().monitors.problem))
        known = site().monitors.hosts()
        none.set_visibility(not known)
        named = {(host.name, host.url, host.from_options): host for host in known}
        if named.keys() != cards.keys():
            drawn.clear()
            with drawn:
                cards.clear()
                cards.update({key: HostCard(value, user) for key, value in named.items()})
        for key, card in named.items():
            cards[key].show(card)
        events.show(await run.io_bound(site().monitors.history.events) or [])

    heading("Rules")
    ui.link("Rules of the states", "/monitors/rules")
    _adding(user, refresh)
    await refresh()
    ui.timer(EVERY_S, refresh)


class HostCard:
    """The card of a host.

    Its link and its button stay when the state changes: they may be clicked meanwhile.
    """

    def __init__(self, host: HostStatus, user: User) -> None:
        self._shown: HostStatus | None = None
        with ui.element("li"), ui.card().props("flat bordered").classes("h-full w-full gap-1"):
            with ui.row().classes("items-center no-wrap w-full"):
                ui.link(host.name, f"/monitors/host/{quote(host.name, safe='')}").classes("text-lg")
                ui.space()
                self._state = ui.row().classes("items-center no-wrap")
            self._lines = ui.column().classes("gap-1")
            removable = is_allowed(user, Action.REMOVE, Kind.AGENT)
            if removable and host.url is not None and not host.from_options:
                button = ui.button("Remove", icon="delete", on_click=lambda: _remove(host.name))
                button.props(f'flat dense aria-label="Remove {host.name}"')

    def show(self, host: HostStatus) -> None:
        """Show the host as it is now."""
        if host == self._shown:
            return
        self._shown = host
        self._state.clear()
        with self._state:
            state_icon(host.state)
            ui.label(host.state).classes("text-subtitle1")
        self._lines.clear()
        with self._lines:
            for reason in host.reasons:
                ui.label(reason).classes("text-body2")
            lines = [seen_text(host), facts_text(host), clock_text(host)]
            if host.is_local:
                lines.append("the host of this server")
            if host.url is not None:
                lines.append(host.url)
            for line in filter(None, lines):
                ui.label(line).classes("text-caption").style("overflow-wrap: anywhere")


async def _remove(name: str) -> None:
    with ui.dialog() as dialog, ui.card():
        ui.label(f"Stop asking {name} and remove its history?")
        with ui.row():
            ui.button("Remove it", on_click=lambda: dialog.submit(True))
            ui.button("Keep it", on_click=dialog.close).props("flat")
    if not await dialog:
        return
    try:
        await run.io_bound(site().monitors.remove_agent, name, with_history=True)
    except ValueError as error:
        ui.notify(str(error), type="negative")


def _adding(user: User, refresh: object) -> None:
    heading("Add a host")
    ui.label(
        "Run headrace agent install HOST, or headrace agent on the host. The token is saved in the"
        " server's data directory and not shown again."
    )
    if not is_allowed(user, Action.CREATE, Kind.AGENT):
        ui.label("Only operators add hosts.")
        return
    with ui.row().classes("items-start w-full"):
        url = ui.input("URL", placeholder="http://node1:8181").props("outlined dense stack-label")
        keep(url, "url")
        name = ui.input("Name").props('outlined dense stack-label hint="By default its host name"')
        keep(name, "name")
        token = ui.input("Token", password=True).props(
            "outlined dense stack-label autocomplete=off"
        )

        async def add() -> None:
            message.set_text("")
            try:
                await run.io_bound(
                    site().monitors.add_agent, str(url.value), str(token.value), str(name.value)
                )
            except (ValueError, OSError) as error:
                message.set_text(str(error))
                return
            for field in (url, name, token):
                field.set_value("")

        ui.button("Add", icon="add", on_click=add)
    message = ui.label().props('role="alert"').classes("text-negative")
