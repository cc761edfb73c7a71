"""The pages of designs, in a browser."""

import re
from contextlib import suppress
from pathlib import Path

from playwright.sync_api import Browser, Page, expect

from design_search_sample import CATALOGUE_TEXT, WORKSHEET_TEXT
from headrace.design import forms
from web_site import RunningSite, opened, running_site

USABLE = "How much usable capacity is needed at the start, after redundancy and file system?"


def correct(page: Page) -> None:
    expect(page.get_by_test_id("state")).to_have_text("The worksheet is correct and saved.")


def section(page: Page, name: str) -> None:
    page.get_by_role("tab", name=re.compile(f"^{re.escape(name)}")).click()


def test_a_worksheet_is_filled_in_left_and_resumed(tmp_path: Path, browser: Browser) -> None:
    with running_site(tmp_path) as server, opened(browser, f"{server.url}/design") as page:
        page.get_by_role("button", name="Example lab").click()
        correct(page)
        section(page, "Capacity and growth")
        usable = page.get_by_label(USABLE)
        usable.fill("20 furlong")
        # The message of `headrace design check`, at the field and with its line.
        field = page.locator(".q-field--error").filter(has=usable)
        expect(field).to_contain_text("expected a size such as")
        expect(page.get_by_test_id("error")).to_contain_text(re.compile(r"Line 46, column 10:"))
        expect(
            page.get_by_role("tab", name=re.compile("Capacity and growth.*mistake"))
        ).to_be_visible()
        usable.fill("24 TB")
        correct(page)
        expect(page.get_by_role("textbox", name="Worksheet (TOML)")).to_contain_text("lab")
        section(page, "Zones")
        page.get_by_role("button", name="Add a zone").click()
        zone = page.get_by_role("group", name="zone 3")
        expect(zone.get_by_label("What is it called?")).to_have_value("zone 1")
        zone.get_by_label("What is it called?").fill("scratch")
        correct(page)
        page.get_by_role("button", name="Remove zone 1").click()
        # Data and applications name the zone that is gone.
        expect(page.get_by_test_id("error")).to_contain_text("zone")
        expect(page.get_by_role("group", name="zone 3")).to_have_count(0)
    text = (tmp_path / "serve/designs/worksheets/local/lab.toml").read_text()
    assert 'usable = "24 TB"' in text
    assert "# Hindman 2011, section 2.3" in text
    assert 'name = "scratch"' in text
    with running_site(tmp_path) as server, opened(browser, f"{server.url}/design") as page:
        page.get_by_role("link", name="lab", exact=True).click()
        section(page, "Capacity and growth")
        expect(page.get_by_label(USABLE)).to_have_value("24 TB")


def test_unknown_answers_flow_and_advice_are_shown(site: RunningSite, browser: Browser) -> None:
    site.put("/api/design/drafts/advised", json={"toml": forms.example("lab")})
    with opened(browser, f"{site.url}/design/drafts/advised") as page:
        correct(page)
        unknown = page.get_by_test_id("unknown")
        unknown.get_by_role("button", name=re.compile("questions without an answer")).click()
        expect(unknown).to_contain_text("facility.cooling is unknown")
        facility = page.get_by_role("tab", name="Facility")
        # The list still unfolds: a click can miss the button.
        for _ in range(5):
            unknown.get_by_role("button", name="Facility").first.click()
            with suppress(AssertionError):
                expect(facility).to_have_attribute("aria-selected", "true", timeout=10_000)
                break
        expect(page.get_by_label("Which current can a circuit carry?")).to_have_value("16 A")
        section(page, "Flow diagram")
        image = page.get_by_alt_text("Data-flow diagram of the worksheet")
        expect(image).to_be_visible()
        page.wait_for_function("() => document.querySelector('img').naturalWidth > 300")
        section(page, "Advice")
        expect(page.get_by_role("cell", name="raid10").first).to_be_visible()
        page.get_by_role("button", name=re.compile("Zone home: reasons")).click()
        expect(page.get_by_text("Hindman 2011").first).to_be_visible()


def test_contradictions_are_shown(site: RunningSite, browser: Browser) -> None:
    text = forms.example("lab").replace("initial = 60_000", "initial = 100")
    site.put("/api/design/drafts/poor", json={"toml": text})
    with opened(browser, f"{site.url}/design/drafts/poor") as page:
        expect(page.get_by_text(re.compile("^Contradiction: budget.initial"))).to_be_visible()


def test_a_change_in_the_text_reaches_the_form(site: RunningSite, browser: Browser) -> None:
    site.put("/api/design/drafts/typed", json={"toml": '[capacity]\nusable = "1 TB"\n'})
    with opened(browser, f"{site.url}/design/drafts/typed") as page:
        correct(page)
        section(page, "Capacity and growth")
        page.get_by_role("textbox", name="Worksheet (TOML)").fill('[capacity]\nusable = "7 TB"\n')
        expect(page.get_by_label(USABLE)).to_have_value("7 TB")
        site.put("/api/design/drafts/typed", json={"toml": '[capacity]\nusable = "9 TB"\n'})
        page.get_by_label(USABLE).fill("8 TB")
        other = "typed has been changed elsewhere: this is typed 2."
        expect(page.get_by_test_id("draft")).to_have_text(other)
        expect(page).to_have_url(f"{site.url}/design/drafts/typed%202")
        assert "9 TB" in site.get("/api/design/drafts/typed").json()["toml"]
        assert "8 TB" in site.get("/api/design/drafts/typed 2").json()["toml"]


