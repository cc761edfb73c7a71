"""The pages of simulations, in a browser."""

import re
from pathlib import Path

import pytest
from playwright.sync_api import Browser, Locator, Page, expect

from web_site import RunningSite, opened


def text_of(page: Page) -> Locator:
    return page.get_by_role("textbox", name="Scenario (TOML)")


def correct(page: Page) -> None:
    expect(page.get_by_text("The scenario is correct.")).to_be_visible()


def section(page: Page, name: str) -> None:
    page.get_by_role("button", name=f'Expand "{name}"', exact=True).click()
    expect(page.get_by_role("button", name=f'Collapse "{name}"', exact=True)).to_be_visible()
    # What is below moves while it unfolds: a click would miss it.
    page.wait_for_function(
        "() => !document.getAnimations().some((it) => it instanceof CSSTransition)"
    )


def test_a_scenario_is_opened_from_a_file(
    site: RunningSite, browser: Browser, tmp_path: Path
) -> None:
    (tmp_path / "own.toml").write_text('name = "from a file"\n')
    with opened(browser, f"{site.url}/simulate?example=striped-read") as page:
        correct(page)
        with page.expect_file_chooser() as chooser:
            page.get_by_role("button", name="Open a file").click()
        chooser.value.set_files(tmp_path / "own.toml")
        expect(text_of(page)).to_contain_text("from a file")


def test_the_text_changes_the_form_and_errors_are_at_line_and_field(
    site: RunningSite, browser: Browser
) -> None:
    with opened(browser, f"{site.url}/simulate?example=striped-read") as page:
        correct(page)
        section(page, "clients")
        count = page.get_by_label("clients.count", exact=True)
        expect(count).to_have_value("64")
        replace(page, "[clients]", "count = 64", "count = 32")
        expect(count).to_have_value("32")
        correct(page)
        replace(page, "[clients]", "count = 32", "count = -1")
        line = page.locator(".hr-wrong-line")
        expect(line).to_contain_text("count = -1")
        error = page.get_by_test_id("error")
        expect(error).to_contain_text(re.compile(r"Line \d+, column \d+: "))
        field = page.locator(".q-field--error").filter(
            has=page.get_by_label("clients.count", exact=True)
        )
        expect(field).to_be_visible()
        count.fill("16")
        correct(page)
        expect(line).to_have_count(0)


def replace(page: Page, section: str, old: str, new: str) -> None:
    """Replace a line in the editor as a user does: select and type."""
    line = text_of(page).locator(".cm-line", has_text=old).first
    line.click()
    page.keyboard.press("Home")
    page.keyboard.press("Shift+End")
    page.keyboard.type(new)


def test_text_that_is_no_toml_is_pointed_at(site: RunningSite, browser: Browser) -> None:
    with opened(browser, f"{site.url}/simulate?own=true") as page:
        text_of(page).click()
        page.keyboard.press("Control+a")
        page.keyboard.type('name = "mine"\n[clients\n')
        expect(page.get_by_test_id("error")).to_contain_text("not valid TOML")
        expect(page.locator(".hr-wrong-line")).to_contain_text("[clients")


def test_a_field_is_found_added_and_removed(site: RunningSite, browser: Browser) -> None:
    with opened(browser, f"{site.url}/simulate?example=io500-whatif") as page:
        correct(page)
        search = page.get_by_role("combobox", name="Add a field (type to search)")
        search.fill("layout.unit")
        page.get_by_role("option", name=re.compile("^layout.unit")).click()
        # Its value without being given, and where that comes from.
        expect(page.get_by_text(re.compile("^Now: .*preset pvfs2"))).to_be_visible()
        page.get_by_label("Value of layout.unit", exact=True).fill("1 MiB")
        page.get_by_role("button", name="Add", exact=True).click()
        expect(text_of(page)).to_contain_text('unit = "1 MiB"')
        correct(page)
        page.get_by_role("button", name="Remove layout.unit").click()
        expect(text_of(page)).not_to_contain_text("[layout]")


