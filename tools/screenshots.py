"""Draw the pictures of the pages in docs/images anew, by the Chromium that the tests use.

.venv/bin/python tools/screenshots.py
"""

import re
import sys
import tempfile
from pathlib import Path

from playwright.sync_api import Page, expect, sync_playwright

ROOT = Path(__file__).parent.parent
sys.path.insert(0, str(ROOT / "tests" / "python"))

from web_site import CHROMIUM, FLAGS, WITHOUT, running_site  # noqa: E402

IMAGES = ROOT / "docs" / "images"
SIZE = {"width": 1280, "height": 800}
LARGEST = 200_000
"""Bytes of a picture."""
PATIENCE_MS = 120_000.0


def main() -> None:
    """Run an example, and draw its charts and its net."""
    if CHROMIUM is None:
        raise SystemExit(WITHOUT)
    expect.set_options(timeout=PATIENCE_MS)
    with (
        tempfile.TemporaryDirectory() as directory,
        running_site(Path(directory)) as site,
        sync_playwright() as playwright,
    ):
        chromium = playwright.chromium.launch(executable_path=CHROMIUM, args=list(FLAGS))
        page = chromium.new_page(viewport=SIZE, color_scheme="light")  # type: ignore[arg-type]
        page.goto(f"{site.url}/simulate?example=io500-whatif")
        expect(page.get_by_text("The scenario is correct.")).to_be_visible()
        page.get_by_role("button", name="Run", exact=True).click()
        expect(page.get_by_test_id("job-state")).to_contain_text("done")
        chart = page.get_by_role("img", name="Throughput over time")
        expect(chart).to_be_visible()
        _save(page, "Summary", "browser-simulate.png")
        page.get_by_text("The net at work").click()
        net = page.locator("headrace-net")
        time = net.get_by_role("slider", name="Simulated time")
        expect(time).to_be_visible()
        time.fill(str(int(time.get_attribute("max") or 0) // 3))
        _save(page, "The net at work", "browser-net.png")
        chromium.close()


def _save(page: Page, top: str, name: str) -> None:
    """Scroll to a text and save what is visible."""
    found = page.get_by_text(re.compile(f"^{top}$")).first
    found.evaluate("it => { it.scrollIntoView({block: 'start'}); scrollBy(0, -16); }")
    picture = page.screenshot(path=IMAGES / name)
    if len(picture) > LARGEST:
        raise SystemExit(f"{name}: {len(picture):,} bytes, expected at most {LARGEST:,}")
    print(f"{IMAGES / name}: {len(picture):,} bytes")


if __name__ == "__main__":
    main()
