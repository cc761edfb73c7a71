"""Drafts of scenarios and nets in a browser: nothing that is typed is lost."""

import re
import socket
from pathlib import Path

import pytest
from playwright.sync_api import Browser, Locator, Page, expect

from headrace.web.design.drafts import LARGEST_TEXT
from web_site import RunningSite, connected, opened, running_site, until, visit

EXAMPLE = "/simulate?example=striped-read"


def text_of(page: Page, name: str = "Scenario (TOML)") -> Locator:
    return page.get_by_role("textbox", name=name)


def type_comment(page: Page, comment: str, name: str = "Scenario (TOML)") -> None:
    """Type a comment at the end of the text."""
    text_of(page, name).click()
    page.keyboard.press("Control+End")
    page.keyboard.type(f"\n# {comment}")


def saved_as(page: Page, name: str) -> None:
    expect(page.get_by_test_id("draft")).to_have_text(f"Saved as {name}.")
    expect(page).to_have_url(re.compile(rf"[?&]draft={name.replace(' ', '[+]')}(&|$)"))


def drafts(site: RunningSite, kind: str = "scenarios") -> dict[str, str]:
    names = [each["name"] for each in site.get(f"/api/{kind}/drafts").json()]
    return {name: site.get(f"/api/{kind}/drafts/{name}").json()["toml"] for name in names}


@pytest.fixture(autouse=True)
def no_drafts(request: pytest.FixtureRequest) -> None:
    """Remove the drafts of other tests from the shared server."""
    if "site" in request.fixturenames:
        site = request.getfixturevalue("site")
        for kind in ("scenarios", "nets"):
            for each in site.get(f"/api/{kind}/drafts").json():
                site.delete(f"/api/{kind}/drafts/{each['name']}")


def test_an_edit_survives_another_page_and_a_reload(site: RunningSite, browser: Browser) -> None:
    with opened(browser, site.url + EXAMPLE) as page:
        expect(page.get_by_role("button", name="Discard changes")).to_be_hidden()
        type_comment(page, "first")
        saved_as(page, "striped-read")
        visit(page, f"{site.url}/help")
        page.go_back()
        connected(page)
        expect(text_of(page)).to_contain_text("# first")
        type_comment(page, "second")
        until(lambda: "# second" in drafts(site)["striped-read"])
        page.reload()
        connected(page)
        expect(text_of(page)).to_contain_text("# second")
        count = page.get_by_label("clients.count", exact=True)
        page.get_by_role("button", name='Expand "clients"').click()
        count.fill("17")
        until(lambda: "count = 17" in drafts(site)["striped-read"])
        page.reload()
        connected(page)
        expect(text_of(page)).to_contain_text("count = 17")
        assert "striped-read 2" not in drafts(site)


def test_text_that_is_typed_without_a_connection_is_kept(tmp_path: Path, browser: Browser) -> None:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    page = browser.new_page()
    with running_site(tmp_path, port=port) as server:
        visit(page, server.url + EXAMPLE)
        type_comment(page, "connected")
        saved_as(page, "striped-read")
    # The next server does not know the page, as after RECONNECT_S: NiceGUI loads it again.
    type_comment(page, "lost")
    page.evaluate("window.isOld = true")
    with running_site(tmp_path, port=port) as server:
        page.wait_for_function("!window.isOld")
        connected(page)
        expect(text_of(page)).to_contain_text("# lost")
        until(lambda: "# connected\n# lost" in drafts(server)["striped-read"])
        assert list(drafts(server)) == ["striped-read"]
        page.close()


def test_changes_are_discarded_and_that_is_undone(site: RunningSite, browser: Browser) -> None:
    # A page that a test has left may save its own draft once more.
    address = f"{site.url}/simulate?example=shared-file-locks"
    with opened(browser, address) as page:
        type_comment(page, "mistake")
        until(lambda: drafts(site).get("shared-file-locks", "").endswith("# mistake"))
        page.reload()
        connected(page)
        page.get_by_role("button", name="Discard changes").click()
        expect(text_of(page)).not_to_contain_text("# mistake")
        expect(page).to_have_url(address)
        until(lambda: "shared-file-locks" not in drafts(site))
        text_of(page).click()
        page.keyboard.press("Control+z")
        expect(text_of(page)).to_contain_text("# mistake")
        saved_as(page, "shared-file-locks")


