"""Measure pages that many open at once, and page actions while many watch one run.

First 50 users open each page at once. The program prints the median and the longest latency, the
processor time of a page, and the memory of the server before 300 visits, after them, and when the
server has forgotten the visitors. The aim is a median below 1 s on two cores.

Then it submits a simulation that does not end and 20 jobs behind it, and follows
the simulation with 50 watchers: pages of a real browser, and streams of the API. Then it does what
users do, one action after another, and prints the median and the 90th percentile of each. The aim
is a median below 200 ms on two cores.

Not measured: the first request of each page, and the browser's own start. `--pages` leaves the
second part out.
"""

import argparse
import asyncio
import os
import shutil
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Awaitable, Callable
from pathlib import Path
from statistics import median, quantiles

import httpx
import psutil
from playwright.async_api import Browser, Page, async_playwright, expect

SCENARIO = """\
name = "watched"
clients = { count = 8 }
network = { topology = "pairs", bandwidth = "1 Gbit/s", latency = "0.2 ms" }
layout = { unit = "256 KiB" }
[servers]
count = 4
device = { kind = "simple", read_rate = "60 MB/s", write_rate = "60 MB/s" }
[[workload]]
kind = "ior"
block = "1 MiB"
files = 100000000
phases = ["write"]
[run]
stop = { time = "10000000 s" }
"""
"""It ends when it is stopped."""
SMALL = SCENARIO.replace("100000000", "4").replace("10000000 s", "10 s")
USERS = 50
VISITS = 300
FORGOTTEN_S = 80.0
"""Time after which the server has deleted a page that was never connected."""
OPENED_AIM_S = 1.0
WATCHERS = 50
PAGES = 3
"""Watchers that are pages of a browser."""
WAITING = 20
AIM_S = 0.2
FLAGS = ["--no-sandbox", "--disable-gpu", "--disable-background-networking"]

Action = Callable[[], Awaitable[object]]


class Server:
    """`headrace serve` in a directory of its own."""

    def __init__(self, directory: Path) -> None:
        with socket.socket() as it:
            it.bind(("127.0.0.1", 0))
            port = it.getsockname()[1]
        self.url = f"http://127.0.0.1:{port}"
        self._process = subprocess.Popen(
            [
                sys.executable,
                "-m",
                "headrace",
                "serve",
                "--no-login",
                "--request-rate=10000",
                f"--data-directory={directory}",
                f"--port={port}",
            ],
            env=os.environ | {"HEADRACE_STORE": str(directory / "store")},
            stdout=subprocess.DEVNULL,
        )

    async def started(self, client: httpx.AsyncClient) -> None:
        """Wait until it answers."""
        while True:
            try:
                await client.get("/api/openapi.json")
                return
            except httpx.TransportError:
                if self._process.poll() is not None:
                    raise SystemExit("headrace serve ended") from None
                await asyncio.sleep(0.1)

    def processor_s(self) -> float:
        """Return the processor time that it has used."""
        times = psutil.Process(self._process.pid).cpu_times()
        return float(times.user + times.system)

    def memory(self) -> str:
        """Return its resident memory."""
        return f"{psutil.Process(self._process.pid).memory_info().rss / 1e6:,.0f} MB"

    def end(self) -> None:
        """End it."""
        self._process.terminate()
        self._process.wait()


async def submitted(client: httpx.AsyncClient, scenario: str = SCENARIO) -> str:
    """Submit a job and return its identifier."""
    request = {
        "command": ["run"],
        "values": {"file": "input:a.toml"},
        "inputs": {"a.toml": scenario},
    }
    answer = await client.post("/api/jobs", json=request)
    answer.raise_for_status()
    return str(answer.json()["id"])


async def stream(client: httpx.AsyncClient, job: str, events: list[int]) -> None:
    """Follow a job by the API and count its events."""
    async with client.stream("GET", f"/api/jobs/{job}/events", timeout=None) as answer:
        async for line in answer.aiter_lines():
            events[0] += line.startswith("data:")


async def timed(action: Action, times: int) -> list[float]:
    """Return the seconds of an action, after one that is not counted."""
    found = []
    for number in range(times + 1):
        begun = time.perf_counter()
        await action()
        if number:
            found.append(time.perf_counter() - begun)
    return found


async def stored(client: httpx.AsyncClient) -> str:
    """Run a simulation and return its result in the store."""
    job = await submitted(client, SMALL)
    while (result := (await client.get(f"/api/jobs/{job}")).json()["result"]) is None:
        await asyncio.sleep(0.1)
    return str(result)


