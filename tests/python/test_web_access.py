"""Who may use the pages and the API: logins, tokens, requests from elsewhere, rates and bodies."""

import contextlib
import os
import re
import socket
import stat
import subprocess
from collections.abc import Iterator
from pathlib import Path

import httpx
import pytest
from playwright.sync_api import Browser, Page, expect

from command import command
from headrace.web.access.login import local_path
from headrace.web.access.rate_limits import Failures, RequestRate
from headrace.web.access.users import UserFile
from web_site import LOCAL_TOKEN, RunningSite, connected, running_server, running_site

PAGES = ("/", "/jobs", "/jobs/x", "/nothing")
OTHERS = ("/api/jobs", "/api/openapi.json", "/api/files", "/metrics", "/_nicegui/x", "/api/")


class Team:
    """A server with users."""

    def __init__(self, site: RunningSite, users: UserFile) -> None:
        self.site, self.users = site, users
        self.ann, self.bob = users.add("ann"), users.add("bob", operator=True)

    def get(self, path: str, token: str) -> httpx.Response:
        """Request a path with a token."""
        return self.site.get(path, headers={"Authorization": f"Bearer {token}"})

    def log_in(self, name: str, token: str, **options: object) -> httpx.Client:
        """Return a client with the session of a user."""
        client = httpx.Client(base_url=self.site.url, timeout=60, verify=False)
        answer = client.post("/login", data={"name": name, "token": token})
        assert answer.status_code == 303, answer.text
        return client


@pytest.fixture(scope="module")
def team(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Team]:
    """A server that needs logins, with two users."""
    directory = tmp_path_factory.mktemp("team")
    users = UserFile(directory / "serve")
    users.add("zoe")
    with running_site(directory, "--address=0.0.0.0") as it:
        yield Team(it, users)


def test_other_addresses_need_users(tmp_path: Path) -> None:
    for address in ("0.0.0.0", "host.example"):
        answer = command("serve", f"--data-directory={tmp_path}", f"--address={address}")
        assert answer.returncode == 2
        (line,) = answer.stderr.splitlines()
        assert "headrace serve user add" in line
    assert "needs users" in command("serve", f"--data-directory={tmp_path}", "--login").stderr


def test_users_are_added_listed_and_removed(tmp_path: Path) -> None:
    data = f"--data-directory={tmp_path / 'new'}"
    token = command("serve", "user", "add", "ann", data).stdout.strip()
    operator = command("serve", "user", "add", "bob", "--operator", data).stdout.strip()
    file = tmp_path / "new" / "users.json"
    assert stat.S_IMODE(file.stat().st_mode) == 0o600
    assert stat.S_IMODE(file.parent.stat().st_mode) == 0o700
    assert token not in file.read_text() and operator not in file.read_text()
    assert command("serve", "user", "list", data).stdout == "ann\nbob  operator\n"
    users = UserFile(tmp_path / "new")
    assert (found := users.with_token(token)) is not None and found.name == "ann"
    assert command("serve", "user", "remove", "ann", data).returncode == 0
    assert users.with_token(token) is None
    for wrong in (("add", "bob"), ("remove", "ann"), ("add", "local"), ("add", "../x")):
        answer = command("serve", "user", *wrong, data)
        assert (answer.returncode, len(answer.stderr.splitlines())) == (2, 1), wrong
    file.write_text("{")
    assert "users.json" in command("serve", "user", "list", data).stderr


def test_nothing_is_shown_without_a_login(team: Team) -> None:
    for path in PAGES:
        answer = team.site.get(path)
        assert answer.status_code == 303
        assert answer.headers["location"].startswith("/login")
    for path in OTHERS:
        answer = team.site.get(path)
        assert answer.status_code == 401, path
        assert answer.headers["www-authenticate"] == "Bearer"
    for path in (*PAGES, *OTHERS):
        assert team.site.post(path).status_code == 401, path
    assert team.site.get("/healthz").text == "ok\n"


