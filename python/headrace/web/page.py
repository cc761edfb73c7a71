"""Pages and their registration."""

import asyncio
import functools
import inspect
import json
import logging
from collections.abc import Awaitable, Callable, Mapping
from typing import Any
from urllib.parse import urlencode

import msgspec
from fastapi import HTTPException, Request, Response
from fastapi.exception_handlers import http_exception_handler
from nicegui import Client, app, run, ui
from nicegui.events import GenericEventArguments

from headrace.web.access.requests import user_of
from headrace.web.access.users import User
from headrace.web.jobs import JobRequest
from headrace.web.layout import frame
from headrace.web.site import site

RESPONSE_TIMEOUT_S = 60.0
"""Time to build a page, which on a busy machine takes long; status 500 after it."""
_BUILDERS = asyncio.Semaphore(4)
"""Pages that are built at once: some wait for files."""


class Page(msgspec.Struct, frozen=True):
    """A page of the site.

    `build` draws its content within the frame. A route below the page, such as `/jobs/{id}`, has a
    builder of its own, whose parameters after the user are those of the route.
    """

    path: str
    title: str
    icon: str
    """Name of a Material icon."""
    build: Callable[[User], Any]
    routes: Mapping[str, Callable[..., Any]] = {}
    in_navigation: bool = True


class NotThere(LookupError):
    """An address names something that is not there. The text is for the user; status 404."""


log = logging.getLogger("headrace.web")
CONTROL_ENTER = """
document.addEventListener("keydown", (event) => {
  if (event.key !== "Enter" || event.repeat || !(event.ctrlKey || event.metaKey)) return;
  event.preventDefault();
  event.stopPropagation();
  const field = document.activeElement;
  // The value of a field counts when it is left; it is sent after this event.
  if (field?.matches("input")) { field.blur(); field.focus(); }
  setTimeout(() => getHtmlElement(ID)?.click());
}, true);
"""


def submit_button(
    text: str,
    handler: Callable[[], Awaitable[None]],
    *,
    icon: str | None = None,
    has_shortcut: bool = False,
    **options: Any,
) -> ui.button:
    """Draw a button that submits something; with a shortcut Ctrl+Enter and Cmd+Enter press it.

    The second click of a double click would submit it again: it is ignored. While the handler
    works, the button is disabled.
    """
    button = ui.button(text, icon=icon, **options)

    async def handle() -> None:
        button.disable()
        try:
            await handler()
        finally:
            if not button.is_deleted:
                button.enable()

    if has_shortcut:
        ui.run_javascript(CONTROL_ENTER.replace("ID", str(button.id)))
        button.tooltip("Ctrl+Enter")
    button.on("click", handle, [], js_handler="(event) => { if (event.detail < 2) emit(); }")
    return button


def on_typed(
    field: ui.input | ui.textarea, event: str, handler: Callable[[], Awaitable[None]]
) -> None:
    """Call a handler with what is typed into a field in its value, at an event such as `change`.

    The event carries the text. Messages from before the page is connected are sent in any order:
    the field's value can come behind the event.
    """

    async def handle(arguments: GenericEventArguments) -> None:
        field.set_value(arguments.args)
        await handler()

    # Events of the field itself have its value in place of an event.
    field.on(event, handle, js_handler="(event) => emit(event.target?.value ?? event)")


FOLLOW_HISTORY = """
const follow = () => { if (location.search !== window.headraceSearch) location.reload(); };
window.headraceSearch = new URL(performance.getEntriesByType("navigation")[0].name).search;
window.addEventListener("popstate", follow);
follow();
"""
"""Draw a page anew when the browser goes back or forward to another address of it, which may happen
while the page is loaded."""


def follow_history() -> None:
    """Have Back and Forward return to the addresses that `push_address` adds to the history."""
    ui.run_javascript(FOLLOW_HISTORY)


def address_of(path: str, values: Mapping[str, Any]) -> str:
    """Return an address with values that are not empty."""
    query = urlencode({name: value for name, value in values.items() if value})
    return f"{path}?{query}" if query else path


def push_address(path: str, values: Mapping[str, Any]) -> None:
    """Add the address of what a page shows to the browser's history, without empty values."""
    address = json.dumps(address_of(path, values))
    ui.run_javascript(
        f"if (location.pathname + location.search !== {address}) {{"
        f'history.pushState({{}}, "", {address}); window.headraceSearch = location.search; }}'
    )


async def submit_and_follow(request: JobRequest, user: User, page: str = "/jobs") -> None:
    """Submit a job and open its page below `page`. Raises RefusedRequest."""
    job = await run.io_bound(site().jobs.submit, request, user.name)
    # None: the server ends.
    if job is not None:
        ui.navigate.to(f"{page}/{job.id}")


class Address:
    """Address of the page that is shown, whose parameters change without a reload."""

    def __init__(self, path: str, **parameters: str) -> None:
        self._path, self._parameters = path, parameters

    def value(self, name: str) -> str:
        """Return a parameter."""
        return self._parameters.get(name, "")

    def with_values(self, **parameters: str) -> str:
        """Change parameters and return the address, without parameters that are empty."""
        self._parameters |= parameters
        return address_of(self._path, self._parameters)

    def show(self, **parameters: str) -> None:
        """Change parameters in the browser."""
        ui.navigate.history.replace(self.with_values(**parameters))


def current_user() -> User:
    """Return the user of the page that is being built."""
    request = ui.context.client.request
    return user_of(request)


def register(pages: tuple[Page, ...]) -> None:
    """Make the routes of all pages."""
    for page in pages:
        _route(page.path, page, page.build, pages)
        for path, build in page.routes.items():
            _route(path, page, build, pages)

    @app.exception_handler(404)
    async def unknown(request: Request, error: HTTPException) -> Response:
        if request.scope.get("endpoint") is not None:
            # Of a route that is no page.
            return await http_exception_handler(request, error)
        log.warning("%s not found", request.url)
        start = pages[0]
        nowhere = Page("", "No such page", "", start.build)
        with (
            Client(ui.page("", title=f"{nowhere.title} - Headrace"), request=request) as client,
            frame(nowhere, pages, user_of(request)),
        ):
            _missing(f"There is no page {request.url.path}.", start)
        return client.build_response(request, 404)


def _route(path: str, page: Page, build: Callable[..., Any], pages: tuple[Page, ...]) -> None:
    parameters = list(inspect.signature(build).parameters.values())[1:]

    @functools.wraps(build)
    async def shown(**values: Any) -> None:
        user = current_user()
        # Pages that are built in turns would all be ready at the end.
        async with _BUILDERS:
            with frame(page, pages, user):
                try:
                    drawn = build(user, **values)
                    if inspect.isawaitable(drawn):
                        await drawn
                except NotThere as error:
                    _missing(str(error), page)
                    ui.context.client.status_code = 404

    # FastAPI reads the parameters of the route from the signature.
    shown.__signature__ = inspect.Signature(parameters)  # type: ignore[attr-defined]
    title = f"{page.title} - Headrace"
    ui.page(path, title=title, response_timeout=RESPONSE_TIMEOUT_S)(shown)


def _missing(message: str, back: Page) -> None:
    ui.label(message).props('role="alert"')
    ui.link(f"Back to {back.title}", back.path)
