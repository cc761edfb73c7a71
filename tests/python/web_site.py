"""A running server and a real browser for tests of the pages."""

import atexit
import functools
import json
import os
import shutil
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

import httpx
import pytest
from playwright.sync_api import Browser, BrowserContext, Page, expect, sync_playwright

from headrace.web.jobs.runner import process_start

CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("chrome")
WITHOUT = "no browser to try the pages in: apt install chromium"
PATIENCE_MS = 120_000.0
"""Time after which a page that shows nothing is a failure."""
FLAGS = (
    "--no-sandbox",
    "--disable-gpu",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--no-first-run",
)


LOCAL_TOKEN = "with the token of the link"
"""In place of an option: the server asks for the token that it prints."""


class RunningSite:
    """A server of a test."""

    def __init__(self, url: str, data: Path, process: "subprocess.Popen[str]") -> None:
        self.url, self.data, self.process = url, data, process

    @property
    def port(self) -> int:
        """The port that it listens on."""
        return int(self.url.rpartition(":")[2])

    def request(
        self, method: str, path: str, timeout: float = 60, **options: Any
    ) -> httpx.Response:
        """Send a request, in a connection of its own."""
        # Reading the certificates of all authorities would take longer than most requests.
        return httpx.request(method, self.url + path, timeout=timeout, verify=False, **options)

    def get(self, path: str, **options: Any) -> httpx.Response:
        """Request a path."""
        return self.request("GET", path, **options)

    def post(self, path: str, **options: Any) -> httpx.Response:
        """Post to a path."""
        return self.request("POST", path, **options)

    def put(self, path: str, **options: Any) -> httpx.Response:
        """Put to a path."""
        return self.request("PUT", path, **options)

    def delete(self, path: str, **options: Any) -> httpx.Response:
        """Delete what is at a path."""
        return self.request("DELETE", path, **options)

    def submit(self, *command: str, inputs: Mapping[str, str] | None = None, **values: Any) -> str:
        """Submit a job and return its identifier."""
        request = {"command": command, "values": values, "inputs": dict(inputs or {})}
        answer = self.post("/api/jobs", json=request)
        assert answer.status_code == 201, answer.text
        identifier: str = answer.json()["id"]
        return identifier

    def ended(self, identifier: str) -> dict[str, Any]:
        """Wait for the end of a job and return it."""
        while True:
            job: dict[str, Any] = self.get(f"/api/jobs/{identifier}").json()
            if job["state"] not in ("waiting", "running"):
                return job
            time.sleep(0.1)

    def stored(self, job: str) -> str:
        """Wait for a job and return its result in the store."""
        ended = self.ended(job)
        assert ended["state"] == "done", ended["message"]
        while (result := self.get(f"/api/jobs/{job}").json()["result"]) is None:
            time.sleep(0.1)
        return str(result)

    def log(self) -> str:
        """Return what the server has written, after its end."""
        assert self.process.stdout is not None
        return self.process.stdout.read()


@contextmanager
def running_server(
    words: Sequence[str], environment: Mapping[str, str]
) -> "Iterator[tuple[str, subprocess.Popen[str]]]":
    """Run a server with Python, end it with SIGTERM, and yield its address, which it prints."""
    process = subprocess.Popen(
        [sys.executable, *words],
        # NiceGUI would take the server for a test of its own.
        env={key: it for key, it in environment.items() if key != "PYTEST_CURRENT_TEST"},
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
    )
    assert process.stdout is not None
    try:
        lines = [process.stdout.readline()]
        while not lines[-1].startswith("http"):
            assert lines[-1], f"the server has ended: {''.join(lines)}"
            lines.append(process.stdout.readline())
        url = httpx.URL(lines[-1].strip())
        # It prints the address before it listens.
        while True:
            assert process.poll() is None, process.stdout.read()
            with suppress(ConnectionRefusedError):
                socket.create_connection(("127.0.0.1", url.port or 0), 30).close()
                break
            time.sleep(0.05)
        yield f"{url.scheme}://127.0.0.1:{url.port}", process
    finally:
        process.terminate()
        process.wait(60)


