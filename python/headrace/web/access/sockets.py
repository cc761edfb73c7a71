"""Event sockets of pages: each reaches the pages of its own session only.

NiceGUI delivers an event from any socket to the page whose identifier the message names.
"""

from collections.abc import Awaitable, Callable
from inspect import isawaitable
from typing import Any
from urllib.parse import parse_qs

from nicegui import Client, core
from socketio.exceptions import ConnectionRefusedError  # type: ignore[import-untyped]

from headrace.web.access.requests import SESSION

OF_A_PAGE = ("handshake", "event", "javascript_response", "ack", "log")
"""Events whose message names a page."""


def bind_to_sessions() -> None:
    """Reject events of a socket for pages of other sessions."""
    handlers = core.sio.handlers["/"]
    for event in OF_A_PAGE:
        core.sio.on(event, _bound(handlers[event]))
    core.sio.on("connect", _bound_connect(handlers["connect"]))


def is_own_page(sid: str, message: object) -> bool:
    """Return whether a message of a socket names a page of the socket's session."""
    page = message.get("client_id") if isinstance(message, dict) else None
    environment = core.sio.get_environ(sid)
    return environment is not None and is_page_of(page, environment["asgi.scope"].get(SESSION))


def is_page_of(page: object, session: str | None) -> bool:
    """Return whether a page with this identifier is open in a session."""
    client = Client.instances.get(page) if isinstance(page, str) else None
    if client is None or client.request is None or session is None:
        return False
    return bool(client.request.scope.get(SESSION) == session)


def _bound(handler: Callable[..., Any]) -> Callable[..., Awaitable[Any]]:
    async def handle(sid: str, message: Any) -> Any:
        if not is_own_page(sid, message):
            return False
        result = handler(sid, message)
        return await result if isawaitable(result) else result

    return handle


def _bound_connect(handler: Callable[..., Any]) -> Callable[..., Awaitable[Any]]:
    """Return a handler without the handshake in the address of the connection, which names a
    page."""

    async def handle(sid: str, environment: dict[str, Any], _authentication: Any = None) -> Any:
        query = environment.get("QUERY_STRING", "")
        if "implicit_handshake=true" in query:
            message = {key: values[0] for key, values in parse_qs(query).items()}
            if not is_own_page(sid, message):
                # As NiceGUI says it of a page that it does not know: the browser loads it again.
                raise ConnectionRefusedError("Implicit handshake failed")
        result = handler(sid, environment)
        return await result if isawaitable(result) else result

    return handle
