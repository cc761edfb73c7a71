"""What is typed on a page survives a lost connection, a reload and Back."""

import re
import socket
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

import pytest
from playwright.sync_api import Browser, Page, expect

from web_site import RunningSite, connected, opened, running_site, until, visit

EXAMPLE = "/simulate?example=striped-read"


class Relay:
    """A way to a server. It loses what is sent while it is `deaf`, and can be cut."""

    def __init__(self, port: int) -> None:
        self._server = port
        self._listening = socket.create_server(("127.0.0.1", 0))
        self._open: list[socket.socket] = []
        self.is_deaf = False
        threading.Thread(target=self._accept, daemon=True).start()

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self._listening.getsockname()[1]}"

    def cut(self) -> None:
        """End all connections; those that follow are heard."""
        for each in self._open:
            with suppress(OSError):
                each.shutdown(socket.SHUT_RDWR)
        self._open.clear()
        self.is_deaf = False

    def close(self) -> None:
        self._listening.close()
        self.cut()

    def _accept(self) -> None:
        with suppress(OSError):
            while True:
                page, _ = self._listening.accept()
                server = socket.create_connection(("127.0.0.1", self._server))
                self._open += (page, server)
                for ends in ((page, server), (server, page)):
                    threading.Thread(target=self._pass, args=ends, daemon=True).start()

    def _pass(self, source: socket.socket, target: socket.socket) -> None:
        with suppress(OSError):
            while data := source.recv(1 << 16):
                if not self.is_deaf:
                    target.sendall(data)
        with suppress(OSError):
            target.shutdown(socket.SHUT_RDWR)


@pytest.fixture
def relay(site: RunningSite) -> Iterator[Relay]:
    relay = Relay(site.port)
    yield relay
    relay.close()


@contextmanager
def forgotten(page: Page, site: RunningSite, directory: Path) -> Iterator[RunningSite]:
    """Yield a server that does not know the page, as after RECONNECT_S, when it is loaded anew."""
    page.evaluate("window.isOld = true")
    with running_site(directory, port=site.port) as server:
        page.wait_for_function("!window.isOld")
        connected(page)
        yield server


def draft(site: RunningSite, name: str, kind: str = "scenarios") -> str:
    return str(site.get(f"/api/{kind}/drafts/{name}").json().get("toml", ""))


def names(site: RunningSite, kind: str) -> list[str]:
    return [each["name"] for each in site.get(f"/api/{kind}/drafts").json()]


def test_fields_of_a_command_survive_a_server_that_forgot_them(
    tmp_path: Path, browser: Browser
) -> None:
    page = browser.new_page()
    with running_site(tmp_path) as site:
        visit(page, f"{site.url}/measure/sharing")
        page.get_by_role("button", name="More parameters").click()
        page.get_by_label("Refinements", exact=True).fill("7")
    page.get_by_label("Refinements", exact=True).fill("77")
    page.get_by_label("shared-read", exact=True).fill("61")
    page.get_by_role("combobox", name="Operations on the shared file").click()
    option = page.get_by_role("option").last
    chosen = option.inner_text()
    option.click()
    with forgotten(page, site, tmp_path):
        expect(page.get_by_label("Refinements", exact=True)).to_have_value("77")
        expect(page.get_by_label("shared-read", exact=True)).to_have_value("61")
        expect(page.get_by_text("Sum of the percentages: 91 %")).to_be_visible()
        sharing = page.get_by_role("combobox", name="Operations on the shared file")
        expect(sharing).to_have_value(chosen)
    page.close()


def test_fields_survive_a_reload_and_back_and_the_server_has_them(
    site: RunningSite, browser: Browser
) -> None:
    with opened(browser, f"{site.url}/design/calculators") as page:
        page.get_by_role("tab", name="Spares").click()
        # The calculator that was open has a field of this name too.
        expect(page.get_by_label("Restock", exact=True)).to_be_visible()
        field = page.get_by_label("Disks", exact=True).locator("visible=true")
        field.fill("123")
        page.reload()
        connected(page)
        expect(page.get_by_role("tab", name="Spares")).to_have_attribute("aria-selected", "true")
        expect(field).to_have_value("123")
        visit(page, f"{site.url}/help")
        page.go_back()
        connected(page)
        expect(field).to_have_value("123")
        page.get_by_role("button", name="Compute").locator("visible=true").click()
        expect(page.get_by_text(re.compile("arithmetic"))).to_be_visible()


