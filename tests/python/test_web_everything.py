"""All pages together: a newcomer's path, two users, a restart, each page by eye, ear and key."""

import re
import signal
import socket
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Literal

import polars as pl
import pytest
from axe_playwright_python.sync_playwright import Axe  # type: ignore[import-untyped]
from playwright.sync_api import Browser, BrowserContext, Page, ViewportSize, expect

from conftest import SMALL
from design_search_sample import CATALOGUE_TEXT, WORKSHEET_TEXT
from headrace.design import forms
from headrace.web.access.users import LOCAL, UserFile
from headrace.web.design.catalogues import add_catalogue
from headrace.web.pages import PAGES
from headrace.web.settings import Settings
from web_scenarios import SHORT, UNENDING
from web_site import PATIENCE_MS, RunningSite, running_site, until, visit

TRACE = Path(__file__).parent.parent / "data" / "traces" / "build.strace"
WIDE, PHONE, NARROWEST = 1280, 390, 360


class Watch:
    """What goes wrong in a page without being seen: errors, failed requests, other hosts."""

    def __init__(self, page: Page, site: RunningSite) -> None:
        self.problems: list[str] = []
        add = self.problems.append
        page.on("pageerror", lambda it: add(f"error: {it}"))
        page.on("console", lambda it: add(f"{it.type}: {it.text}") if it.type == "error" else None)
        page.on("requestfailed", lambda it: add(f"failed: {it.url} {it.failure}"))
        page.on("response", lambda it: add(f"{it.status}: {it.url}") if it.status >= 400 else None)
        own = (site.url, site.url.replace("http", "ws", 1), "data:", "blob:")
        page.on("request", lambda it: None if it.url.startswith(own) else add(f"away: {it.url}"))
        page.on("websocket", lambda it: None if it.url.startswith(own) else add(f"away: {it.url}"))


@contextmanager
def watched(
    browser: Browser | BrowserContext, site: RunningSite, path: str = "/"
) -> Iterator[Page]:
    """Open a page, in which nothing may go wrong."""
    page = browser.new_page()
    page.set_default_timeout(PATIENCE_MS)
    watch = Watch(page, site)
    visit(page, site.url + path)
    yield page
    assert watch.problems == []
    page.close()


CHARTS = (
    "Throughput by operation",
    "Throughput over time",
    "Distribution of latency",
    "Utilisation of stations",
    "Time breakdown of a request",
)
"""Charts of each simulation."""


def test_a_newcomer_gets_to_a_finished_and_compared_run(filled: "Filled", browser: Browser) -> None:
    site = filled.site
    with watched(browser, site) as page:
        for name in ("Simulate an example", "Measure a directory", "Open a result"):
            expect(page.get_by_role("link", name=name)).to_be_visible()
        page.get_by_role("link", name="Simulate an example").first.click()
        page.get_by_role("link", name="IO500 on a small cluster").click()
        expect(page).to_have_url(re.compile("example=io500-whatif"))
        correct = page.get_by_text("The scenario is correct.")
        expect(correct).to_be_visible()
        text = page.get_by_role("textbox", name="Scenario (TOML)")
        page.get_by_role("button", name='Expand "servers"', exact=True).click()
        state = page.get_by_test_id("job-state")
        jobs: list[str] = []
        for rate in ("500 MB/s", "1 GB/s"):
            page.get_by_label("servers.device.read_rate", exact=True).fill(rate)
            # A field of the form changes the text, whose comments stay.
            expect(text).to_contain_text(f'read_rate = "{rate}"')
            expect(text).to_contain_text("# an assumption: one SATA SSD each")
            expect(correct).to_be_visible()
            page.get_by_role("button", name="Run", exact=True).click()
            # It is hidden at the end of its job.
            job = page.get_by_role("link", name="Job", exact=True, include_hidden=True)
            if jobs:
                expect(job).not_to_have_attribute("href", jobs[-1])
            expect(job).to_have_attribute("href", re.compile("/jobs/."))
            jobs.append(job.get_attribute("href") or "")
            expect(state).to_contain_text("done")
            expect(page.get_by_test_id("bottleneck")).to_contain_text("is the bottleneck")
            for name in CHARTS:
                expect(page.get_by_role("img", name=name)).to_be_visible()
        # The net at work.
        page.get_by_text("The net at work").click()
        net = page.locator("headrace-net")
        slider = net.get_by_role("slider", name="Simulated time")
        expect(slider).to_have_value("0")
        net.get_by_role("button", name="Play").click()
        expect(slider).not_to_have_value("0")
        # A label in the store.
        visit(page, site.url + jobs[0])
        page.get_by_role("link", name="Its result in the store").click()
        page.wait_for_url("**/results/*")
        page.get_by_label("New label").fill("disks=old")
        page.keyboard.press("Enter")
        expect(page.get_by_text("disks=old")).to_be_visible()
        # Both side by side.
        page.get_by_role("link", name="Results").first.click()
        boxes = page.get_by_role("checkbox", name=re.compile("^Select IO500 on a small cluster"))
        expect(boxes).to_have_count(2)
        for at in range(2):
            boxes.nth(at).click()
        with page.expect_download() as download:
            page.get_by_role("button", name="Export").click()
            page.get_by_text("CSV", exact=True).click()
        assert pl.read_csv(download.value.path())["id"].n_unique() == 2
        page.get_by_role("button", name="Compare").click()
        page.wait_for_url("**/results/compare?ids=*")
        expect(page.get_by_role("img", name=re.compile("^throughput"))).to_be_visible()
        expect(page.get_by_role("table").filter(has_text="IO500").last).to_be_visible()


