"""The page of nets of one's own in the browser."""

import os
import re

from playwright.sync_api import Browser, Page, expect

from conftest import ROOT
from headrace.simulate.examples import NETS, examples
from web_site import RunningSite, opened

MONITORED = ROOT / "scenarios" / "nets" / "monitored-queue.toml"


def shot(page: Page, name: str) -> None:
    """Save a picture of the page if they are asked for."""
    if directory := os.environ.get("HEADRACE_SCREENSHOTS"):
        page.screenshot(path=f"{directory}/{name}.png", full_page=True)


def test_a_net_is_checked_run_and_played(site: RunningSite, browser: Browser) -> None:
    size = {"width": 1280, "height": 900}
    with opened(browser, site.url + "/nets", viewport=size) as page:
        state = page.get_by_test_id("state")
        expect(state).to_contain_text("The net counter is correct. Always counter/arrivals = 1.")
        expect(page.locator('[data-name="clerks"]')).to_be_visible()
        page.get_by_label("Runs").fill("3")
        page.get_by_role("button", name="Run", exact=True).click()
        expect(state).to_have_text(re.compile(r"ended at 2000 s; .* firings; means of 3 runs"))
        expect(page.get_by_role("row", name=re.compile("^inside"))).to_be_visible()
        expect(page.get_by_role("img", name="inside: chart")).to_be_visible()
        # The drawing plays the first run.
        expect(page.get_by_role("slider", name="Simulated time")).to_be_visible()
        shot(page, "nets-run")
        page.get_by_label("Firings to play").fill("12")
        page.get_by_role("button", name="Play", exact=True).first.click()
        expect(page.get_by_role("slider", name="Firing")).to_have_attribute("max", "12")
        page.get_by_role("button", name="One frame on").click()
        expect(page.locator("headrace-net")).to_have_attribute("data-frame", "1")
        expect(page.locator(".net-firing")).to_contain_text("counter/come")
        shot(page, "nets-play")


def test_a_shipped_net_is_opened(site: RunningSite, browser: Browser) -> None:
    with opened(browser, site.url + "/nets?example=philosophers") as page:
        state = page.get_by_test_id("state")
        expect(state).to_contain_text("The net philosophers is correct.")
        page.get_by_label("Open an example").click()
        shipped = {each.name for each in examples(NETS)}
        expect(page.get_by_role("option")).to_have_count(len(shipped))
        assert {file.stem for file in MONITORED.parent.glob("*.toml")} == shipped
        page.get_by_role("option", name=re.compile("^machine repair: Five machines")).click()
        expect(state).to_contain_text("The net machine repair is correct.")
    assert site.get("/nets?example=none").status_code == 404


def test_a_file_is_opened_and_its_errors_are_shown(site: RunningSite, browser: Browser) -> None:
    with opened(browser, site.url + "/nets") as page:
        expect(page.get_by_test_id("state")).to_contain_text("is correct")
        text = MONITORED.read_text()
        files = page.locator('input[type="file"]')
        file = {"name": "net.toml", "mimeType": "text/plain", "buffer": text.encode()}
        files.set_input_files(file)  # type: ignore[arg-type]
        expect(page.get_by_test_id("state")).to_contain_text("The net counter is correct.")
        wrong = text.replace('take = [{ place = "clerks"', 'take = [{ place = "clercs"')
        files.set_input_files({**file, "buffer": wrong.encode()})  # type: ignore[arg-type]
        error = page.get_by_test_id("error")
        line = wrong.splitlines().index(next(it for it in wrong.splitlines() if "clercs" in it)) + 1
        expect(error).to_contain_text(f"Line {line}, column 19")
        expect(error).to_contain_text('did you mean "clerks"?')
        expect(page.locator(".hr-wrong-line")).to_have_count(1)
        files.set_input_files(file)  # type: ignore[arg-type]
        expect(page.get_by_test_id("state")).to_contain_text("is correct")
        page.get_by_label("End, such as").fill("never")
        page.get_by_role("button", name="Run", exact=True).click()
        expect(error).to_contain_text("until = never")
