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
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import httpx
import pytest
from playwright.sync_api import Browser, Page, expect, sync_playwright

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


class RunningSite:
    """A server of a test."""

    def __init__(self, url: str, data: Path, process: "subprocess.Popen[str]") -> None:
        self.url, self.data, self.process = url, data, process

    def get(self, path: str, **options: Any) -> httpx.Response:
        """Request a path."""
        return httpx.get(self.url + path, timeout=30, **options)

    def post(self, path: str, **options: Any) -> httpx.Response:
        """Post to a path."""
        return httpx.post(self.url + path, timeout=30, **options)

    def put(self, path: str, **options: Any) -> httpx.Response:
        """Put to a path."""
        return httpx.put(self.url + path, timeout=30, **options)

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


def free_port() -> int:
    """Return a port that nobody listens on."""
    with socket.socket() as it:
        it.bind(("127.0.0.1", 0))
        port: int = it.getsockname()[1]
        return port


@contextmanager
def running_site(
    directory: Path,
    *arguments: str,
    port: int | None = None,
    jobs_go_on: bool = False,
    **variables: str,
) -> Iterator[RunningSite]:
    """Run `headrace serve` with its data and store in a directory; end it with SIGTERM, and then
    the jobs that a failed test left."""
    port = port or free_port()
    data = directory / "serve"
    work = directory / "work"
    work.mkdir(exist_ok=True)
    options = [f"--data={data}", f"--port={port}", f"--directory={work}", *arguments]
    # NiceGUI would take the server for a test of its own.
    environment = {it: os.environ[it] for it in os.environ if it != "PYTEST_CURRENT_TEST"}
    process = subprocess.Popen(
        [sys.executable, "-m", "headrace", "serve", *options],
        env=environment | {"HEADRACE_STORE": str(directory / "store")} | variables,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
    )
    url = f"http://127.0.0.1:{port}"
    try:
        while True:
            assert process.poll() is None, process.stdout.read() if process.stdout else ""
            try:
                httpx.get(url + "/api/openapi.json", timeout=30)
                break
            except httpx.TransportError:
                time.sleep(0.1)
        yield RunningSite(url, data, process)
    finally:
        process.terminate()
        process.wait(30)
        if not jobs_go_on:
            end_jobs(data)


def end_jobs(data: Path) -> None:
    """End the running jobs of a server that has ended."""
    for path in data.glob("jobs/*/process.json"):
        if not (path.parent / "end.json").exists():
            for it in json.loads(path.read_text()).values():
                if isinstance(it, dict) and process_start(it["pid"]) == it["start"]:
                    os.kill(it["pid"], signal.SIGKILL)


@functools.cache
def _started_browser() -> Browser:
    # Each module that imports the fixture has one of its own; a process has one Playwright only.
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


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Iterator[RunningSite]:
    """A server for the tests of a module."""
    with running_site(tmp_path_factory.mktemp("site")) as it:
        yield it
