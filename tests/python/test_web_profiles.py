"""Pages of profiles and traces."""

import re
from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Browser, expect

from headrace.web.traces import replay_scenario
from web_site import RunningSite, opened, running_site, visit

PROGRAM = "import time\nend = time.time() + 1.2\nwhile time.time() < end: sum(range(1000))\n"
TRACE = Path(__file__).parent.parent / "data" / "traces" / "build.strace"


@pytest.fixture(scope="module")
def allowing(tmp_path_factory: pytest.TempPathFactory) -> Iterator[RunningSite]:
    """A server that allows programs of users."""
    with running_site(tmp_path_factory.mktemp("allowing"), "--allow-programs") as it:
        yield it


def test_a_program_is_profiled_with_its_verdict_on_the_chart(
    allowing: RunningSite, browser: Browser, tmp_path: Path
) -> None:
    script = tmp_path / "busy.py"
    script.write_text(PROGRAM)
    with opened(browser, allowing.url + "/profiles") as page:
        page.get_by_label(re.compile("^Command")).first.fill(f"python3\n{script}")
        page.get_by_label(re.compile("^Interval")).first.fill("0.2")
        page.get_by_role("button", name="Record").first.click()
        page.wait_for_url("**/profiles/*")
        chart = page.locator("figure").filter(has_text="Processors")
        expect(chart).to_be_visible()
        expect(chart.get_by_text(re.compile(r"^1 [a-z-]+$"))).to_be_visible()
        page.get_by_role("button", name=re.compile("^Phase 1: ")).click()
        expect(page.get_by_role("heading", name=re.compile("^Phase 1: "))).to_be_visible()
        identifier = page.url.rpartition("/")[2]
        report = allowing.get(f"/api/profiles/{identifier}/report")
        assert report.status_code == 200 and "sandbox" in report.headers["content-security-policy"]
        (entry,) = allowing.get("/api/profiles").json()
        assert entry["id"] == identifier and entry["state"] == "done"
    written = allowing.submit("profile", "report", directory=f"job:{identifier}/profile")
    ended = allowing.ended(written)
    assert ended["state"] == "done", ended["message"]


def test_programs_are_refused_unless_the_operator_allows_them(
    site: RunningSite, browser: Browser
) -> None:
    with opened(browser, site.url + "/profiles") as page:
        page.get_by_role("tab", name="Program").click()
        expect(page.get_by_text("does not allow programs of users")).to_be_visible()
        for values in ({"command": ["true"]}, {"pid": 1, "capture": "strace"}):
            request = {"command": ["profile", "record"], "values": values}
            assert site.post("/api/jobs", json=request).status_code == 422


def test_the_whole_host_is_profiled_for_a_time(site: RunningSite, browser: Browser) -> None:
    with opened(browser, site.url + "/profiles") as page:
        page.get_by_role("tab", name="Whole host").click()
        panel = page.get_by_role("tabpanel")
        # The panel that slides out is still there.
        panel.get_by_label(re.compile("^Time")).last.fill("1")
        panel.get_by_label(re.compile("^Interval")).last.fill("0.2")
        panel.get_by_role("button", name="Record").last.click()
        page.wait_for_url("**/profiles/*")
        expect(page.locator("figure").filter(has_text="Memory")).to_be_visible()


def test_a_trace_is_uploaded_characterised_and_simulated(
    site: RunningSite, browser: Browser
) -> None:
    with opened(browser, site.url + "/traces") as page:
        page.locator("input[type=file]").set_input_files(TRACE)
        page.wait_for_url("**/traces/build.strace")
        page.get_by_role("button", name="Characteristics").click()
        page.wait_for_url("**/jobs/*")
        chart = page.locator("figure").filter(has_text="Operations of the trace")
        expect(chart).to_be_visible()
        visit(page, site.url + "/traces/build.strace")
        page.get_by_role("button", name="Simulate").click()
        page.wait_for_url("**/jobs/*")
        job = site.ended(page.url.rpartition("/")[2])
        assert job["state"] == "done", job["message"]


def test_an_unknown_profile_and_trace_are_said_to_be_missing(
    site: RunningSite, browser: Browser
) -> None:
    for path, text in (("/profiles/none", "no profile none"), ("/traces/none", "no trace none")):
        with opened(browser, site.url + path) as page:
            expect(page.get_by_role("alert").filter(has_text=text)).to_be_visible()
    assert site.get("/api/profiles/none/report").status_code == 404
    assert site.get("/api/profiles/..%2f..%2f/report").status_code in (404, 422)


def test_names_in_a_replay_are_quoted() -> None:
    text = replay_scenario('a".toml', "ext4")
    assert 'file = "uploads/a\\".toml"' in text