def test_two_tabs_do_not_overwrite_each_other(site: RunningSite, browser: Browser) -> None:
    site.put("/api/scenarios/drafts/both", json={"toml": 'name = "both"\n'})
    address = f"{site.url}/simulate?draft=both"
    with opened(browser, address) as one, opened(browser, address) as other:
        type_comment(one, "one")
        until(lambda: "# one" in drafts(site)["both"])
        type_comment(other, "other")
        expect(
            other.get_by_text("both has been changed elsewhere: this is both 2.")
        ).to_be_visible()
        until(lambda: "# other" in drafts(site)["both 2"])
        expect(other).to_have_url(re.compile(r"draft=both[+]2$"))
        assert drafts(site)["both"] == 'name = "both"\n\n# one'
        assert drafts(site)["both 2"] == 'name = "both"\n\n# other'


TYPE_MEANWHILE = """
async () => {
  document.activeElement.blur();
  const id = +document.querySelector(".nicegui-codemirror").id.slice(1);
  const editor = getElement(id).editor;
  for (const letter of "\\n# typed meanwhile") {
    editor.dispatch({ changes: { from: editor.state.doc.length, insert: letter } });
    await new Promise((done) => setTimeout(done, 3));
  }
}
"""
"""Leaves a field, and types while its value is on its way into the text."""


def test_text_that_is_set_while_one_types_keeps_what_is_typed(
    site: RunningSite, browser: Browser
) -> None:
    """A field changes the text while keys are on their way: both count."""
    with opened(browser, f"{site.url}/simulate?example=striped-read") as page:
        expect(page.get_by_text("The scenario is correct.")).to_be_visible()
        page.get_by_role("button", name='Expand "clients"').click()
        page.get_by_label("clients.count", exact=True).fill("17")
        page.evaluate(TYPE_MEANWHILE)
        expect(text_of(page)).to_contain_text("# typed meanwhile")
        until(lambda: drafts(site)["striped-read"].endswith("# typed meanwhile"))
        assert "count = 17" in drafts(site)["striped-read"]


def test_a_large_text_of_large_characters_is_saved(site: RunningSite, browser: Browser) -> None:
    """It takes several messages, and each character two units of JavaScript."""
    text = "# " + "\N{GRINNING FACE}" * 200_000
    site.put("/api/scenarios/drafts/faces", json={"toml": text})
    with opened(browser, f"{site.url}/simulate?draft=faces") as page:
        type_comment(page, "x")
        until(lambda: drafts(site)["faces"] == text + "\n# x")


def test_a_scenario_that_cannot_be_saved_says_so(site: RunningSite, browser: Browser) -> None:
    site.put("/api/scenarios/drafts/large", json={"toml": "# " + "a" * (LARGEST_TEXT - 4)})
    with opened(browser, f"{site.url}/simulate?draft=large") as page:
        type_comment(page, "more")
        expect(page.get_by_test_id("draft")).to_have_text(
            f"Not saved: expected at most {LARGEST_TEXT:,} bytes."
        )


def test_drafts_are_listed_where_one_starts(site: RunningSite, browser: Browser) -> None:
    site.put("/api/scenarios/drafts/mine", json={"toml": 'name = "mine"\n'})
    with opened(browser, f"{site.url}/simulate") as page:
        page.get_by_role("button", name="Rename mine").click()
        page.get_by_label("New name").fill("renamed")
        page.get_by_role("dialog").get_by_role("button", name="Rename").click()
        page.get_by_role("link", name="renamed", exact=True).click()
        expect(text_of(page)).to_contain_text('name = "mine"')
        visit(page, f"{site.url}/simulate")
        page.get_by_role("button", name="Delete renamed").click()
        page.get_by_role("button", name="Delete it").click()
        expect(page.get_by_role("link", name="renamed", exact=True)).to_have_count(0)
        visit(page, f"{site.url}/simulate?draft=renamed")
        expect(page.get_by_text("there is no draft renamed")).to_be_visible()