@pytest.mark.parametrize("value", ["Bearer wrong", "Bearer", "Basic YTpi", "Bearer é", "wrong"])
def test_a_wrong_token_is_refused(team: Team, value: str) -> None:
    header = {"Authorization": value.encode("latin-1")}
    assert team.site.get("/api/jobs", headers=header).status_code == 401


def test_a_token_is_for_the_api_and_the_pages(team: Team) -> None:
    assert team.get("/api/jobs", team.ann).json() == []
    assert team.get("/jobs", team.ann).status_code == 200
    assert "headrace_jobs" in team.get("/metrics", team.ann).text


def test_jobs_belong_to_the_user_of_the_token(team: Team) -> None:
    answer = team.site.post(
        "/api/jobs",
        json={"command": ["trace", "info"], "values": {"trace": "input:t"}, "inputs": {"t": "?"}},
        headers={"Authorization": f"Bearer {team.ann}"},
    )
    assert answer.json()["owner"] == "ann"


def test_a_session_ends_by_logging_out(team: Team) -> None:
    client = team.log_in("ann", team.ann)
    assert client.get("/api/jobs").status_code == 200
    cookies = dict(client.cookies)
    assert client.post("/logout").headers["location"] == "/login"
    # Also for who has copied the cookie.
    assert team.site.get("/api/jobs", cookies=cookies).status_code == 401


def test_the_session_and_token_of_a_removed_user_end(team: Team) -> None:
    token = team.users.add("eve")
    client = team.log_in("eve", token)
    assert client.get("/jobs").status_code == 200
    team.users.remove("eve")
    assert client.get("/api/jobs").status_code == 401
    assert client.get("/jobs").status_code == 303
    assert team.get("/api/jobs", token).status_code == 401
    team.users.add("eve")
    assert client.get("/api/jobs").status_code == 401, "a user of the same name is another"


def test_cookies_are_kept_from_scripts_and_other_sites(team: Team) -> None:
    answer = team.site.post("/login", data={"name": "ann", "token": team.ann})
    (cookie,) = (it for it in answer.headers.get_list("set-cookie") if it.startswith("headrace"))
    assert "HttpOnly" in cookie and "SameSite=strict" in cookie and "Path=/" in cookie


def test_a_session_cannot_be_chosen_by_another(team: Team) -> None:
    """Session fixation, and cookies that are made up or changed."""
    name = f"headrace-{team.site.port}"
    own = team.log_in("ann", team.ann).cookies[name]
    fixed = {name: own}
    answer = team.site.post("/login", data={"name": "bob", "token": team.bob}, cookies=fixed)
    new = answer.cookies[name]
    assert new != own
    assert team.site.get("/api/jobs", cookies=fixed).status_code == 401, "the old one has ended"
    for wrong in ("x", own[:-1], f"{own}x", new.replace(".", "", 1), "", '["a"]', "a.b.c"):
        assert team.site.get("/api/jobs", cookies={name: wrong}).status_code == 401, wrong


def test_a_token_is_of_one_name(team: Team) -> None:
    for name in ("ann", "nobody", "", "ann\r\nset-cookie: a=b", "<b>"):
        answer = team.site.post("/login", data={"name": name, "token": team.bob})
        assert answer.status_code == 401
        assert "<b>" not in answer.text
    assert team.site.post("/login", content=b"\xff" * 100).status_code == 401
    assert team.site.post("/login", content=b"a" * 100_000).status_code in (401, 413)


def test_login_leads_to_paths_of_this_server_only(team: Team) -> None:
    assert local_path("/jobs/1?a=b&c=%20") == "/jobs/1?a=b&c=%20"
    for target in (
        "https://evil.example/",
        "//evil.example",
        "/\\evil.example",
        "/\t/evil.example",
        "javascript:alert(1)",
        "/a\r\nset-cookie: x=y",
        "",
        "////evil.example",
    ):
        assert local_path(target) == "/", target
        data = {"name": "ann", "token": team.ann, "next": target}
        answer = team.site.post("/login", data=data)
        assert answer.headers["location"] == "/"
        assert not any("x=y" in it for it in answer.headers.get_list("set-cookie"))