def test_a_slider_answers_with_the_base_beside_it(site: RunningSite, browser: Browser) -> None:
    with opened(browser, f"{site.url}/simulate?example=io500-whatif") as page:
        correct(page)
        page.get_by_role("tab", name="Sliders").click()
        state = page.get_by_test_id("slider-state")
        expect(state).to_have_text("The scenario as it is.")
        bandwidth = page.get_by_role("slider", name=re.compile("network.bandwidth"))
        bandwidth.focus()
        page.keyboard.press("Home")
        expect(state).to_have_text("With network.bandwidth = 1.25 Gbit/s:")
        expect(page.get_by_test_id("slider-bottleneck")).to_contain_text("card")
        expect(page.get_by_text("base: 2,196 MB/s")).to_be_visible()
        page.get_by_role("button", name="Apply to the scenario").click()
        expect(text_of(page)).to_contain_text('bandwidth = "1.25 Gbit/s"')


def study(page: Page, name: str) -> None:
    page.get_by_role("tab", name="Studies").click()
    section(page, name)


def vary(page: Page, field: str) -> Locator:
    """Choose a field to vary and return the box of its values."""
    chooser = page.get_by_label(re.compile("^Vary a field")).locator("visible=true")
    chooser.click()
    chooser.fill(field)
    page.get_by_role("option", name=re.compile(f"^{re.escape(field)}: ")).first.click()
    return page.get_by_role("textbox", name=field, exact=True).locator("visible=true")


def test_studies_run_as_jobs(site: RunningSite, browser: Browser) -> None:
    """A sweep of a field from the list, whose values are checked before the start."""
    with opened(browser, f"{site.url}/simulate?example=io500-whatif") as page:
        correct(page)
        study(page, "sweep")
        start = page.get_by_role("button", name="Start sweep")
        start.click()
        expect(page.get_by_text("choose a field, or give linked ones")).to_be_visible()
        values = vary(page, "network.bandwidth")
        for wrong, message in (
            ("", "expected values, such as 1, 2, 4"),
            ("1 Gbit/s, 2", '2: expected a rate such as "1 Gbit/s" or "125 MB/s"'),
            ("1 Gbit/s,", "a value is empty"),
        ):
            values.fill(wrong)
            start.click()
            expect(page.get_by_text(message).locator("visible=true").first).to_be_visible()
            alerts = " ".join(page.get_by_role("alert").all_inner_texts())
            assert "--" not in alerts
        values.fill("1 Gbit/s, 10 Gbit/s")
        start.click()
        state = page.get_by_test_id("job-state").filter(has_text="sweep")
        expect(state).to_contain_text("done")
        expect(page).to_have_url(re.compile("&study="))
        expect(page.get_by_role("img", name=re.compile("Throughput")).first).to_be_visible()
    request = site.get("/api/jobs", params={"limit": 1}).json()[0]["request"]
    assert request["values"]["vary"] == ["network.bandwidth=1 Gbit/s, 10 Gbit/s"]


def test_an_optimum_has_goals_and_limits_from_lists(site: RunningSite, browser: Browser) -> None:
    with opened(browser, f"{site.url}/simulate?example=io500-whatif") as page:
        correct(page)
        study(page, "optimise")
        vary(page, "servers.count").fill("1, 2")
        start = page.get_by_role("button", name="Start optimise")
        start.click()
        expect(page.get_by_text("nothing is maximised or minimised").first).to_be_visible()
        page.get_by_role("combobox", name="Maximise").click()
        page.get_by_role("option", name="throughput", exact=True).click()
        page.keyboard.press("Escape")
        page.get_by_role("button", name="Add a constraint").click()
        limit = page.get_by_role("textbox", name="Limit", exact=True)
        limit.fill("20")
        start.click()
        expect(page.get_by_text("expected a limit such as '20 ms', not '20'").first).to_be_visible()
        limit.fill("20 s")
        start.click()
        state = page.get_by_test_id("job-state").filter(has_text="optimise")
        expect(state).to_contain_text("done")
    values = site.get("/api/jobs", params={"limit": 1}).json()[0]["request"]["values"]
    assert values["maximise"] == ["throughput"]
    assert values["subject_to"] == ["latency_p99 <= 20 s"]


def test_the_net_is_drawn(site: RunningSite, browser: Browser) -> None:
    with opened(browser, f"{site.url}/simulate?example=io500-whatif") as page:
        correct(page)
        page.get_by_role("tab", name="Net").click()
        expect(page.locator("headrace-net svg").first).to_be_visible()


def test_presets_make_a_scenario(site: RunningSite, browser: Browser) -> None:
    with opened(browser, f"{site.url}/simulate") as page:
        page.get_by_role("button", name="Open the presets").click()
        expect(page).to_have_url(re.compile("system=nfs&workload=sfs-nfsv3"))
        correct(page)
        expect(text_of(page)).to_contain_text('system = "nfs"')


