"""The agent: serves the samples of this host over HTTP. Needs only the standard library.

    GET /host               facts as JSON
    GET /samples?after=N    samples after number N as JSON lines: [number, end, seconds, figures]

The answer names the numbering of the samples (`X-Headrace-Instance`) and the host's time
(`X-Headrace-Now`). Not served: HTTPS. A token passes the network readably, so use a private
network or an SSH tunnel.
"""

import argparse
import hmac
import json
import os
import secrets
import signal
import socket
import stat
import sys
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs, urlsplit

from headrace.addresses import is_loopback
from headrace.monitors.host_sampler import HostSampler, host_facts

PORT = 8181
MOST_LINES = 1000
"""Samples of an answer; the client asks for the rest."""
CONNECTIONS = 16
"""Requests that are answered at once; further ones are refused."""
TIMEOUT_S = 10.0
LOCAL_NAMES = ("localhost", "127.0.0.1", "[::1]")
SHORTEST_TOKEN = 16


def read_token(path: Path) -> str:
    """Return the token in a file. A missing file is created with a new token (mode 0600).

    Raises:
        ValueError: if others may read the file, or it has no token.
        OSError: if it cannot be read or created.
    """
    try:
        new = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    except FileExistsError:
        pass
    else:
        with open(new, "w", encoding="ascii") as file:
            file.write(secrets.token_urlsafe(32) + "\n")
    if stat.S_IMODE(path.stat().st_mode) & 0o077:
        raise ValueError(f"{path}: other users may read the token: chmod 600 {path}")
    try:
        token = path.read_text(encoding="ascii").strip()
    except UnicodeDecodeError:
        token = ""
    if len(token) < SHORTEST_TOKEN or not token.isprintable():
        raise ValueError(f"{path}: expected a token of {SHORTEST_TOKEN} characters or more")
    return token


class _Handler(BaseHTTPRequestHandler):
    server: "AgentServer"
    timeout = TIMEOUT_S
    server_version = "headrace-agent"
    sys_version = ""

    def do_GET(self) -> None:
        """Answer a request."""
        if not self._is_allowed():
            return
        url = urlsplit(self.path)
        if url.path == "/host":
            facts = host_facts() | {"interval_s": self.server.sampler.interval_s}
            self._send(200, json.dumps(facts).encode(), "application/json")
        elif url.path == "/samples":
            self._samples(parse_qs(url.query))
        else:
            self._error(404, "expected /host or /samples?after=N")

    def _is_allowed(self) -> bool:
        if self.server.token is None:
            # A page of a browser on this host must not read them through another name.
            name = self.headers.get("Host", "").rpartition(":")[0] or self.headers.get("Host", "")
            if name not in LOCAL_NAMES:
                self._error(403, "the Host header names another server")
                return False
            return True
        kind, _, token = self.headers.get("Authorization", "").partition(" ")
        given = token.strip().encode("utf-8", "replace")
        if kind.lower() == "bearer" and hmac.compare_digest(given, self.server.token.encode()):
            return True
        self._error(401, "expected the agent's token: Authorization: Bearer TOKEN")
        return False

    def _samples(self, query: dict[str, list[str]]) -> None:
        try:
            after = int(query.get("after", ["0"])[0])
        except ValueError:
            self._error(422, "after: expected a number")
            return
        found = self.server.sampler.after(after, MOST_LINES)
        body = b"".join(json.dumps(it, separators=(",", ":")).encode() + b"\n" for it in found)
        self._send(200, body, "application/jsonl")

    def _error(self, status: int, message: str) -> None:
        self._send(status, json.dumps({"detail": message}).encode(), "application/json")

    def _send(self, status: int, body: bytes, kind: str) -> None:
        self.send_response(status)
        self.send_header("Content-Type", kind)
        self.send_header("Content-Length", str(len(body)))
        self.send_header("Cache-Control", "no-store")
        if status == 200:
            self.send_header("X-Headrace-Instance", self.server.sampler.instance)
            self.send_header("X-Headrace-Now", f"{self.server.sampler.now():.6f}")
        if status == 401:
            self.send_header("WWW-Authenticate", "Bearer")
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, format: str, *args: Any) -> None:
        """Log nothing: a server asks every few seconds."""


class AgentServer(ThreadingHTTPServer):
    """Serves the samples of a sampler."""

    daemon_threads = True
    request_queue_size = 64

    def __init__(self, address: str, port: int, sampler: HostSampler, token: str | None) -> None:
        """Listen. Raises OSError if the port is taken, ValueError without a needed token."""
        if token is None and not is_loopback(address):
            raise ValueError(
                f"--address {address}: an address that other hosts reach needs --token-file"
            )
        self.sampler, self.token = sampler, token
        self._free = threading.BoundedSemaphore(CONNECTIONS)
        if ":" in address:
            self.address_family = socket.AF_INET6
        super().__init__((address, port), _Handler)

    def process_request(self, request: Any, client_address: Any) -> None:
        """Answer in a thread, unless too many are busy."""
        if not self._free.acquire(blocking=False):
            self.shutdown_request(request)
            return
        super().process_request(request, client_address)

    def process_request_thread(self, request: Any, client_address: Any) -> None:
        """Answer, and make room for another request."""
        try:
            super().process_request_thread(request, client_address)
        finally:
            self._free.release()

    def handle_error(self, request: Any, client_address: Any) -> None:
        """Ignore clients that went away."""


def serve(address: str, port: int, interval_s: float, token_file: Path | None) -> None:
    """Sample this host and serve its samples until Ctrl-C or SIGTERM.

    Raises:
        ValueError: if the interval, the address or the token cannot be used.
        OSError: if the port is taken.
    """
    token = None if token_file is None else read_token(token_file)
    sampler = HostSampler(interval_s)
    try:
        server = AgentServer(address, port, sampler, token)
    except OSError as error:
        reason = error.strerror or str(error)
        raise OSError(error.errno, f"{address}:{port}: {reason}") from None
    over = threading.Event()
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, lambda *_: over.set())
    sampler.start()
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    host = f"[{address}]" if ":" in address else address
    print(f"http://{host}:{server.server_address[1]}/", flush=True)
    over.wait()
    server.shutdown()
    server.server_close()
    sampler.close()


def main() -> int:
    """Run the agent without the command line's libraries: `python -m headrace.monitors.agent`."""
    parser = argparse.ArgumentParser(prog="headrace agent", description=__doc__)
    parser.add_argument("--address", default="127.0.0.1")
    parser.add_argument("--port", type=int, default=PORT)
    parser.add_argument("--interval", type=float, default=1.0, help="seconds")
    parser.add_argument("--token-file", type=Path)
    given = parser.parse_args()
    try:
        serve(given.address, given.port, given.interval, given.token_file)
    except (ValueError, OSError) as error:
        print(f"headrace agent: {error}", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