@contextmanager
def running_site(
    directory: Path,
    *arguments: str,
    port: int = 0,
    jobs_go_on: bool = False,
    program: Sequence[str] = ("-m", "headrace"),
    **variables: str,
) -> Iterator[RunningSite]:
    """Run `headrace serve` with its data and store in a directory, and end the jobs that a failed
    test left.

    Without a port it has one of its own, so that no other server can answer in its place. Nobody
    logs in, unless the arguments say who does. `program` is run by Python in place of the command.
    """
    data = directory / "serve"
    work = directory / "work"
    work.mkdir(exist_ok=True)
    options = [
        f"--data-directory={data}",
        f"--port={port}",
        f"--allow-directory={work}",
        *arguments,
    ]
    if not any(it.startswith(("--login", "--address", LOCAL_TOKEN)) for it in arguments):
        options.append("--no-login")
    options = [it for it in options if it != LOCAL_TOKEN]
    environment = os.environ | {"HEADRACE_STORE": str(directory / "store")} | variables
    words = [*program, "serve", *options]
    try:
        with running_server(words, environment) as (url, process):
            yield RunningSite(url, data, process)
    finally:
        if not jobs_go_on:
            end_jobs(data)


def until(holds: Callable[[], object]) -> None:
    """Wait until a condition holds."""
    end = time.monotonic() + PATIENCE_MS / 1e3
    while not holds():
        assert time.monotonic() < end, "it did not happen"
        time.sleep(0.1)


def end_jobs(data: Path) -> None:
    """End the running jobs of a server that has ended."""
    for path in data.glob("jobs/*/process.json"):
        if not (path.parent / "end.json").exists():
            for it in json.loads(path.read_text()).values():
                if isinstance(it, dict) and process_start(it["pid"]) == it["start"]:
                    os.kill(it["pid"], signal.SIGKILL)


@functools.cache
def _started_browser() -> Browser:
    playwright = sync_playwright().start()
    atexit.register(playwright.stop)
    started = playwright.chromium.launch(executable_path=CHROMIUM, args=list(FLAGS))
    new_page = started.new_page

    def patient_page(**options: Any) -> Page:
        page = new_page(**options)
        page.set_default_timeout(PATIENCE_MS)
        return page

    # On a machine that does much else, a page takes long.
    started.new_page = patient_page  # type: ignore[method-assign]
    expect.set_options(timeout=PATIENCE_MS)
    return started


@pytest.fixture(scope="session")
def browser() -> Browser:
    """Chromium of the distribution, headless."""
    if CHROMIUM is None:
        pytest.skip(WITHOUT)
    return _started_browser()


@pytest.fixture(scope="session")
def shared_site(tmp_path_factory: pytest.TempPathFactory) -> Iterator[RunningSite]:
    """The server that tests share which change nothing but what is theirs."""
    with running_site(tmp_path_factory.mktemp("site")) as it:
        yield it


@pytest.fixture
def site(shared_site: RunningSite) -> Iterator[RunningSite]:
    """The shared server, without jobs of other tests that run or wait."""
    yield shared_site
    # One that never ends would keep all others waiting.
    for state in ("waiting", "running"):
        for it in shared_site.get("/api/jobs", params={"state": state}).json():
            shared_site.post(f"/api/jobs/{it['id']}/cancel")


def connected(page: Page) -> Page:
    """Wait until a page is connected with its server, which then follows what the user does."""
    page.wait_for_function("window.did_handshake === true")
    return page


def visit(page: Page, url: str) -> None:
    """Go to a page of a server and wait until it is connected."""
    page.goto(url)
    connected(page)


@contextmanager
def opened(browser: Browser | BrowserContext, url: str, **options: Any) -> Iterator[Page]:
    """Open a page of a server, in which no error of JavaScript may come."""
    page = browser.new_page(**options)
    page.set_default_timeout(PATIENCE_MS)
    errors: list[str] = []
    page.on("pageerror", lambda error: errors.append(str(error)))
    page.goto(url)
    yield connected(page)
    page.close()
    assert errors == []