def test_a_result_of_the_store_opens_with_its_charts(site: RunningSite, browser: Browser) -> None:
    text = site.get("/api/scenarios/examples/io500-whatif").json()["text"]
    result = site.stored(
        site.submit("run", inputs={"scenario.toml": text}, file="input:scenario.toml")
    )
    with opened(browser, f"{site.url}/simulate?result={result}") as page:
        correct(page)
        expect(page.get_by_role("img", name="Throughput over time")).to_be_visible()
    with opened(browser, f"{site.url}/simulate?result=nothere") as page:
        expect(page.get_by_role("alert").first).to_contain_text("nothere")


def test_two_users_edit_and_slide_at_once(site: RunningSite, browser: Browser) -> None:
    with (
        opened(browser, f"{site.url}/simulate?example=io500-whatif") as one,
        opened(browser, f"{site.url}/simulate?example=striped-read") as other,
    ):
        for page in (one, other):
            correct(page)
            page.get_by_role("tab", name="Sliders").click()
        for page in (one, other):
            page.get_by_role("slider", name=re.compile("servers.count")).focus()
            page.keyboard.press("End")
        for page in (one, other):
            expect(page.get_by_test_id("slider-state")).to_have_text("With servers.count = 32:")
        expect(one.get_by_role("heading", name="IO500 on a small cluster")).to_be_visible()
        expect(other.get_by_role("heading", name="striped read")).to_be_visible()


HOSTILE = "<img src=x onerror=window.hit=1>"


def test_names_of_a_scenario_are_shown_as_text(site: RunningSite, browser: Browser) -> None:
    text = site.get("/api/scenarios/examples/schedulers-two-groups").json()["text"]
    text = text.replace('"batch"', f'"{HOSTILE}"').replace("batch", "interactive")
    text = re.sub(r"^name = .*$", f'name = "{HOSTILE}"', text, flags=re.MULTILINE)
    with opened(browser, f"{site.url}/simulate?own=true") as page:
        text_of(page).click()
        page.keyboard.press("Control+a")
        page.keyboard.insert_text(text)
        expect(page.get_by_role("heading", name=HOSTILE)).to_be_visible()
        for name in ("Net", "Sliders", "Result"):
            page.get_by_role("tab", name=name).click()
        page.get_by_role("button", name="Run", exact=True).click()
        expect(page.get_by_test_id("job-state")).to_contain_text(HOSTILE)
        expect(page.get_by_test_id("job-state")).to_contain_text("done")
        expect(page.get_by_test_id("bottleneck")).to_be_visible()
        assert page.evaluate("window.hit") is None


@pytest.mark.parametrize("name", ["check", "run", "net"])
def test_the_api_answers_and_refuses(site: RunningSite, name: str) -> None:
    text = site.get("/api/scenarios/examples/io500-whatif").json()["text"]
    asked = {"toml": text, "sets": {"clients.count": 4}}
    answer = site.post(f"/api/scenarios/{name}", json=asked)
    assert answer.status_code == 200, answer.text
    key = {"check": "quantities", "run": "throughput", "net": "svg"}[name]
    assert answer.json()[key]
    wrong = site.post(f"/api/scenarios/{name}", json={"toml": 'system = "/etc/passwd.toml"\n'})
    assert "outside the directories" in wrong.text
    assert site.post(f"/api/scenarios/{name}", json={"text": text}).status_code == 422


def test_the_api_lists_examples_presets_and_the_schema(site: RunningSite) -> None:
    names = [it["name"] for it in site.get("/api/scenarios/examples").json()]
    assert names[0] == "io500-whatif" and "pfssim-sfq" in names
    assert site.get("/api/scenarios/examples/none").status_code == 404
    assert "nfs" in site.get("/api/scenarios/presets").json()["systems"]
    assert 'system = "nfs"' in site.get("/api/scenarios/presets/nfs/dbench").json()["toml"]
    assert site.get("/api/scenarios/presets/nfs/none").status_code == 404
    assert "oneOf" in site.get("/api/scenarios/schema").json()
    error = site.post("/api/scenarios/check", json={"toml": "name = 1\n"}).json()["error"]
    assert (error["line"], error["column"]) == (1, 8)