def test_a_measured_run_is_compared_with_its_simulation(
    site: RunningSite, browser: Browser
) -> None:
    with watched(browser, site) as page:
        simulated = site.stored(site.submit("run", inputs={"s.toml": SMALL}, file="input:s.toml"))
        page.get_by_role("link", name="Measure a directory").first.click()
        page.get_by_role("link", name="Quick check").click()
        page.get_by_label("Time", exact=True).fill("0.1")
        page.get_by_label(re.compile("^File")).fill("1 MiB")
        page.get_by_label(re.compile("^Queue depth")).fill("1")
        page.get_by_role("button", name="Measure").click()
        page.wait_for_url("**/jobs/*")
        page.get_by_role("link", name="Its result in the store").click()
        page.wait_for_url("**/results/*")
        expect(page.get_by_role("img", name="Requests a second")).to_be_visible()
        quick = page.url.rpartition("/")[2]
        visit(page, f"{site.url}/results/compare?ids={simulated},{quick}")
        expect(page.get_by_role("alert").last).to_contain_text("have no figure in common")

        visit(page, site.url + "/measure/run")
        text = page.get_by_role("textbox", name="Scenario (TOML)")
        expect(text).to_have_value(re.compile("ior-easy"))
        page.wait_for_load_state("networkidle")
        text.fill(SMALL)
        expect(text).to_have_value(re.compile("small"))
        page.get_by_label(re.compile("^Time")).first.fill("0.3")
        page.get_by_role("button", name="Measure").click()
        page.wait_for_url("**/jobs/*")
        measured = site.stored(page.url.rpartition("/")[2])
        visit(page, f"{site.url}/results/compare?ids={simulated},{measured}")
        expect(page.get_by_role("img", name=re.compile("^throughput"))).to_be_visible()
        for name in (r"^A: .* \(simulated\)$", r"^B: .* \(measured\)$"):
            expect(page.get_by_text(re.compile(name)).first).to_be_visible()


def log_in(context: BrowserContext, site: RunningSite, name: str, token: str) -> Page:
    """Log in and return the start page."""
    context.set_default_timeout(PATIENCE_MS)
    page = context.new_page()
    # It has no script.
    page.goto(site.url + "/login")
    page.get_by_label("Name").fill(name)
    page.get_by_label("Token").fill(token)
    page.get_by_role("button", name="Log in").click()
    expect(page.get_by_text(name, exact=True).first).to_be_visible()
    return page


