"""The outermost layer of the server: who asks, from where, how often and how much.

It is around everything: pages, their websocket, the API, uploads and static files. A request that
passes has its user in `scope["headrace.user"]`.
"""

import logging
import math
import time
from collections.abc import Callable
from contextlib import suppress
from hashlib import sha256
from urllib.parse import quote

from starlette.datastructures import Headers
from starlette.requests import ClientDisconnect, HTTPConnection
from starlette.responses import JSONResponse, PlainTextResponse, RedirectResponse, Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from headrace.addresses import is_loopback
from headrace.web.access.headers import SAFE, is_cross_site, is_expected_host, secured
from headrace.web.access.login import form_values, local_path, login_page, same_site_page
from headrace.web.access.metrics import Metrics
from headrace.web.access.rate_limits import Failures, RequestRate
from headrace.web.access.requests import SESSION
from headrace.web.access.sessions import AGE_S, Sessions
from headrace.web.access.sockets import is_page_of
from headrace.web.access.users import LOCAL, DamagedUsers, Entry, User, UserFile
from headrace.web.settings import Settings

BODY = 8 << 20
"""Bytes of a request's body that is no upload."""
FORM = 16 << 10
"""Bytes of the login form."""
ENVELOPE = 1 << 20
"""Bytes around the files of an upload."""
STATIC = "/_nicegui/"
OF_A_PAGE = "/_nicegui/client/"
"""Beginning of paths that belong to one page, whose identifier follows."""
UPLOADS = ("/api/files", OF_A_PAGE)
NOTICE_S = 2.0
"""Seconds after which a websocket notices that its session has ended."""

log = logging.getLogger("headrace.web.access")