def test_a_link_from_another_site_finds_the_session(team: Team) -> None:
    """A strict cookie is not sent with it: the answer leads to the same path from here."""
    headers = {"Sec-Fetch-Site": "cross-site", "Sec-Fetch-Mode": "navigate"}
    answer = team.site.get("/jobs?a=1", headers=headers)
    assert (answer.status_code, answer.headers["refresh"]) == (200, "0; url=/jobs?a=1")


@pytest.mark.parametrize("method", ["POST", "PUT", "PATCH", "DELETE"])
@pytest.mark.parametrize(
    "headers",
    [
        {"Origin": "http://evil.example"},
        {"Origin": "null"},
        {"Origin": "http://127.0.0.1:1"},
        {"Sec-Fetch-Site": "cross-site"},
        {"Sec-Fetch-Site": "same-site"},
        {"Sec-Fetch-Site": "cross-site", "Sec-Fetch-Mode": "navigate"},
    ],
)
def test_other_sites_change_nothing(
    site: RunningSite, method: str, headers: dict[str, str]
) -> None:
    """Also where nobody logs in: a page elsewhere can send requests to the loopback address."""
    for path in ("/api/jobs", "/api/files/x", "/", "/_nicegui_ws/socket.io/"):
        answer = site.request(method, path, headers=headers, content=b"{}")
        assert answer.status_code == 403, path


def test_other_sites_read_nothing(site: RunningSite) -> None:
    """The websocket's fallback would let every origin read it."""
    path = "/_nicegui_ws/socket.io/?EIO=4&transport=polling"
    assert site.get(path, headers={"Origin": "http://evil.example"}).status_code == 403
    answer = site.get(path, headers={"Origin": site.url})
    assert not any(it.startswith("access-control-allow") for it in answer.headers)
    script = {"Sec-Fetch-Site": "cross-site", "Sec-Fetch-Mode": "no-cors"}
    assert site.get("/api/jobs", headers=script).status_code == 403
    link = {"Sec-Fetch-Site": "cross-site", "Sec-Fetch-Mode": "navigate"}
    assert site.get("/jobs", headers=link).status_code == 200


@pytest.mark.parametrize(
    "host", ["evil.example", "127.0.0.1.evil.example", "10.0.0.1", "a@127.0.0.1", "", "[::1", "x:y"]
)
def test_other_names_of_the_loopback_address_are_refused(site: RunningSite, host: str) -> None:
    """DNS rebinding: a page elsewhere whose name was made to lead to this host."""
    for path in ("/", "/api/jobs", "/_nicegui/x", "/healthz"):
        assert site.get(path, headers={"Host": host}).status_code in (400, 403), host
    for good in (f"localhost:{site.port}", "localhost:9000", "[::1]:9000", "127.0.0.2"):
        assert site.get("/api/jobs", headers={"Host": good}).status_code == 200, good


def websocket(site: RunningSite, **headers: str) -> int:
    """Return the status of the answer to a websocket's handshake."""
    answer = site.get(
        "/_nicegui_ws/socket.io/?EIO=4&transport=websocket",
        headers={
            "Connection": "Upgrade",
            "Upgrade": "websocket",
            "Sec-WebSocket-Version": "13",
            "Sec-WebSocket-Key": "MDEyMzQ1Njc4OWFiY2RlZg==",
            **headers,
        },
    )
    return answer.status_code


def test_a_websocket_needs_a_session_and_the_own_origin(team: Team, site: RunningSite) -> None:
    assert websocket(team.site) == 403
    assert websocket(team.site, Authorization="Bearer wrong") == 403
    assert websocket(team.site, Cookie="headrace-1=x") == 403
    foreign = {"Origin": "http://evil.example"}
    assert websocket(team.site, Authorization=f"Bearer {team.ann}", **foreign) == 403
    assert websocket(site, **foreign) == 403
    assert websocket(site, Host="evil.example") == 403
    assert websocket(site, Origin=site.url) == 101


@pytest.fixture
def page(browser: Browser) -> Iterator[Page]:
    """A page of a browser without cookies."""
    it = browser.new_page()
    yield it
    it.close()