def test_two_users_work_at_once(tmp_path: Path, browser: Browser) -> None:
    users = UserFile(tmp_path / "serve")
    tokens = {name: users.add(name) for name in ("ann", "bob")}
    with running_site(tmp_path, "--login", "--jobs=2") as site:
        contexts = {name: browser.new_context() for name in tokens}
        pages = {name: log_in(contexts[name], site, name, it) for name, it in tokens.items()}
        for name, page in pages.items():
            visit(page, site.url + "/simulate?own=true")
            text = page.get_by_role("textbox", name="Scenario (TOML)")
            text.click()
            page.keyboard.press("Control+a")
            page.keyboard.insert_text(UNENDING.replace("unending", f"of {name}"))
            expect(page.get_by_role("heading", name=f"of {name}")).to_be_visible()
            page.get_by_role("button", name="Run", exact=True).click()
            expect(page.get_by_test_id("job-state")).to_contain_text("running")
        for name, page in pages.items():
            visit(page, site.url + "/jobs")
            for other in pages:
                row = page.get_by_role("row").filter(has_text=f"of {other}")
                expect(row).to_contain_text("running")
                # Only one's own can be cancelled.
                expect(row.get_by_role("button")).to_have_count(1 if other == name else 0)
        for name, page in pages.items():
            row = page.get_by_role("row").filter(has_text=f"of {name}")
            row.get_by_role("button").click()
        for page in pages.values():
            for other in pages:
                row = page.get_by_role("row").filter(has_text=f"of {other}")
                expect(row).to_contain_text("cancelled")
        for context in contexts.values():
            context.close()


def test_an_open_page_outlives_a_restart_of_the_server(tmp_path: Path, browser: Browser) -> None:
    with running_site(tmp_path, jobs_go_on=True) as site:
        job = site.submit("run", inputs={"a.toml": UNENDING}, file="input:a.toml")
        page, port = browser.new_page(), site.port
        visit(page, f"{site.url}/jobs/{job}")
        expect(page.get_by_text("simulated, ").first).to_be_visible()
        site.process.send_signal(signal.SIGKILL)
        site.process.wait()
        expect(page.get_by_text(re.compile("Connection lost")).first).to_be_visible()
    with running_site(tmp_path, port=port) as site:
        expect(page.get_by_role("status")).to_have_text("running")
        expect(page.get_by_text("simulated, ").first).to_be_visible()
        assert site.post(f"/api/jobs/{job}/cancel").status_code == 200
        expect(page.get_by_role("status")).to_have_text("cancelled")
        expect(page.get_by_role("heading", name="Result")).to_be_visible()
    page.close()


class Filled:
    """A server with something on every page."""

    def __init__(self, site: RunningSite) -> None:
        self.site = site
        work = str(site.data.parent / "work")
        self.jobs = {
            "simulated": site.submit("run", inputs={"s.toml": SMALL}, file="input:s.toml"),
            "again": site.submit("run", inputs={"s.toml": SHORT}, file="input:s.toml"),
            "sweep": site.submit(
                "bench", "sweep", directory=work, files="64k,128k", blocks="4k,64k", repeats=1
            ),
            "quick": site.submit(
                "bench", "quick", paths=[work], seconds="0.1", file="1 MiB", queue_depth="1"
            ),
            "profile": site.submit("profile", "record", seconds=1, interval="0.2"),
            "failed": site.submit("run", inputs={"a.toml": "'<b>x</b>' = 1"}, file="input:a.toml"),
        }
        for name, text in (("lab", forms.example("lab")), ("small", WORKSHEET_TEXT)):
            answer = site.put(f"/api/design/drafts/{name}", json={"toml": text})
            assert answer.status_code == 200
        catalogue = add_catalogue(Settings(data=site.data), LOCAL, "small", CATALOGUE_TEXT)
        search = {"catalogue": catalogue, "values": {"budget": "1 s"}}
        solving = site.post("/api/design/drafts/small/solve", json=search)
        assert solving.status_code == 201, solving.text
        self.jobs["design"] = next(iter(solving.json().values()))
        with TRACE.open("rb") as file:
            assert site.post("/api/files", files={"file": file}).status_code == 201
        self.results = {it: site.stored(self.jobs[it]) for it in ("simulated", "again", "quick")}
        for it in ("sweep", "profile", "failed", "design"):
            site.ended(self.jobs[it])

    def path(self, template: str) -> str:
        """Return an address with the identifiers of jobs and results."""
        return template.format(jobs=self.jobs, results=self.results)


