"""Headers that all answers have, and checks of the headers of requests."""

from collections.abc import Collection, Iterable
from urllib.parse import urlsplit

from starlette.datastructures import Headers

from headrace.addresses import is_loopback

PAGES_POLICY = "; ".join(
    (
        "default-src 'self'",
        # Vue compiles its templates in the browser, and a page has its scripts in itself.
        "script-src 'self' 'unsafe-inline' 'unsafe-eval'",
        # No code in attributes, such as onerror.
        "script-src-attr 'none'",
        "style-src 'self' 'unsafe-inline'",
        "img-src 'self' data: blob:",
        "font-src 'self' data:",
        "connect-src 'self'",
        "worker-src 'self' blob:",
        "object-src 'none'",
        "base-uri 'none'",
        "form-action 'self'",
        "frame-ancestors 'none'",
    )
)
"""Content Security Policy of pages."""

SECURITY = (
    (b"content-security-policy", PAGES_POLICY.encode()),
    (b"x-content-type-options", b"nosniff"),
    (b"x-frame-options", b"DENY"),
    (b"referrer-policy", b"same-origin"),
    (b"cross-origin-opener-policy", b"same-origin"),
    (b"cross-origin-resource-policy", b"same-origin"),
    (b"permissions-policy", b"camera=(), geolocation=(), microphone=(), usb=()"),
)
HSTS = (b"strict-transport-security", b"max-age=31536000")
SAFE = frozenset({"GET", "HEAD", "OPTIONS"})
"""Methods that change nothing."""


def secured(given: Iterable[tuple[bytes, bytes]], tls: bool) -> list[tuple[bytes, bytes]]:
    """Return the headers of an answer with those for security, and without leave for others to
    read it."""
    headers = [
        (name, value)
        for name, value in given
        if not name.lower().startswith(b"access-control-allow-")
    ]
    names = {name.lower() for name, _ in headers}
    headers += [pair for pair in (*SECURITY, *([HSTS] if tls else [])) if pair[0] not in names]
    return headers


def host_name(host: str) -> str | None:
    """Return the name in a Host header; None if it is not well formed."""
    try:
        parts = urlsplit(f"//{host}")
        parts.port  # noqa: B018 (raises ValueError)
    except ValueError:
        return None
    return parts.hostname if parts.netloc == host and "@" not in host else None


def is_expected_host(headers: Headers, names: Collection[str], loopback: bool) -> bool:
    """Return whether a request names this server by one of its names.

    A page elsewhere whose name was made to lead here has another (DNS rebinding).
    """
    given = headers.getlist("host")
    name = host_name(given[0]) if len(given) == 1 else None
    if name is None:
        return False
    return name in names or (loopback and is_loopback(name)) or not (loopback or names)


def is_cross_site(method: str, path: str, headers: Headers, websocket: bool) -> bool:
    """Return whether a page of another origin sends a request that could do or read something."""
    origin, site = headers.get("origin"), headers.get("sec-fetch-site")
    # Of pages elsewhere the browser sends none with links, which are harmless.
    if origin is not None and urlsplit(origin).netloc != headers.get("host"):
        return True
    link = headers.get("sec-fetch-mode") == "navigate" and method in SAFE and not websocket
    return site in ("cross-site", "same-site") and not link