def log_in(page: Page, team: Team, name: str, token: str) -> None:
    """Fill in the login form."""
    page.get_by_label("Name").fill(name)
    page.get_by_label("Token").fill(token)
    page.get_by_role("button", name="Log in").click()


def test_a_user_logs_in_and_out_in_the_browser(team: Team, page: Page) -> None:
    refused: list[str] = []
    page.on("console", lambda it: refused.append(it.text))
    page.goto(team.site.url + "/jobs?a=1")
    log_in(page, team, "ann", "wrong")
    expect(page.get_by_role("alert")).to_have_text(re.compile("no such user, or the token"))
    log_in(page, team, "ann", team.ann)
    expect(page).to_have_url(team.site.url + "/jobs?a=1")
    expect(page.get_by_text("ann", exact=True).first).to_be_visible()
    page.get_by_role("button", name="Log out").click()
    expect(page).to_have_url(team.site.url + "/login")
    page.goto(team.site.url + "/jobs")
    expect(page.get_by_label("Token")).to_be_visible()
    assert not [it for it in refused if "Content Security" in it]


def test_the_open_page_of_a_removed_user_is_cut_off(team: Team, page: Page) -> None:
    token = team.users.add("mia")
    page.goto(team.site.url)
    log_in(page, team, "mia", token)
    expect(page.get_by_text("mia", exact=True)).to_be_visible()
    connected(page)
    # It tries to connect again, and may not.
    with page.expect_console_message(lambda it: "403" in it.text):
        team.users.remove("mia")


def test_the_login_page_is_accessible(team: Team, page: Page) -> None:
    from axe_playwright_python.sync_playwright import Axe  # type: ignore[import-untyped]

    page.goto(team.site.url + "/login")
    found = Axe().run(page).response["violations"]
    assert not [it["id"] for it in found if it["impact"] in ("serious", "critical")]


def test_every_answer_has_the_headers_for_security(team: Team, site: RunningSite) -> None:
    for answer in (
        site.get("/"),
        site.get("/api/jobs"),
        site.get("/api/nothing"),
        site.get("/", headers={"Host": "evil.example"}),
        team.site.get("/login"),
        team.site.get("/api/jobs"),
    ):
        headers = answer.headers
        assert "frame-ancestors 'none'" in headers["content-security-policy"]
        assert headers["x-content-type-options"] == "nosniff"
        assert headers["x-frame-options"] == "DENY"
        assert headers["referrer-policy"] == "same-origin"
        assert "server" not in headers
    assert team.get("/api/jobs", team.ann).headers["cache-control"] == "no-store"


def test_failed_logins_are_limited(tmp_path: Path) -> None:
    token = UserFile(tmp_path / "serve").add("ann")
    with running_site(tmp_path, "--login") as it:
        statuses = [
            it.post("/login", data={"name": "ann", "token": "no"}).status_code for _ in range(25)
        ]
        assert statuses == [401] * 20 + [429] * 5
        answer = it.post("/login", data={"name": "ann", "token": "no"})
        assert int(answer.headers["retry-after"]) > 0
        wrong = it.get("/api/jobs", headers={"Authorization": "Bearer no"})
        assert wrong.status_code == 429
        # Another's guesses keep the holder of a token out of nothing.
        assert it.post("/login", data={"name": "ann", "token": token}).status_code == 303
        right = it.get("/api/jobs", headers={"Authorization": f"Bearer {token}"})
        assert right.status_code == 200


def test_only_stated_proxies_name_the_client(tmp_path: Path) -> None:
    """Else each guess of a token comes from an address of its own."""
    for number, (option, last) in enumerate((("--allow-peer=x", 429), ("--proxy=127.0.0.1", 401))):
        directory = tmp_path / str(number)
        directory.mkdir()
        UserFile(directory / "serve").add("ann")
        with running_site(directory, "--login", option) as it:
            for attempt in range(21):
                headers = {"Authorization": "Bearer no", "X-Forwarded-For": f"10.0.0.{attempt}"}
                answer = it.get("/api/jobs", headers=headers)
            assert answer.status_code == last, option