def test_rows_of_a_study_survive_a_reload(site: RunningSite, browser: Browser) -> None:
    with opened(browser, site.url + EXAMPLE) as page:
        expect(page.get_by_text("The scenario is correct.")).to_be_visible()
        page.get_by_role("tab", name="Studies").click()
        page.get_by_role("button", name=re.compile('Expand "optimise"')).click()
        page.get_by_label("Vary a field").fill("clients.count")
        page.get_by_role("option", name=re.compile("^clients.count:")).click()
        page.get_by_label("clients.count", exact=True).locator("visible=true").fill("1, 2")
        page.get_by_role("button", name="Add a constraint").click()
        page.get_by_label("Limit", exact=True).fill("5 ms")
        page.reload()
        connected(page)
        page.get_by_role("tab", name="Studies").click()
        values = page.get_by_label("clients.count", exact=True).locator("visible=true")
        expect(values).to_have_value("1, 2")
        expect(page.get_by_label("Limit", exact=True)).to_have_value("5 ms")
        page.get_by_role("button", name="Remove the constraint").click()
        expect(page.get_by_label("Limit", exact=True)).to_have_count(0)
        page.reload()
        connected(page)
        page.get_by_role("tab", name="Studies").click()
        expect(values).to_have_value("1, 2")
        expect(page.get_by_label("Limit", exact=True)).to_have_count(0)


def test_a_field_of_a_scenario_reaches_its_text_after_the_server_forgot_the_page(
    tmp_path: Path, browser: Browser
) -> None:
    page = browser.new_page()
    with running_site(tmp_path) as site:
        visit(page, site.url + EXAMPLE)
        page.get_by_role("button", name='Expand "clients"').click()
        page.get_by_label("clients.count", exact=True).fill("3")
        until(lambda: "count = 3\n" in draft(site, "striped-read"))
        expect(page.get_by_test_id("draft")).to_have_text("Saved as striped-read.")
    page.get_by_label("clients.count", exact=True).fill("37")
    page.wait_for_function("JSON.stringify(sessionStorage).includes('37')")
    with forgotten(page, site, tmp_path) as server:
        until(lambda: "count = 37" in draft(server, "striped-read"))
        expect(page.get_by_label("clients.count", exact=True)).to_have_value("37")
        assert names(server, "scenarios") == ["striped-read"]
    page.close()


def test_an_answer_of_a_worksheet_survives_a_server_that_forgot_the_page(
    tmp_path: Path, browser: Browser
) -> None:
    page = browser.new_page()
    usable = page.get_by_label(re.compile("^How much usable"))
    with running_site(tmp_path) as site:
        site.put("/api/design/drafts/kept", json={"toml": '[capacity]\nusable = "1 TB"\n'})
        visit(page, f"{site.url}/design/drafts/kept")
        page.get_by_role("tab", name=re.compile("^Capacity")).click()
        expect(usable.first).to_have_value("1 TB")
    usable.first.fill("8 TB")
    page.wait_for_function("JSON.stringify(sessionStorage).includes('8 TB')")
    with forgotten(page, site, tmp_path) as server:
        until(lambda: '"8 TB"' in draft(server, "kept", "design"))
        expect(usable.first).to_have_value("8 TB")
    page.close()


def test_what_a_dead_connection_lost_is_entered_when_it_is_back(
    site: RunningSite, relay: Relay, browser: Browser
) -> None:
    site.put("/api/scenarios/drafts/dead", json={"toml": 'name = "dead"\n'})
    with opened(browser, f"{relay.url}/simulate?draft=dead") as page:
        page.get_by_role("textbox", name="Scenario (TOML)").click()
        page.keyboard.press("Control+End")
        page.keyboard.type("# heard\n")
        until(lambda: draft(site, "dead").endswith("# heard\n"))
        page.evaluate("window.isOld = true")
        relay.is_deaf = True
        page.keyboard.type("# lost\n")
        relay.cut()
        page.keyboard.type("# back\n")
        until(lambda: draft(site, "dead").endswith("# heard\n# lost\n# back\n"))
        assert page.evaluate("window.isOld")
        for _ in range(6):
            page.keyboard.press("Control+z")
        expect(page.get_by_role("textbox", name="Scenario (TOML)")).not_to_contain_text("# lost")
        assert "dead 2" not in names(site, "scenarios")


def test_a_page_that_comes_back_overwrites_no_newer_text(tmp_path: Path, browser: Browser) -> None:
    page = browser.new_page()
    with running_site(tmp_path) as site:
        site.put("/api/scenarios/drafts/mine", json={"toml": 'name = "mine"\n'})
        visit(page, f"{site.url}/simulate?draft=mine")
        expect(page.get_by_role("textbox", name="Scenario (TOML)")).to_contain_text("mine")
    page.get_by_role("textbox", name="Scenario (TOML)").click()
    page.keyboard.press("Control+End")
    page.keyboard.type("# offline")
    saved = next((tmp_path / "serve" / "designs").rglob("mine.toml"))
    saved.write_text('name = "newer"\n')
    with forgotten(page, site, tmp_path) as server:
        until(lambda: "# offline" in draft(server, "mine 2"))
        assert draft(server, "mine") == 'name = "newer"\n'
    page.close()
