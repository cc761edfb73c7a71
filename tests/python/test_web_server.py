"""The start of the server, and damaged files in its data directory."""

import re
import socket
import stat
import time
from pathlib import Path

import pytest
from playwright.sync_api import Browser, expect

from command import command
from headrace.web.access.sessions import Sessions
from headrace.web.access.users import UserFile, secret
from headrace.web.server import reserve_port
from headrace.web.settings import Settings
from web_scenarios import SHORT
from web_site import RunningSite, opened, running_site, until


def test_wrong_settings_are_said_in_one_line(tmp_path: Path) -> None:
    a_file = tmp_path / "file"
    a_file.write_text("x")
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        port = taken.getsockname()[1]
        UserFile(tmp_path / "serve").add("ann")
        for options, expected in (
            ((f"--port={port}",), f"127.0.0.1:{port}: address already in use: expected another"),
            ((f"--allow-directory={a_file}",), "expected a directory"),
            ((f"--tls-cert={a_file}", f"--tls-key={a_file}"), "expected a certificate chain"),
        ):
            answer = command("serve", f"--data-directory={tmp_path / 'serve'}", *options)
            assert (answer.returncode, answer.stdout) == (2, ""), options
            (line,) = answer.stderr.splitlines()
            assert expected in line


@pytest.mark.parametrize("address", ["192.0.2.1", "host.invalid"])
def test_an_address_of_another_host_is_said(tmp_path: Path, address: str) -> None:
    with pytest.raises(ValueError, match=f"{address}:0: .*: expected another --address"):
        reserve_port(Settings(data=tmp_path, address=address, port=0))


def test_port_0_is_a_free_port_that_only_a_server_takes(tmp_path: Path) -> None:
    with reserve_port(Settings(data=tmp_path, port=0)) as reserved:
        port = reserved.getsockname()[1]
        assert 0 < port < 65536
        with socket.socket() as other, pytest.raises(OSError, match="in use"):
            other.bind(("127.0.0.1", port))
        with socket.create_server(("127.0.0.1", port)) as listening:
            socket.create_connection(listening.getsockname()).close()


def test_an_empty_key_is_replaced(tmp_path: Path) -> None:
    path = tmp_path / "cookie.key"
    for damaged in (b"", b"short", b"\xff" * 50):
        path.write_bytes(damaged)
        key = secret(path)
        assert len(key) >= 43 and path.read_text() == key == secret(path)
        assert stat.S_IMODE(path.stat().st_mode) == 0o600


def test_damaged_ended_sessions_are_said(tmp_path: Path) -> None:
    for content in ("5", "[1]", "{", '{"a": "b"}'):
        (tmp_path / "ended-sessions.json").write_text(content)
        with pytest.raises(ValueError, match=r"ended-sessions\.json: .*: remove it"):
            Sessions(UserFile(tmp_path), "key", tmp_path)
    answer = command("serve", f"--data-directory={tmp_path}", "--port=0")
    (line,) = answer.stderr.splitlines()
    assert answer.returncode == 2 and "ended-sessions.json" in line and "remove it" in line


def test_a_damaged_file_of_users_lets_nobody_in(tmp_path: Path) -> None:
    users = UserFile(tmp_path / "serve")
    token = users.add("ann")
    file = tmp_path / "serve" / "users.json"
    content = file.read_bytes()
    with running_site(tmp_path, "--login") as team:
        headers = {"Authorization": f"Bearer {token}"}
        assert team.get("/api/jobs", headers=headers).status_code == 200
        file.write_text("{")
        for path in ("/api/jobs", "/"):
            assert team.get(path, headers=headers).status_code == 503
        assert team.post("/login", data={"name": "ann", "token": token}).status_code == 503
        file.write_bytes(content)
        assert team.get("/api/jobs", headers=headers).status_code == 200
    log = team.log()
    assert f"{file}: " in log and "Traceback" not in log


@pytest.mark.parametrize(
    "path",
    ["/results?kind=none", "/results?kind=a%00", "/results/compare?ids=a,b&by=none"],
)
def test_a_page_takes_any_address(site: RunningSite, path: str) -> None:
    assert site.get(path).status_code == 200