def test_a_loopback_address_asks_for_the_printed_token(tmp_path: Path, browser: Browser) -> None:
    with running_site(tmp_path, LOCAL_TOKEN) as it:
        file = it.data / "token"
        assert stat.S_IMODE(file.stat().st_mode) == 0o600
        token = file.read_text()
        assert it.get("/api/jobs").status_code == 401
        assert it.get("/", params={"token": "wrong"}).status_code == 401
        assert it.get("/jobs").headers["location"].startswith("/login")
        header = {"Authorization": f"Bearer {token}"}
        assert it.get("/api/jobs", headers=header).status_code == 200
        answer = it.get("/", params={"token": token})
        assert (answer.status_code, answer.headers["location"]) == (303, "/")
        assert it.get("/api/jobs", cookies=dict(answer.cookies)).status_code == 200
        evil = it.get("/", params={"token": token}, headers={"Host": "evil.example"})
        assert evil.status_code == 403
        page = browser.new_page()
        page.goto(f"{it.url}/?token={token}")
        connected(page)
        assert page.url == f"{it.url}/"
        page.close()
    # The link of the next start is the same, and so are the sessions.
    with running_site(tmp_path, LOCAL_TOKEN) as it:
        assert it.get("/api/jobs", headers=header).status_code == 200


RECORD = """() => {
    const emit = window.socket.emit.bind(window.socket);
    window.socket.emit = (name, message, ...more) => {
        if (name === "event") window.sent = message;
        return emit(name, message, ...more);
    };
}"""
SEND = """async message => {
    window.socket.emit("event", message);
    // The server handles the messages of a socket in their order.
    await window.socket.emitWithAck("handshake", { client_id: "none" });
}"""


def test_an_event_reaches_pages_of_its_session_only(team: Team, browser: Browser) -> None:
    """A socket of another session that names the page is not heard."""
    pages = []
    for name, token in (("ann", team.ann), ("bob", team.bob), ("ann", team.ann)):
        pages.append(browser.new_context().new_page())
        pages[-1].goto(team.site.url)
        log_in(pages[-1], team, name, token)
        expect(pages[-1].get_by_text(name, exact=True).first).to_be_visible()
        connected(pages[-1])
    page = pages[0]
    page.evaluate(RECORD)
    is_dark = page.evaluate("Quasar.Dark.isActive")
    changed = f"Quasar.Dark.isActive !== {str(is_dark).lower()}"
    page.get_by_role("button", name="Light or dark").click()
    page.wait_for_function(changed)
    message = page.evaluate("window.sent")
    for other in pages[1:]:
        other.evaluate(SEND, message)
        assert page.evaluate(changed)
    page.evaluate(SEND, message)
    page.wait_for_function(f"!({changed})")
    path = f"/_nicegui/client/{message['client_id']}/upload/1"
    header = {"Authorization": f"Bearer {team.bob}"}
    assert team.site.post(path, headers=header).json()["detail"].startswith("there is no such page")
    for it in pages:
        it.context.close()


def test_requests_of_a_user_are_limited(tmp_path: Path) -> None:
    users = UserFile(tmp_path / "serve")
    ann, bob = users.add("ann"), users.add("bob")
    with running_site(tmp_path, "--login", "--request-rate=1") as it:
        headers = {"Authorization": f"Bearer {ann}"}
        text = all_at_once(it, "/api/jobs", f"Bearer {ann}", 200)
        statuses = re.findall(r"HTTP/1.1 (\d+)", text)
        assert len(statuses) == 200
        assert statuses[:10] == ["200"] * 10
        assert "429" in statuses
        assert re.findall(r"retry-after: (\d+)", text)[0] == "1"
        answer = it.get("/_nicegui/nothing", headers=headers)
        assert answer.status_code == 404, "files are not counted"
        other = it.get("/api/jobs", headers={"Authorization": f"Bearer {bob}"})
        assert other.status_code == 200