async def measure_pages(server: Server) -> bool:
    """Print the figures of pages that many open at once; return whether they meet the aim."""
    limits = httpx.Limits(max_connections=None)
    async with httpx.AsyncClient(base_url=server.url, timeout=120, limits=limits) as client:
        await server.started(client)
        results = [await stored(client) for _ in range(3)]
        paths = (
            "/",
            "/simulate",
            "/simulate?example=io500-whatif",
            f"/simulate?result={results[0]}",
            "/nets",
            "/results",
            f"/results/{results[0]}",
            f"/results/compare?ids={','.join(results)}",
            "/jobs",
            "/monitors",
            f"/monitors/host/{socket.gethostname()}",
            "/measure",
            "/measure/sharing",
            "/profiles",
            "/design",
            "/design/calculators",
            "/help",
        )

        async def seconds(path: str) -> float:
            begun = time.perf_counter()
            (await client.get(path)).raise_for_status()
            return time.perf_counter() - begun

        print(f"{USERS} users open a page at once, load {load()}")
        print(f"{'page':36} {'median':>8} {'most':>8} {'processor':>10}")
        good = True
        for path in paths:
            await seconds(path)
            begun = server.processor_s()
            latencies = await asyncio.gather(*(seconds(path) for _ in range(USERS)))
            spent = (server.processor_s() - begun) / USERS
            good &= median(latencies) < OPENED_AIM_S
            print(
                f"{path[:36]:36} {median(latencies):6.2f} s {max(latencies):6.2f} s"
                f" {1e3 * spent:7.1f} ms"
            )
        await asyncio.sleep(FORGOTTEN_S)
        print(f"memory without visitors: {server.memory()}")
        for number in range(VISITS):
            await seconds(paths[number % len(paths)])
        print(f"after {VISITS} visits: {server.memory()}")
        await asyncio.sleep(FORGOTTEN_S)
        print(f"{FORGOTTEN_S:.0f} s later: {server.memory()}")
        return good


async def switched(page: Page) -> None:
    """Switch the list of jobs to those that run and back, as seen in the browser."""
    rows = page.get_by_role("row")
    await page.get_by_role("button", name="Running").click()
    await expect(rows).to_have_count(2)
    await page.get_by_role("button", name="All").click()
    await expect(rows).not_to_have_count(2)


async def measure(server: Server, browser: Browser, times: int) -> bool:
    """Print the latency of each action. Returns whether all medians are within the aim."""
    limits = httpx.Limits(max_connections=None)
    async with httpx.AsyncClient(base_url=server.url, timeout=60, limits=limits) as client:
        await server.started(client)
        watched = await submitted(client)
        waiting = [await submitted(client) for _ in range(WAITING)]
        events = [0]
        streams = [
            asyncio.create_task(stream(client, watched, events)) for _ in range(WATCHERS - PAGES)
        ]
        pages = [await browser.new_page() for _ in range(PAGES + 1)]
        for it in pages[:PAGES]:
            await it.goto(f"{server.url}/jobs/{watched}")
            await expect(it.get_by_role("status")).to_have_text("running", timeout=60_000)
        await pages[-1].goto(f"{server.url}/jobs")
        await expect(pages[-1].get_by_role("row")).to_have_count(WAITING + 2, timeout=60_000)

        async def get(path: str) -> None:
            (await client.get(path)).raise_for_status()

        async def cancel() -> None:
            (await client.post(f"/api/jobs/{waiting.pop()}/cancel")).raise_for_status()

        actions: dict[str, tuple[Action, int]] = {
            "open the start page": (lambda: get("/"), times),
            "open the list of jobs": (lambda: get("/jobs"), times),
            "open the watched job": (lambda: get(f"/jobs/{watched}"), times),
            "list the jobs by the API": (lambda: get("/api/jobs"), times),
            "filter in the browser, twice": (lambda: switched(pages[-1]), times),
            "submit a job": (lambda: submitted(client), times),
            "cancel a waiting job": (cancel, min(times, WAITING - 1)),
        }
        good = True
        print(f"{WATCHERS} watchers ({PAGES} pages), {WAITING} waiting jobs, load {load()}")
        print(f"{'action':32} {'median':>8} {'90 %':>8}")
        for name, (action, count) in actions.items():
            found = await timed(action, count)
            good &= median(found) < AIM_S
            print(
                f"{name:32} {1e3 * median(found):5.0f} ms {1e3 * quantiles(found, n=10)[8]:5.0f} ms"
            )
        print(f"{events[0]:,} events were streamed; the aim is a median below {1e3 * AIM_S:.0f} ms")
        for task in streams:
            task.cancel()
        for job in (await client.get("/api/jobs?limit=1000")).json():
            await client.post(f"/api/jobs/{job['id']}/cancel")
        while (await client.get("/api/jobs?state=running")).json():
            await asyncio.sleep(0.2)
        return good


def load() -> str:
    """Return the load of the machine, which other programs may raise."""
    return f"{os.getloadavg()[0]:.1f}"


async def main(times: int, pages_only: bool) -> int:
    """Measure and return the exit status."""
    with tempfile.TemporaryDirectory() as directory:
        server = Server(Path(directory))
        try:
            are_good = await measure_pages(server)
        finally:
            server.end()
    if pages_only:
        return 0 if are_good else 1
    found = (shutil.which(it) for it in ("chromium", "chromium-browser", "chrome"))
    chromium = next((it for it in found if it), None)
    if chromium is None:
        print("no browser: apt install chromium", file=sys.stderr)
        return 0
    with tempfile.TemporaryDirectory() as directory:
        server = Server(Path(directory))
        try:
            async with async_playwright() as playwright:
                browser = await playwright.chromium.launch(executable_path=chromium, args=FLAGS)
                good = await measure(server, browser, times)
                await browser.close()
        finally:
            server.end()
    return 0 if good and are_good else 1


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--times", type=int, default=15, help="Times of each action.")
    parser.add_argument("--pages", action="store_true", help="Measure no page actions.")
    arguments = parser.parse_args()
    sys.exit(asyncio.run(main(arguments.times, arguments.pages)))