def test_a_net_is_saved_as_a_draft(site: RunningSite, browser: Browser) -> None:
    with opened(browser, f"{site.url}/nets") as page:
        type_comment(page, "kept", "Net (TOML)")
        saved_as(page, "net")
        until(lambda: drafts(site, "nets")["net"].endswith("# kept"))
        page.reload()
        connected(page)
        text_of(page, "Net (TOML)").click()
        page.keyboard.press("Control+End")
        expect(text_of(page, "Net (TOML)")).to_contain_text("# kept")
        expect(page.get_by_role("link", name="net", exact=True)).to_be_visible()
        page.get_by_role("button", name="Discard changes").click()
        expect(page).to_have_url(f"{site.url}/nets")
        until(lambda: not drafts(site, "nets"))


def test_a_file_of_windows_is_edited_without_damage(site: RunningSite, browser: Browser) -> None:
    text = 'name = "windows"\r\n# one\r\n# two\r\n'
    with opened(browser, f"{site.url}/simulate?own=true") as page:
        file = {"name": "own.toml", "mimeType": "text/plain", "buffer": text.encode()}
        page.locator('input[type="file"]').set_input_files(file)  # type: ignore[arg-type]
        expect(text_of(page)).to_contain_text("# two")
        type_comment(page, "end")
        until(lambda: drafts(site).get("scenario", "").endswith("end"))
        assert drafts(site)["scenario"] == 'name = "windows"\n# one\n# two\n\n# end'


def test_a_result_has_an_address_at_once(site: RunningSite, browser: Browser) -> None:
    with opened(browser, f"{site.url}/simulate?example=io500-whatif") as page:
        page.get_by_role("button", name="Run", exact=True).click()
        expect(page).to_have_url(re.compile("example=io500-whatif&run="))
        page.reload()
        connected(page)
        expect(page.get_by_test_id("job-state")).to_contain_text("done")
        expect(page.get_by_test_id("bottleneck")).to_be_visible()
        visit(page, page.url.replace("run=", "run=none"))
        expect(page.get_by_test_id("job-state")).to_have_text("")


def test_the_keyboard_runs_and_figures_are_in_the_first_view(
    site: RunningSite, browser: Browser
) -> None:
    size = {"width": 1280, "height": 800}
    with opened(browser, f"{site.url}/simulate?example=io500-whatif", viewport=size) as page:
        expect(page.get_by_text("The scenario is correct.")).to_be_visible()
        expect(page.get_by_role("button", name="Run", exact=True)).to_be_in_viewport(ratio=1)
        page.get_by_role("button", name='Expand "clients"').click()
        page.get_by_label("clients.count", exact=True).fill("3")
        page.keyboard.press("Control+Enter")
        figures = page.locator(".hr-figures").first
        expect(figures).to_be_in_viewport(ratio=1)
        expect(text_of(page)).to_be_in_viewport()
        job = re.search(r"run=(\w+)", page.url)
        assert job is not None
        assert "count = 3\n" in site.get(f"/api/jobs/{job[1]}/files/scenario.toml").text
        type_comment(page, "typed")
        page.keyboard.press("Control+Enter")
        expect(page).not_to_have_url(re.compile(job[1]))


def test_the_form_explains_the_chosen_kind_only(site: RunningSite, browser: Browser) -> None:
    text = site.get("/api/scenarios/examples/schedulers-two-groups").json()["text"]
    site.put("/api/scenarios/drafts/kinds", json={"toml": text})
    with opened(browser, f"{site.url}/simulate?draft=kinds") as page:
        expect(page.get_by_text("The scenario is correct.")).to_be_visible()
        page.get_by_role("button", name='Expand "scheduler"').click()
        hint = page.locator(".q-field", has=page.get_by_role("combobox", name="scheduler.kind"))
        hint = hint.locator(".q-field__messages")
        expect(hint).to_contain_text("none: ")
        expect(hint).not_to_contain_text("fifo: ")
        page.get_by_role("combobox", name="scheduler.kind").click()
        page.get_by_role("option", name="fifo", exact=True).click()
        expect(hint).to_contain_text("fifo: ")
        expect(hint).not_to_contain_text("none: ")
