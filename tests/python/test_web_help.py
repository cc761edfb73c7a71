"""The documentation in the browser."""

import re

import pytest
from playwright.sync_api import Browser, expect

from headrace.web import help_texts
from web_site import RunningSite, opened, visit


def test_a_page_is_found_by_its_words() -> None:
    assert help_texts.search("hot spares")[0].page.path == "how-to/design-reliability"
    assert help_texts.search("") == [] and help_texts.search("xyzzy spares") == []


def test_every_link_of_every_page_leads_somewhere() -> None:
    pages = help_texts.pages()
    assert len(pages) > 60
    root = help_texts.directory()
    assert root is not None
    for page in pages.values():
        text = help_texts.markdown(page)
        for target in re.findall(r"\]\(/help/([^)#]+)", text):
            assert target in pages, (page.path, target)
        for target in re.findall(r"\]\(/help-files/([^)#]+)", text):
            assert (root / target).exists(), (page.path, target)


@pytest.mark.parametrize("path", ["../../../etc/passwd", "..%2f..%2fCargo", "none", "how-to/none"])
def test_other_paths_are_no_pages(site: RunningSite, path: str) -> None:
    answer = site.get(f"/help/{path}")
    assert "root:" not in answer.text and "[package]" not in answer.text


def test_help_is_searched_read_and_opened_as_a_run(site: RunningSite, browser: Browser) -> None:
    with opened(browser, site.url + "/help") as page:
        page.get_by_label("Search the documentation").fill("run a scenario at many points")
        expect(page.get_by_text(re.compile(r"^\d+ pages$"))).to_be_visible()
        page.get_by_role("link", name="Run a scenario at many points").first.click()
        expect(page.get_by_role("heading", name="Run a scenario at many points")).to_be_visible()
        visit(page, site.url + "/help/how-to/store")
        expect(page.get_by_role("link", name="striped-read")).to_have_attribute(
            "href", "/simulate?example=striped-read"
        )
        page.get_by_role("link", name="compare results").first.click()
        expect(page).to_have_url(site.url + "/help/how-to/compare-results")