def all_at_once(site: RunningSite, path: str, authorization: str, count: int) -> str:
    """Return the answers to requests that come faster than the server can answer."""
    host = f"127.0.0.1:{site.port}"
    request = f"GET {path} HTTP/1.1\r\nHost: {host}\r\nAuthorization: {authorization}\r\n"
    last = f"{request}Connection: close\r\n\r\n"
    with socket.create_connection(("127.0.0.1", site.port), 120) as client:
        client.sendall((f"{request}\r\n" * (count - 1) + last).encode())
        return b"".join(iter(lambda: client.recv(65536), b"")).decode()


def test_rates_and_failures_recover() -> None:
    now = 0.0
    rate = RequestRate(2.0, lambda: now)
    assert [rate.wait("a") for _ in range(20)] == [0.0] * 20
    assert rate.wait("a") == pytest.approx(0.5)
    assert rate.wait("b") == 0.0
    now = 0.5
    assert rate.wait("a") == 0.0
    assert rate.wait("a") == pytest.approx(0.5)
    failures = Failures(2, 10.0, lambda: now)
    failures.add("a")
    assert failures.wait("a") == 0.0
    now = 3.5
    failures.add("a")
    assert failures.wait("a") == pytest.approx(7.0)
    assert failures.wait("b") == 0.0
    now = 10.6
    assert failures.wait("a") == 0.0


def test_bodies_are_limited(site: RunningSite) -> None:
    nine = b"x" * (9 << 20)
    assert site.post("/api/jobs", content=nine).status_code == 413
    chunks = (nine[at : at + 65536] for at in range(0, len(nine), 65536))
    # The server need not read to the end.
    with contextlib.suppress(httpx.TransportError):
        assert site.post("/api/jobs", content=chunks).status_code == 413
    assert site.get("/healthz").status_code == 200


def test_tls(tmp_path: Path) -> None:
    import ssl

    certificate, key = tmp_path / "cert.pem", tmp_path / "key.pem"
    made = subprocess.run(
        "openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -days 2 -subj"
        f" /CN=localhost -addext subjectAltName=DNS:localhost -keyout {key} -out {certificate}",
        shell=True,
        capture_output=True,
    )
    if made.returncode != 0:
        pytest.skip("no certificate to try TLS with: apt install openssl")
    token = UserFile(tmp_path / "serve").add("ann")
    words = [
        "-m",
        "headrace",
        "serve",
        "--port=0",
        f"--data-directory={tmp_path / 'serve'}",
        "--login",
    ]
    words += [f"--tls-cert={certificate}", f"--tls-key={key}"]
    with running_server(words, os.environ) as (url, _):
        assert url.startswith("https://")
        trust = ssl.create_default_context(cafile=str(certificate))
        there = url.replace("127.0.0.1", "localhost")
        with httpx.Client(base_url=there, verify=trust, timeout=60) as client:
            answer = client.post("/login", data={"name": "ann", "token": token})
            cookies = [it for it in answer.headers.get_list("set-cookie") if "headrace" in it]
            assert cookies[0].startswith("__Host-headrace") and "Secure" in cookies[0]
            assert "strict-transport-security" in answer.headers
            assert client.get("/api/jobs").status_code == 200
    answer_without_key = command(
        "serve", f"--data-directory={tmp_path}", f"--tls-cert={certificate}"
    )
    assert answer_without_key.returncode == 2


def test_metrics_and_the_description_are_complete(site: RunningSite) -> None:
    text = site.get("/metrics").text
    for name in (
        'headrace_jobs{state="waiting"}',
        "headrace_queue_length",
        "headrace_job_duration_seconds_bucket",
        "headrace_http_requests_total",
        "headrace_http_request_duration_seconds_sum",
        "headrace_failed_logins_total",
        "headrace_store_bytes",
    ):
        assert f"\n{name}" in text
    schema = site.get("/api/openapi.json").json()
    assert set(schema["components"]["securitySchemes"]) == {"token", "session"}
    for path, methods in schema["paths"].items():
        for method, it in methods.items():
            assert it["description"], (path, method)
            assert {"401", "403", "422", "429"} <= it["responses"].keys(), (path, method)
