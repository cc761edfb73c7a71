"""The start page."""

from playwright.sync_api import Browser, expect

from web_site import RunningSite, opened


def test_a_newcomer_finds_three_things_to_do(site: RunningSite, browser: Browser) -> None:
    with opened(browser, site.url) as page:
        for name in ("Simulate an example", "Measure a directory", "Open a result"):
            expect(page.get_by_role("link", name=name)).to_be_visible()