class Gate:
    """The middleware. `settings.needs_login` says whether users log in."""

    def __init__(
        self,
        app: ASGIApp,
        settings: Settings,
        users: UserFile,
        sessions: Sessions,
        metrics: Metrics,
    ) -> None:
        self._app, self._settings, self._users = app, settings, users
        self._sessions, self._metrics = sessions, metrics
        self._tls = settings.tls_certificate is not None
        self._cookie = f"{'__Host-' if self._tls else ''}headrace-{settings.port}"
        self._rate = RequestRate(settings.limits.requests)
        self._failed_addresses, self._failed_names = Failures(20), Failures(50)
        # Behind a reverse proxy users log in, and the name is the proxy's.
        alone = settings.local_token is not None or not settings.needs_login
        self._loopback = is_loopback(settings.address) and alone
        self._local_name = LOCAL if settings.local_token is not None else ""
        self._names = {name.lower() for name in settings.host_names}

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer a request, or pass it on."""
        if scope["type"] == "lifespan":
            await self._app(scope, receive, send)
        elif scope["type"] == "http":
            await self._http(scope, receive, send)
        elif scope["type"] == "websocket":
            await self._websocket(scope, receive, send)

    async def _http(self, scope: Scope, receive: Receive, send: Send) -> None:
        started, status = time.perf_counter(), 500
        no_store = self._settings.needs_login and not scope["path"].startswith(STATIC)

        async def with_headers(message: Message) -> None:
            nonlocal status
            if message["type"] == "http.response.start":
                status = message["status"]
                headers = secured(message.get("headers", ()), self._tls)
                if no_store and not any(name == b"cache-control" for name, _ in headers):
                    headers.append((b"cache-control", b"no-store"))
                message = {**message, "headers": headers}
            await send(message)

        try:
            try:
                answer = await self._answer(scope, receive)
            except DamagedUsers as error:
                log.error("%s", error)
                answer = _error(503, "the file of users is damaged: the server's log says how")
            if answer is not None:
                await answer(scope, receive, with_headers)
            else:
                await self._limited(scope, receive, with_headers)
        finally:
            self._metrics.request(scope["method"], status, time.perf_counter() - started)

    async def _answer(self, scope: Scope, receive: Receive) -> Response | None:
        """Return the gate's own answer; None to pass the request on, with its user."""
        connection = HTTPConnection(scope)
        headers, path, method = connection.headers, scope["path"], scope["method"]
        refused = self._foreign(scope, headers, method)
        if refused is not None:
            return refused
        if path == "/healthz":
            return PlainTextResponse("ok\n")
        if path in ("/login", "/logout"):
            return await self._log_in_or_out(connection, receive)
        address = connection.client.host if connection.client else ""
        if (answer := self._with_link(connection, address)) is not None:
            return answer
        user, token_failed = self._user(connection, address)
        if user is None:
            return self._unknown(connection, address, token_failed)
        if not path.startswith(STATIC) or path.startswith(UPLOADS):
            wait = self._rate.wait(user.name)
            if wait:
                return _too_many(f"{user.name} sends too many requests", wait)
        scope["headrace.user"] = user
        scope[SESSION] = self._session_name(connection)
        page = path.removeprefix(OF_A_PAGE).partition("/")[0]
        if path.startswith(OF_A_PAGE) and not is_page_of(page, scope[SESSION]):
            return _error(404, "there is no such page in this session")
        return None

    def _with_link(self, connection: HTTPConnection, address: str) -> Response | None:
        """Log in who comes by the link that the server prints, `/?token=TOKEN`."""
        token = connection.query_params.get("token")
        scope = connection.scope
        if token is None or scope["path"] != "/" or scope["method"] != "GET":
            return None
        if not self._settings.needs_login:
            return RedirectResponse("/", 303)
        entry = self._users.with_token(token)
        if entry is None:
            self._failed(address)
            message = "The token of the link is wrong: use the link that headrace serve prints."
            return login_page("/", message, self._local_name, 401)
        return self._logged_in(connection, entry, "/")

    def _session_name(self, connection: HTTPConnection) -> str:
        """Return what tells the session of a connection from all others."""
        given = (connection.headers.get("authorization"), connection.cookies.get(self._cookie))
        return sha256(repr(given if self._settings.needs_login else None).encode()).hexdigest()

    def _foreign(self, scope: Scope, headers: Headers, method: str) -> Response | None:
        if not is_expected_host(headers, self._names, self._loopback):
            self._metrics.refused("host")
            return _error(403, "the Host header names another server: headrace serve --host-name")
        websocket = scope["path"].startswith("/_nicegui_ws/")
        if is_cross_site(method, scope["path"], headers, websocket):
            self._metrics.refused("cross-site")
            return _error(403, "the request comes from a page of another site")
        return None

    def _user(self, connection: HTTPConnection, address: str) -> tuple[User | None, bool]:
        """Return the user, and whether a token was given that is none."""
        if not self._settings.needs_login:
            return User(LOCAL, operator=True), False
        kind, _, token = connection.headers.get("authorization", "").partition(" ")
        if kind.lower() == "bearer":
            # First the token: a guess of someone else with this address must not keep its holder
            # out. It has 256 random bits, and limiting guesses adds nothing to that.
            entry = self._users.with_token(token.strip())
            if entry is None:
                self._failed(address)
            return (None, True) if entry is None else (entry.user, False)
        entry = self._session(connection)
        return (None if entry is None else entry.user), False

    def _session(self, connection: HTTPConnection) -> Entry | None:
        cookie = connection.cookies.get(self._cookie)
        return None if cookie is None else self._sessions.entry(cookie)

    def _failed(self, address: str, name: str | None = None) -> None:
        self._metrics.failed_login()
        self._failed_addresses.add(address)
        if name is not None:
            self._failed_names.add(name)

    def _unknown(self, connection: HTTPConnection, address: str, token_failed: bool) -> Response:
        """Return the answer to a request without a user."""
        path, headers = connection.scope["path"], connection.headers
        wait = self._failed_addresses.wait(address)
        if token_failed and wait:
            return _too_many("too many failed logins", wait)
        page = connection.scope["method"] in ("GET", "HEAD") and not path.startswith(
            ("/api/", "/metrics", "/_nicegui")
        )
        if not page or token_failed:
            return _error(401, "log in, or send Authorization: Bearer TOKEN", bearer=True)
        query = connection.scope["query_string"].decode("latin-1")
        target = quote(path, safe="/") + (f"?{query}" if query else "")
        if headers.get("sec-fetch-site") == "cross-site":
            return same_site_page(target)
        there = "/login" if target == "/" else f"/login?next={quote(target, safe='')}"
        return RedirectResponse(there, 303)

    async def _log_in_or_out(self, connection: HTTPConnection, receive: Receive) -> Response:
        method, path = connection.scope["method"], connection.scope["path"]
        if not self._settings.needs_login:
            return RedirectResponse("/", 303)
        if path == "/logout":
            return self._log_out(connection) if method == "POST" else RedirectResponse("/", 303)
        if method in SAFE:
            target = connection.query_params.get("next", "/")
            if self._session(connection) is not None:
                return RedirectResponse(local_path(target), 303)
            return login_page(target, name=self._local_name)
        if method != "POST":
            return _error(405, "expected GET or POST")
        values = form_values(await _body(receive, FORM))
        return self._log_in(connection, values)

    def _log_in(self, connection: HTTPConnection, values: dict[str, str]) -> Response:
        name, target = values.get("name", "")[:64].strip(), values.get("next", "/")
        address = connection.client.host if connection.client else ""
        # First the token, as for a request with it.
        entry = self._users.with_token(values.get("token", "").strip())
        if entry is None or entry.name != name:
            wait = max(self._failed_addresses.wait(address), self._failed_names.wait(name))
            self._failed(address, name)
            if wait:
                text = f"The login failed too often. Wait {math.ceil(wait)} s."
                page = login_page(target, text, name, 429)
                page.headers["retry-after"] = str(math.ceil(wait))
                return page
            return login_page(target, "There is no such user, or the token is wrong.", name, 401)
        return self._logged_in(connection, entry, local_path(target))

    def _logged_in(self, connection: HTTPConnection, entry: Entry, target: str) -> Response:
        """Start a session, and lead to a path of this server."""
        self._end_session(connection)
        answer = RedirectResponse(target, 303)
        answer.set_cookie(
            self._cookie,
            self._sessions.start(entry),
            max_age=AGE_S,
            # A reverse proxy says by X-Forwarded-Proto that it has TLS.
            secure=self._tls or connection.scope["scheme"] == "https",
            httponly=True,
            samesite="strict",
        )
        # The browser's storage of the pages is another's.
        answer.delete_cookie("session")
        return answer

    def _log_out(self, connection: HTTPConnection) -> Response:
        self._end_session(connection)
        answer = RedirectResponse("/login", 303)
        answer.delete_cookie(self._cookie, secure=self._tls, httponly=True, samesite="strict")
        answer.delete_cookie("session")
        return answer

    def _end_session(self, connection: HTTPConnection) -> None:
        cookie = connection.cookies.get(self._cookie)
        if cookie is not None:
            self._sessions.end(cookie)

    async def _limited(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass a request on with a limited body."""
        upload = scope["path"].startswith(UPLOADS)
        most = self._settings.limits.upload + ENVELOPE if upload else BODY
        given = Headers(scope=scope).get("content-length", "0")
        too_large = _error(413, f"the body is larger than {most:,} bytes")
        if not given.isdigit() or int(given) > most:
            await too_large(scope, receive, send)
            return
        taken, started = 0, False

        async def counted() -> Message:
            nonlocal taken
            message = await receive()
            taken += len(message.get("body", b""))
            return message if taken <= most else {"type": "http.disconnect"}

        async def unless_too_large(message: Message) -> None:
            nonlocal started
            if taken <= most or started:
                started = True
                await send(message)

        try:
            await self._app(scope, counted, unless_too_large)
        except ClientDisconnect:
            # Without a body that is too large, the client has gone.
            started = started or taken <= most
        except Exception:
            if taken <= most:
                raise
        if taken > most and not started:
            await too_large(scope, receive, send)

    async def _websocket(self, scope: Scope, receive: Receive, send: Send) -> None:
        connection = HTTPConnection(scope)
        headers = connection.headers
        address = connection.client.host if connection.client else ""
        refused = not is_expected_host(headers, self._names, self._loopback) or is_cross_site(
            "GET", scope["path"], headers, True
        )
        user = None
        with suppress(DamagedUsers):
            user = None if refused else self._user(connection, address)[0]
        if user is None:
            self._metrics.refused("websocket")
            # Before it is accepted: the server answers with status 403.
            await receive()
            await send({"type": "websocket.close", "code": 1008})
            return
        scope["headrace.user"] = user
        scope[SESSION] = self._session_name(connection)
        still_valid = self._validity(connection)

        async def while_valid() -> Message:
            message = await receive()
            if message["type"] == "websocket.receive" and not still_valid():
                await send({"type": "websocket.close", "code": 1008})
                return {"type": "websocket.disconnect", "code": 1008}
            return message

        await self._app(scope, while_valid, send)

    def _validity(self, connection: HTTPConnection) -> Callable[[], bool]:
        """Return a function that says whether the session of a connection goes on."""
        if not self._settings.needs_login:
            return lambda: True
        kind, _, token = connection.headers.get("authorization", "").partition(" ")
        checked, valid = time.monotonic(), True

        def still_valid() -> bool:
            nonlocal checked, valid
            if valid and time.monotonic() - checked > NOTICE_S:
                checked = time.monotonic()
                valid = False
                with suppress(DamagedUsers):
                    if kind.lower() == "bearer":
                        valid = self._users.with_token(token.strip()) is not None
                    else:
                        valid = self._session(connection) is not None
            return valid

        return still_valid


async def _body(receive: Receive, most: int) -> bytes:
    body = bytearray()
    while True:
        message = await receive()
        body += message.get("body", b"")
        if len(body) > most:
            return b""
        if not message.get("more_body", False):
            return bytes(body)


def _error(status: int, text: str, *, bearer: bool = False) -> JSONResponse:
    headers = {"www-authenticate": "Bearer"} if bearer else None
    return JSONResponse({"detail": text}, status, headers)


def _too_many(text: str, wait: float) -> JSONResponse:
    seconds = math.ceil(wait)
    return JSONResponse({"detail": f"{text}: wait {seconds} s"}, 429, {"retry-after": str(seconds)})