COUNTING = """
import gc
from collections import Counter
from nicegui import Client, app
from nicegui.element import Element
from nicegui.elements.upload import Upload
from headrace.cli import main

@app.get("/kept")
async def kept():
    for client in list(Client.instances.values()):
        if not client.has_socket_connection:
            for task in client._delete_tasks.values():
                task.cancel()
            client.delete()
    gc.collect()
    # FastAPI remembers thousands of routes of fields for files.
    parts = [each for each in gc.get_objects() if issubclass(type(each), (Client, Element))]
    kinds = (type(each) for each in parts if each.is_deleted)
    return Counter(kind.__name__ for kind in kinds if kind is not Upload)

main()
"""
"""A server that deletes all pages that are not open, and counts their remaining objects."""


@pytest.fixture(scope="module")
def filled(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Filled]:
    """A server with jobs, results and a trace, which counts what is left of pages."""
    directory = tmp_path_factory.mktemp("filled")
    with running_site(directory, "--request-rate=1000", program=("-c", COUNTING)) as it:
        yield Filled(it)


ADDRESSES: dict[str, tuple[str, ...]] = {
    "/": ("/",),
    "/simulate": ("/simulate", "/simulate?result={results[simulated]}"),
    "/nets": ("/nets",),
    "/measure": ("/measure",),
    "/measure/{name}": ("/measure/quick", "/measure/sharing", "/measure/run"),
    "/results": ("/results",),
    "/results/compare": ("/results/compare?ids={results[simulated]},{results[again]}",),
    "/results/history": ("/results/history?result={results[simulated]}",),
    "/results/{identifier}": ("/results/{results[simulated]}", "/results/{results[quick]}"),
    "/monitors": ("/monitors",),
    "/monitors/rules": ("/monitors/rules",),
    "/monitors/host/{name}": (f"/monitors/host/{socket.gethostname()}",),
    "/monitors/job/{identifier}": ("/monitors/job/{jobs[quick]}",),
    "/profiles": ("/profiles",),
    "/profiles/{identifier}": ("/profiles/{jobs[profile]}",),
    "/traces": ("/traces",),
    "/traces/{name}": ("/traces/build.strace",),
    "/jobs": ("/jobs",),
    "/jobs/{identifier}": tuple(
        f"/jobs/{{jobs[{it}]}}" for it in ("simulated", "sweep", "quick", "failed")
    ),
    "/jobs/{identifier}/change": ("/jobs/{jobs[sweep]}/change",),
    "/design": ("/design",),
    "/design/calculators": ("/design/calculators",),
    "/design/drafts/{name}": ("/design/drafts/lab",),
    "/design/solutions/{identifier}": ("/design/solutions/{jobs[design]}",),
    "/help": ("/help", "/help?search=spares"),
    "/help/{name}": ("/help/glossary",),
    "/help/{section}/{name}": ("/help/how-to/store",),
    "/help/{section}/{part}/{name}": ("/help/reference/scenario/clients",),
}
"""Addresses of each route, with identifiers of `Filled`."""


def test_the_addresses_are_those_of_all_routes() -> None:
    assert {route for it in PAGES for route in (it.path, *it.routes)} == ADDRESSES.keys()


@pytest.mark.parametrize("address", [it for found in ADDRESSES.values() for it in found])
def test_a_page_is_sound_and_accessible(filled: Filled, browser: Browser, address: str) -> None:
    """No error, no request elsewhere, no serious finding of axe, nothing that scrolls sideways, and
    nothing that the server keeps when the page is gone."""
    found = []
    kept_before = kept(filled.site)
    # Each page in one theme, half of them in each: both would take minutes.
    at = [it for addresses in ADDRESSES.values() for it in addresses].index(address)
    for theme, first, second in THEMES[at % 2 : at % 2 + 1]:
        size: ViewportSize = {"width": first, "height": 800}
        context = browser.new_context(viewport=size, color_scheme=theme)
        with watched(context, filled.site, filled.path(address)) as page:
            page.wait_for_load_state("networkidle")
            expect(page.locator(f"body.body--{theme}")).to_be_visible()
            expect(page.get_by_role("heading", level=1)).to_have_count(1)
            expect(page.get_by_role("main")).to_have_count(1)
            found += [*findings(page), *sideways(page)]
            page.set_viewport_size({"width": second, "height": 800})
            found += [*findings(page, COLOURS), *sideways(page)]
        context.close()
    filled.site.get(filled.path(address))
    # What the page has begun may go on for a while.
    until(lambda: kept(filled.site) == kept_before)
    assert found == []