def test_a_worksheet_is_solved_and_its_figures_show_their_arithmetic(
    site: RunningSite, browser: Browser, tmp_path: Path
) -> None:
    site.put("/api/design/drafts/small", json={"toml": WORKSHEET_TEXT})
    (tmp_path / "small parts.toml").write_text(CATALOGUE_TEXT)
    with opened(browser, f"{site.url}/design/drafts/small") as page:
        correct(page)
        section(page, "Solve")
        with page.expect_file_chooser() as chooser:
            page.get_by_role("button", name="Upload a catalogue").click()
        chooser.value.set_files(tmp_path / "small parts.toml")
        expect(page.get_by_role("combobox", name="Catalogue")).to_have_value("small parts")
        page.get_by_role("tabpanel").get_by_label("Time limit").fill("60 s")
        page.get_by_role("button", name="Search").click()
        expect(page.get_by_test_id("summary")).to_contain_text("cheapest design")
        identifier = page.url.rsplit("/", 1)[1]
        designs = site.get(f"/api/design/solutions/{identifier}").json()["designs"]
        last = designs[-1]
        mark = last["label"] + (" (chosen)" if last["chosen"] else "")
        page.locator("figure svg text").filter(has_text=re.compile(rf"^{re.escape(mark)}$")).click()
        expect(page.get_by_role("heading", name=f"Design {last['label']}:")).to_be_visible()
        expect(page.get_by_role("table", name="Bill of materials")).to_contain_text("data disks")
        page.get_by_role("button", name=re.compile("^usable capacity:")).click()
        dialog = page.get_by_role("dialog")
        expect(dialog).to_contain_text("capacity for files / copies")
        expect(dialog.get_by_test_id("figure-numbers")).to_contain_text("TB /")
        dialog.get_by_role("button", name=re.compile("^capacity for files:")).click()
        expect(dialog).to_contain_text("data of the arrays - overhead")
        dialog.get_by_role("button", name="Back").click()
        expect(dialog).to_contain_text("capacity for files / copies")
        dialog.get_by_role("button", name="Close").click()
        with page.expect_download() as download:
            page.get_by_role("link", name="Report (PDF)").click()
        assert Path(download.value.path()).read_bytes().startswith(b"%PDF")
        page.get_by_role("button", name='Expand "Report"').click()
        report = page.frame_locator("iframe")
        expect(report.get_by_role("heading").first).to_be_visible()
        page.get_by_role("link", name="Simulate this design").click()
        expect(page.get_by_text("The scenario is correct.")).to_be_visible()
        page.goto(f"{site.url}/jobs/{identifier}")
        expect(page.get_by_role("table", name="Designs")).to_contain_text(re.compile("[0-9] EUR"))
    answer = site.get(f"/api/design/solutions/{identifier}/report")
    assert "sandbox" in answer.headers["content-security-policy"]


def test_a_search_that_is_none_is_said(site: RunningSite, browser: Browser) -> None:
    with opened(browser, f"{site.url}/design/solutions/none") as page:
        expect(page.get_by_text("There is no search none.")).to_be_visible()
        page.goto(f"{site.url}/design/drafts/none")
        expect(page.get_by_text("there is no draft none")).to_be_visible()
        page.goto(f"{site.url}/simulate?job=none&file=x")
        expect(page.get_by_text("There is no scenario x of a job none.")).to_be_visible()


def test_the_calculators_compute(site: RunningSite, browser: Browser) -> None:
    with opened(browser, f"{site.url}/design/calculators?calculator=capacity") as page:
        page.get_by_role("button", name="Compute").click()
        page.get_by_role("button", name=re.compile("^usable capacity: 40 TB")).click()
        expect(page.get_by_role("dialog")).to_contain_text("capacity for files / copies")
        page.get_by_role("dialog").get_by_role("button", name="Close").click()
        page.get_by_label("Level", exact=True).fill("raid9")
        page.get_by_role("button", name="Compute").click()
        expect(page.get_by_role("alert").filter(has_text="raid9")).to_be_visible()
        page.get_by_role("tab", name="Hot spares").click()
        page.get_by_label("Restock", exact=True).fill("soon")
        page.get_by_role("button", name="Compute").click()
        expect(page.get_by_text('Restock: expected a time such as "30 s"')).to_be_visible()


def test_drafts_are_renamed_copied_and_deleted(site: RunningSite, browser: Browser) -> None:
    site.put("/api/design/drafts/first", json={"toml": WORKSHEET_TEXT})
    with opened(browser, f"{site.url}/design", viewport={"width": 390, "height": 800}) as page:
        page.get_by_role("button", name="Copy first").click()
        expect(page.get_by_role("link", name="first copy")).to_be_visible()
        page.get_by_role("button", name="Rename first copy").click()
        page.get_by_label("New name").fill("second")
        page.get_by_role("dialog").get_by_role("button", name="Rename").click()
        expect(page.get_by_role("link", name="second")).to_be_visible()
        page.get_by_role("button", name="Delete second").click()
        page.get_by_role("button", name="Delete it").click()
        expect(page.get_by_role("link", name="second")).to_have_count(0)
        with page.expect_download() as download:
            page.get_by_role("button", name="Download first").click()
        assert Path(download.value.path()).read_text() == WORKSHEET_TEXT
        width = page.evaluate("document.documentElement.scrollWidth")
        assert width <= 390
