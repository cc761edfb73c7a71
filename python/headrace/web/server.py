"""The server: pages and the API in one application."""

import secrets
from collections.abc import Iterable

from nicegui import app, ui

from headrace.web.api import create_api
from headrace.web.jobs import CommandForm
from headrace.web.page import register
from headrace.web.pages import PAGES
from headrace.web.settings import Settings
from headrace.web.site import open_site


def serve(settings: Settings, forms: Iterable[CommandForm]) -> None:
    """Serve until Ctrl-C or SIGTERM. Jobs go on."""
    site = open_site(settings, forms)
    register(PAGES)
    app.mount("/api", create_api())
    app.on_shutdown(site.close)
    ui.run(
        host=settings.address,
        port=settings.port,
        title="Headrace",
        dark=None,
        show=False,
        reload=False,
        show_welcome_message=False,
        storage_secret=_secret(settings),
    )


def _secret(settings: Settings) -> str:
    """Return the key that signs cookies: one for each data directory."""
    path = settings.data / "cookie.key"
    if not path.exists():
        settings.data.mkdir(parents=True, exist_ok=True, mode=0o700)
        path.touch(mode=0o600)
        path.write_text(secrets.token_urlsafe(32))
    return path.read_text()