def kept(site: RunningSite) -> dict[str, int]:
    """Return the number of remaining objects of pages that are not open, by type."""
    answer: dict[str, int] = site.get("/kept").json()
    return answer


Theme = Literal["light", "dark"]
THEMES: tuple[tuple[Theme, int, int], ...] = (
    ("light", WIDE, NARROWEST),
    ("dark", PHONE, WIDE),
)
"""Themes, each with the width at which all rules are checked, and another."""
COLOURS = {"runOnly": ["color-contrast", "link-in-text-block"]}
"""Rules that depend on the theme."""


AXE: str = Axe().axe_script
VIOLATIONS = """async options => {
    const results = await axe.run({resultTypes: ["violations"], ...options});
    return results.violations;
}"""


def findings(page: Page, options: object = None) -> list[str]:
    """Return the serious and critical findings of axe that stay: a page may still be drawn."""
    found: list[str] = []
    if not page.evaluate("'axe' in window"):
        page.evaluate(AXE)
    for _ in range(5):
        # All that axe has checked and found sound would be megabytes of each page.
        found = [
            f"{it['id']}: {node['html'][:200]}"
            for it in page.evaluate(VIOLATIONS, options)
            if it["impact"] in ("serious", "critical")
            for node in it["nodes"]
        ]
        if not found:
            break
        page.wait_for_timeout(1000)
    return found


def sideways(page: Page) -> list[str]:
    """Return that the page scrolls sideways, if it does."""
    width, window = page.evaluate("[document.documentElement.scrollWidth, window.innerWidth]")
    return [f"{width} pixels wide in a window of {window}"] if width > window else []


def focused(page: Page) -> str:
    """Return the name of the element that has the focus."""
    name: str = page.evaluate(
        "(document.activeElement.ariaLabel || document.activeElement.innerText || '').trim()"
    )
    return name


def test_a_page_is_used_by_keyboard(filled: Filled, browser: Browser) -> None:
    with watched(browser, filled.site, "/") as page:
        expect(page.get_by_role("link", name="Start", exact=True)).to_be_visible()
        order = []
        for _ in range(5):
            page.keyboard.press("Tab")
            order.append(focused(page).splitlines()[-1])
        assert order == ["Skip to content", "Navigation", "Headrace", "Light or dark", "Start"]
        for _ in range(4):
            page.keyboard.press("Shift+Tab")
        page.keyboard.press("Enter")
        page.keyboard.press("Tab")
        assert focused(page).startswith(("insights", "Simulate an example"))
        page.keyboard.press("Enter")
        page.wait_for_url("**/simulate")


def test_a_dialog_keeps_the_focus_until_escape(filled: Filled, browser: Browser) -> None:
    with watched(browser, filled.site, f"/jobs/{filled.jobs['failed']}") as page:
        remove = page.get_by_role("button", name="Remove")
        remove.press("Enter")
        dialog = page.get_by_role("dialog")
        expect(dialog).to_be_visible()
        inside = "document.querySelector('[role=dialog]').contains(document.activeElement)"
        page.wait_for_function(inside)
        names = []
        for _ in range(6):
            page.keyboard.press("Tab")
            # The body: between the last element and the first.
            assert page.evaluate(f"document.activeElement === document.body || {inside}")
            names.append(focused(page))
        assert {"Remove it", "Keep it"} <= set(names)
        page.keyboard.press("Escape")
        expect(dialog).to_have_count(0)
        expect(remove).to_be_focused()
        assert filled.site.get(f"/api/jobs/{filled.jobs['failed']}").status_code == 200


def test_the_navigation_of_a_telephone_opens_and_closes(filled: Filled, browser: Browser) -> None:
    context = browser.new_context(viewport={"width": PHONE, "height": 800})
    with watched(context, filled.site) as page:
        navigation = page.get_by_role("navigation", name="Pages")
        expect(page.get_by_role("heading", name="Start")).to_be_visible()
        expect(navigation).not_to_be_in_viewport()
        page.get_by_role("button", name="Navigation").click()
        expect(navigation).to_be_in_viewport()
        assert findings(page) == []
        navigation.get_by_role("link", name="Jobs").click()
        page.wait_for_url("**/jobs")
        expect(navigation).not_to_be_in_viewport()
    context.close()
