"""The start page."""

from playwright.sync_api import Browser, expect

from web_site import RunningSite, browser, site

__all__ = ["browser", "site"]


def test_a_newcomer_finds_three_things_to_do(site: RunningSite, browser: Browser) -> None:
    page = browser.new_page()
    page.goto(site.url)
    for name in ("Simulate an example", "Measure a directory", "Open a result"):
        expect(page.get_by_role("link", name=name)).to_be_visible()
    page.close()
