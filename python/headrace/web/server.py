"""The server: pages and the API in one application."""

import errno
import logging
import os
import socket
import ssl
from collections.abc import Callable, Iterable
from functools import lru_cache
from types import MethodType

import msgspec
from fastapi import Response
from nicegui import app, core, helpers, ui
from nicegui.storage import Storage
from starlette.types import ASGIApp

from headrace.confined import limit_documents
from headrace.plain_text import plain_line
from headrace.simulate.trust import VARIABLE
from headrace.store.location import Directory, location
from headrace.web.access.gate import Gate
from headrace.web.access.metrics import CONTENT_TYPE, Metrics
from headrace.web.access.sessions import Sessions
from headrace.web.access.sockets import bind_to_sessions
from headrace.web.access.users import UserFile, secret
from headrace.web.api import create_api
from headrace.web.jobs import CommandForm
from headrace.web.page import register
from headrace.web.pages import PAGES
from headrace.web.settings import Settings
from headrace.web.site import open_site

RECONNECT_S = 30.0
"""Seconds for which the server keeps the state of a page that has lost its connection. A page that
comes back later is reloaded; `typed.js` has what its user had entered."""
PING_S = 4.0
"""Seconds between two tests of a connection. With them a page notices that its user is removed."""
PONG_S = 20.0
"""Seconds after which a page that does not answer is cut off: a busy machine takes long."""


def serve(settings: Settings, forms: Iterable[CommandForm]) -> None:
    """Serve until Ctrl-C or SIGTERM. Jobs go on.

    Raises ValueError if the address, the certificate or a file in the data directory cannot be
    used.
    """
    logging.setLogRecordFactory(PlainRecord)
    # Pages check documents in this process, which can open any file.
    limit_documents(map(str, settings.directories), code=False)
    # What the operator trusts on the command line does not hold for users.
    os.environ.pop(VARIABLE, None)
    _check_certificate(settings)
    # Open until the end, so that nobody else is given the port.
    reserved = reserve_port(settings)
    app.on_shutdown(reserved.close)
    settings = msgspec.structs.replace(settings, port=reserved.getsockname()[1])
    users = UserFile(settings.data, settings.local_token)
    Storage.path = settings.data / "browsers"
    site = open_site(settings, forms)
    # The data directory is locked for this server now.
    key = secret(settings.data / "cookie.key")
    register(PAGES)
    app.mount("/api", create_api())
    app.on_startup(site.quick.start)
    app.on_shutdown(site.quick.close)
    app.on_shutdown(site.calculations.close)
    app.on_shutdown(site.close)
    # Its bar has no name for screen readers.
    app.config.quasar_config["loadingBar"]["skipHijack"] = True
    metrics = Metrics()
    store = location()
    metrics.add_jobs(site.jobs, store.path if isinstance(store, Directory) else None)
    _show(metrics)
    sessions = Sessions(users, key, settings.data)
    bind_to_sessions()
    _put_outermost(lambda inner: Gate(inner, settings, users, sessions, metrics))
    tls = settings.tls_certificate is not None
    app.on_startup(_be_patient)
    _remember_signatures()
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
        proxy_headers=bool(settings.proxies),
        forwarded_allow_ips=list(settings.proxies),
        timeout_graceful_shutdown=5,
        reconnect_timeout=RECONNECT_S,
    )


def _remember_signatures() -> None:
    """Let NiceGUI read the signature of a method once: it does so three times an element."""
    ask = helpers.expects_arguments
    of_method = lru_cache(1024)(lambda method: ask(MethodType(method, app)))

    def expects_arguments(func: Callable[..., object]) -> bool:
        method = getattr(func, "__func__", None)
        return ask(func) if method is None else of_method(method)

    helpers.expects_arguments = expects_arguments


def _be_patient() -> None:
    """Set how often a connection is tested, and how long the answer may take."""
    # NiceGUI would derive both from the time to reconnect.
    core.sio.eio.ping_interval = PING_S
    core.sio.eio.ping_timeout = PONG_S


def _show(metrics: Metrics) -> None:
    @app.get("/metrics", include_in_schema=False)
    def show() -> Response:
        return Response(metrics.text(), headers={"content-type": CONTENT_TYPE})


def _put_outermost(layer: Callable[[ASGIApp], ASGIApp]) -> None:
    """Put a layer around the application, outside of what NiceGUI adds when it starts."""
    inner = app.build_middleware_stack
    app.build_middleware_stack = lambda: layer(inner())  # type: ignore[method-assign]


class PlainRecord(logging.LogRecord):
    """A line of the log in which nothing steers a terminal: paths of requests are in it."""

    def getMessage(self) -> str:
        """Return the message in one line, with control characters as escapes."""
        return plain_line(super().getMessage())


def reserve_port(settings: Settings) -> socket.socket:
    """Return a socket that reserves the port to listen on; a free one if port 0 is wanted.

    It does not listen: another socket that may reuse the address can.

    Raises ValueError if the address or the port cannot be used.
    """
    place = f"{settings.address}:{settings.port}"
    try:
        family, kind, protocol, _, address = socket.getaddrinfo(
            settings.address, settings.port, type=socket.SOCK_STREAM, flags=socket.AI_PASSIVE
        )[0]
        reserved = socket.socket(family, kind, protocol)
        try:
            reserved.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            reserved.bind(address)
        except OSError:
            reserved.close()
            raise
        return reserved
    except (OSError, UnicodeError) as error:
        taken = isinstance(error, OSError) and error.errno in (errno.EADDRINUSE, errno.EACCES)
        reason = error.strerror if isinstance(error, OSError) else str(error)
        raise ValueError(
            f"{place}: {(reason or str(error)).lower()}: expected another"
            f" {'--port' if taken else '--address'}"
        ) from None


def _check_certificate(settings: Settings) -> None:
    certificate, key = settings.tls_certificate, settings.tls_key
    if certificate is None or key is None:
        return
    try:
        # Without a password OpenSSL would ask for one.
        ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER).load_cert_chain(certificate, key, password="")
    except OSError as error:
        raise ValueError(
            f"--tls-cert {certificate}, --tls-key {key}: expected a certificate chain and its key"
            f" without password, in PEM: {error.strerror or error}"
        ) from None


def _address(settings: Settings) -> str:
    scheme = "http" if settings.tls_certificate is None else "https"
    host = f"[{settings.address}]" if ":" in settings.address else settings.address
    token = f"?token={settings.local_token}" if settings.local_token is not None else ""
    return f"{scheme}://{host}:{settings.port}/{token}"
