"""The server: pages and the API in one application."""

import os
import secrets
from collections.abc import Callable, Iterable

from fastapi import Response
from nicegui import app, ui
from nicegui.storage import Storage
from starlette.types import ASGIApp

from headrace.store.location import Directory, location
from headrace.web.access.gate import Gate
from headrace.web.access.metrics import CONTENT_TYPE, Metrics
from headrace.web.access.sessions import Sessions
from headrace.web.access.users import UserFile
from headrace.web.api import create_api
from headrace.web.jobs import CommandForm
from headrace.web.page import register
from headrace.web.pages import PAGES
from headrace.web.settings import Settings
from headrace.web.site import open_site


def serve(settings: Settings, forms: Iterable[CommandForm]) -> None:
    """Serve until Ctrl-C or SIGTERM. Jobs go on."""
    users = UserFile(settings.data)
    key = _secret(settings)
    Storage.path = settings.data / "browsers"
    site = open_site(settings, forms)
    register(PAGES)
    app.mount("/api", create_api())
    app.on_startup(site.quick.start)
    app.on_shutdown(site.quick.close)
    app.on_shutdown(site.close)
    # Its bar has no name for screen readers.
    app.config.quasar_config["loadingBar"]["skipHijack"] = True
    metrics = Metrics()
    store = location()
    metrics.add_jobs(site.jobs, store.path if isinstance(store, Directory) else None)
    _show(metrics)
    sessions = Sessions(users, key, settings.data)
    _put_outermost(lambda inner: Gate(inner, settings, users, sessions, metrics))
    tls = settings.tls_certificate is not None
    app.on_startup(lambda: print(_address(settings), flush=True))
    ui.run(
        host=settings.address,
        port=settings.port,
        title="Headrace",
        dark=None,
        language="en-US",
        show=False,
        reload=False,
        show_welcome_message=False,
        storage_secret=key,
        session_middleware_kwargs={"same_site": "strict", "https_only": tls},
        ssl_certfile=settings.tls_certificate,
        ssl_keyfile=settings.tls_key,
        server_header=False,
        timeout_graceful_shutdown=5,
    )


def _show(metrics: Metrics) -> None:
    @app.get("/metrics", include_in_schema=False)
    def show() -> Response:
        return Response(metrics.text(), headers={"content-type": CONTENT_TYPE})


def _put_outermost(layer: Callable[[ASGIApp], ASGIApp]) -> None:
    """Put a layer around the application, outside of what NiceGUI adds when it starts."""
    inner = app.build_middleware_stack
    app.build_middleware_stack = lambda: layer(inner())  # type: ignore[method-assign]


def _secret(settings: Settings) -> str:
    """Return the key that signs cookies: one for each data directory."""
    path = settings.data / "cookie.key"
    settings.data.mkdir(parents=True, exist_ok=True, mode=0o700)
    try:
        new = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    except FileExistsError:
        return path.read_text()
    with open(new, "w") as file:
        file.write(secrets.token_urlsafe(32))
    return path.read_text()


def _address(settings: Settings) -> str:
    scheme = "http" if settings.tls_certificate is None else "https"
    host = f"[{settings.address}]" if ":" in settings.address else settings.address
    return f"{scheme}://{host}:{settings.port}/"
