"""Pages and their registration."""

from collections.abc import Awaitable, Callable, Mapping
from typing import Any

import msgspec
from nicegui import run, ui
from nicegui.events import GenericEventArguments

from headrace.web.access.requests import user_of
from headrace.web.access.users import User
from headrace.web.jobs import JobRequest
from headrace.web.layout import frame
from headrace.web.site import site

RESPONSE_TIMEOUT_S = 60.0
"""Time to build a page, which on a busy machine takes long; status 500 after it."""


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


def submit_button(
    text: str, handler: Callable[[], Awaitable[None]], *, icon: str | None = None, **options: Any
) -> ui.button:
    """Draw a button that submits something.

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


async def submit_and_follow(request: JobRequest, user: User, page: str = "/jobs") -> None:
    """Submit a job and open its page below `page`. Raises RefusedRequest."""
    job = await run.io_bound(site().jobs.submit, request, user.name)
    # None: the server ends.
    if job is not None:
        ui.navigate.to(f"{page}/{job.id}")


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


def _route(path: str, page: Page, build: Callable[..., Any], pages: tuple[Page, ...]) -> None:
    import functools
    import inspect

    parameters = list(inspect.signature(build).parameters.values())[1:]

    @functools.wraps(build)
    async def shown(**values: Any) -> None:
        user = current_user()
        with frame(page, pages, user):
            drawn = build(user, **values)
            if inspect.isawaitable(drawn):
                await drawn

    # FastAPI reads the parameters of the route from the signature.
    shown.__signature__ = inspect.Signature(parameters)  # type: ignore[attr-defined]
    title = f"{page.title} - Headrace"
    ui.page(path, title=title, response_timeout=RESPONSE_TIMEOUT_S)(shown)