def test_what_clients_do_is_no_error_in_the_log(tmp_path: Path, browser: Browser) -> None:
    """Pages that are left at once, requests that break off, and paths that steer a terminal."""
    with running_site(tmp_path) as it:
        loaded = Path(f"/proc/{it.process.pid}/maps").read_text()
        assert "polars" in loaded and not re.search("/(matplotlib|scipy)/", loaded)
        leave_pages(it, browser)
        break_off_requests(it)
        assert it.get("/x%1b%5b31m%0aforged").status_code == 404
        # NiceGUI waits a second for a page that has been left.
        time.sleep(1.5)
    log = it.log()
    assert "Traceback" not in log
    assert "\x1b" not in log and "\\x1b[31m\\nforged" in log


def leave_pages(site: RunningSite, browser: Browser) -> None:
    """Open and close the navigation, and leave its page at once."""
    for width, open_at_first in ((1280, True), (390, False)):
        with opened(browser, site.url, viewport={"width": width, "height": 800}) as page:
            link = page.get_by_role("link", name="Measure", exact=True)
            menu = page.get_by_role("button", name="Navigation")
            if open_at_first:
                expect(link).to_be_in_viewport()
                menu.click()
            expect(link).not_to_be_in_viewport()
            # On a phone the open navigation covers its button.
            menu.click()
            expect(link).to_be_in_viewport()
            page.goto(site.url + "/jobs")


def break_off_requests(site: RunningSite) -> None:
    """Send the beginnings of requests with bodies."""
    for path in ("/api/jobs", "/api/scenarios/check", "/api/files", "/api/files/x"):
        method = b"PUT" if path.endswith("/x") else b"POST"
        with socket.create_connection(("127.0.0.1", site.port)) as client:
            client.sendall(
                b"%s %s HTTP/1.1\r\nHost: 127.0.0.1:%d\r\nContent-Length: 100\r\n"
                b"Content-Type: multipart/form-data; boundary=x\r\n\r\n--x\r\n"
                % (method, path.encode(), site.port)
            )
            # The server begins to read.
            time.sleep(0.3)
    assert site.get("/healthz").status_code == 200
    partial = site.data / "uploads" / "local"
    while partial.exists() and any(partial.iterdir()):
        time.sleep(0.05)
    assert site.get("/api/files").json() == []


def test_a_page_that_was_cut_off_keeps_its_state(site: RunningSite, browser: Browser) -> None:
    answer = site.get("/_nicegui_ws/socket.io/?EIO=4&transport=polling")
    assert '"pingTimeout":20000' in answer.text, "a busy machine does not lose its pages"
    with opened(browser, site.url + "/help") as page:
        # Longer than NiceGUI would wait by itself.
        page.evaluate(
            "const io = window.socket.io; window.stays = true; io.reconnectionDelay(4000);"
            "io.reconnectionDelayMax(4000); io.randomizationFactor(0); io.engine.close()"
        )
        expect(page.get_by_text(re.compile("Connection lost")).first).to_be_visible()
        page.wait_for_function("window.socket.connected")
        page.get_by_label("Search the documentation").fill("spares")
        expect(page.get_by_text(re.compile(r"^\d+ pages$"))).to_be_visible()
        assert page.evaluate("window.stays")


def test_a_double_click_submits_one_job(site: RunningSite, browser: Browser) -> None:
    before = len(site.get("/api/jobs").json())
    with opened(browser, site.url + "/simulate?example=nfs") as page:
        page.get_by_role("button", name="Run", exact=True).dblclick()
        expect(page.get_by_test_id("job-state")).to_contain_text("done")
        assert len(site.get("/api/jobs").json()) == before + 1
        page.get_by_role("button", name="Run", exact=True).click()
        until(lambda: len(site.get("/api/jobs").json()) == before + 2)
        expect(page.get_by_test_id("job-state")).to_contain_text("done")


def test_a_byte_order_mark_is_no_error(site: RunningSite) -> None:
    text = "\ufeff" + SHORT.replace("\n", "\r\n")
    answer = site.post("/api/scenarios/check", json={"toml": text})
    assert answer.json()["error"] is None
    made = site.submit("run", file="input:a.toml", inputs={"a.toml": text})
    assert site.ended(made)["state"] == "done"
