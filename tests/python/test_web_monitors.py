"""Monitors of a server: this host and an agent's, pages, rules and the samples of jobs."""

import io
import os
import re
import shutil
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx
import polars as pl
import pytest
from playwright.sync_api import Browser, expect

from headrace.web.access.users import UserFile
from web_site import RunningSite, opened, running_site, until

HERE = socket.gethostname()
OTHER = "other-host"
CAN_RENAME = os.geteuid() == 0 and shutil.which("unshare") is not None


class OtherHost:
    """An agent with a token, on a host of another name where the kernel lets us make one."""

    def __init__(self, directory: Path) -> None:
        self.token_file = directory / "token"
        self.url = ""
        self.start()

    def start(self) -> None:
        """Start the agent."""
        port = httpx.URL(self.url).port or 0
        words = [sys.executable, "-m", "headrace.monitors.agent", f"--port={port}"]
        words += ["--interval=0.2", f"--token-file={self.token_file}"]
        if CAN_RENAME:
            script = f'hostname {OTHER} && exec "$@"'
            words = ["unshare", "--uts", "sh", "-c", script, "sh", *words]
        self.process = subprocess.Popen(words, stdout=subprocess.PIPE, text=True)
        assert self.process.stdout is not None
        self.url = self.process.stdout.readline().strip().removesuffix("/")
        assert self.url.startswith("http://")

    def stop(self) -> None:
        """End the agent."""
        self.process.terminate()
        self.process.wait(30)


@pytest.fixture(scope="module")
def other(tmp_path_factory: pytest.TempPathFactory) -> Iterator[OtherHost]:
    host = OtherHost(tmp_path_factory.mktemp("other"))
    yield host
    host.stop()


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory, other: OtherHost) -> Iterator[RunningSite]:
    """A server that samples this host and asks the other one."""
    options = [f"--agent={other.url}={other.token_file}", "--monitor-interval=200 ms"]
    with running_site(tmp_path_factory.mktemp("site"), *options) as it:
        yield it


def host(site: RunningSite, name: str) -> dict[str, Any]:
    answer = site.get(f"/api/monitors/hosts/{name}")
    assert answer.status_code == 200, answer.text
    found: dict[str, Any] = answer.json()
    return found


def has_samples(site: RunningSite, path: str, count: int) -> None:
    until(lambda: len(site.get(path).json()["times"]) >= count)


def test_both_hosts_have_samples_states_and_clocks(site: RunningSite) -> None:
    until(lambda: all(it["newest"] for it in site.get("/api/monitors/hosts").json()))
    here, there = site.get("/api/monitors/hosts").json()
    assert (here["name"], here["is_local"], here["facts"]["interval_s"]) == (HERE, True, 0.2)
    assert (there["name"], there["is_local"], there["from_options"]) == ("127.0.0.1", False, True)
    if CAN_RENAME:
        assert there["facts"]["name"] == OTHER
    # It is the same clock.
    assert abs(there["offset_s"]) < 0.5
    assert abs(there["newest"] - here["newest"]) < 60
    assert {"processor", "memory", "tcp"} <= {it["monitor"] for it in there["states"]}
    assert all(it["state"] in ("ok", "warning", "problem") for it in there["states"])


def test_samples_by_range_and_resolution(site: RunningSite) -> None:
    for name in (HERE, "127.0.0.1"):
        path = f"/api/monitors/hosts/{name}/samples?figure=cpu.idle&figure=nonsense"
        has_samples(site, path, 5)
        found = site.get(path).json()
        assert found["resolution"] == "samples"
        assert list(found["figures"]) == ["cpu.idle"]
        assert found["times"] == sorted(set(found["times"]))
        assert all(0 <= it <= 1 for it in found["figures"]["cpu.idle"]["mean"] if it is not None)
    path = f"/api/monitors/hosts/{HERE}/samples?resolution=10s"
    until(lambda: len(site.get(path).json()["times"]) >= 1)
    found = site.get(path).json()
    idle = found["figures"]["cpu.idle"]
    assert found["times"][0] % 10 == 0
    assert idle["smallest"][0] <= idle["mean"][0] <= idle["largest"][0]
    for query, status in (
        ("begin=2&end=1", 422),
        ("begin=0&resolution=samples", 200),
        ("resolution=1h", 422),
        ("begin=0", 200),
    ):
        answer = site.get(f"/api/monitors/hosts/{HERE}/samples?{query}")
        assert answer.status_code == status, answer.text
    assert site.get("/api/monitors/hosts/nobody/samples").status_code == 404


def test_an_agent_that_is_gone_and_comes_back(site: RunningSite, other: OtherHost) -> None:
    until(lambda: host(site, "127.0.0.1")["newest"] is not None)
    other.stop()
    until(lambda: host(site, "127.0.0.1")["state"] == "unreached")
    found = host(site, "127.0.0.1")
    (reason,) = found["reasons"]
    assert reason.startswith("not reached: Connection re")
    assert found["unreached_since"] <= time.time()
    other.start()
    until(lambda: host(site, "127.0.0.1")["unreached_since"] is None)
    newest = host(site, "127.0.0.1")["newest"]
    until(lambda: host(site, "127.0.0.1")["newest"] > newest)
    events = site.get("/api/monitors/events?host=127.0.0.1").json()
    changes = [(it["before"], it["state"]) for it in events if it["monitor"] == "agent"]
    assert changes[:2] == [("unreached", "ok"), ("ok", "unreached")]


def test_rules_change_states_and_errors_name_the_line(site: RunningSite) -> None:
    own = (
        '[always]\nmonitor = "memory"\nstate = "problem"\nsamples = 2\n'
        'text = "<script>alert(1)</script>"\n'
        '[always.when]\navailable = { figure = "memory.available", above = 0 }\n'
    )
    answer = site.put("/api/monitors/rules", json={"own": own})
    assert answer.status_code == 200, answer.text
    assert answer.json()["rules"][0]["id"] == "always"
    until(lambda: "memory: <script>alert(1)</script>" in host(site, HERE)["reasons"])
    answer = site.put("/api/monitors/rules", json={"own": own.replace("above = 0", "abve = 0")})
    assert answer.status_code == 422
    assert "monitor-rules.toml:7:44: always.when.available.abve" in answer.json()["detail"]
    # The rules in use stay as they are.
    assert site.get("/api/monitors/rules").json()["own"] == own
    assert site.put("/api/monitors/rules", json={"own": ""}).status_code == 200
    until(lambda: not any("memory" in it for it in host(site, HERE)["reasons"]))


def test_a_job_saves_the_samples_of_its_time(site: RunningSite) -> None:
    there = site.data.parent / "work"
    job = site.submit("bench", "meta", directory=str(there), files=5, processes="1", repeats=1)
    ended = site.ended(job)
    assert ended["state"] == "done", ended
    until(lambda: site.get(f"/api/jobs/{job}/files/monitor.parquet").status_code == 200)
    content = site.get(f"/api/jobs/{job}/files/monitor.parquet").content
    frame = pl.read_parquet(io.BytesIO(content))
    assert {"cpu.user", "memory.available_bytes"} <= set(frame["figure"])
    assert frame["time"].min() >= ended["started"]
    assert frame["time"].max() <= ended["ended"] + 2.0


def test_the_pages(site: RunningSite, other: OtherHost, browser: Browser) -> None:
    there = site.data.parent / "work"
    job = site.submit("bench", "meta", directory=str(there), files=5, processes="1", repeats=1)
    site.ended(job)
    size = {"width": 390, "height": 800}
    with opened(browser, f"{site.url}/monitors", viewport=size) as page:
        expect(page.get_by_role("link", name=HERE, exact=True)).to_be_visible()
        # An agent that does not exist is shown as such, and can be removed.
        page.get_by_label("URL").fill("nonsense")
        page.get_by_role("button", name="Add").click()
        expect(page.get_by_role("alert").last).to_contain_text("expected a URL such as")
        page.get_by_label("URL").fill("http://127.0.0.1:9")
        page.get_by_label("Name").fill("gone")
        page.get_by_label("Token").fill("s" * 32)
        page.get_by_role("button", name="Add").click()
        expect(page.get_by_text("not reached: Connection refused").first).to_be_visible()
        expect(page.get_by_label("Token")).to_have_value("")
        assert "s" * 32 not in page.content()
        page.get_by_role("button", name="Remove gone").click()
        page.get_by_role("button", name="Remove it").click()
        expect(page.get_by_role("link", name="gone")).to_have_count(0)
        # The charts, and a table of the same numbers.
        page.get_by_role("link", name=HERE, exact=True).click()
        chart = page.get_by_role("img", name="Processors: chart of the table below")
        expect(chart.locator("svg")).to_be_visible()
        expect(page.get_by_text(re.compile(r"^ok: |^warning: |^problem: ")).first).to_be_visible()
        page.get_by_text("Numbers").first.click()
        table = page.locator('.q-table__container[aria-label="Processors"]')
        expect(table.get_by_role("columnheader", name="I/O wait")).to_be_visible()
        expect(table.get_by_role("row").nth(2)).to_be_visible()
        page.get_by_role("button", name="1 hour").click()
        expect(page.get_by_role("button", name="1 hour")).to_have_attribute("aria-pressed", "true")
        expect(
            page.get_by_role("listitem").get_by_text("headrace bench meta").first
        ).to_be_visible()
        # From a job to its time.
        page.goto(f"{site.url}/jobs/{job}")
        page.get_by_role("link", name="Monitors at its time").click()
        expect(chart.locator("svg").get_by_text("headrace bench meta").first).to_be_visible()
        # Rules are checked before they are saved.
        page.goto(f"{site.url}/monitors/rules")
        area = page.get_by_role("textbox", name="Own rules")
        area.fill("[disk-problem]\nsampls = 3")
        page.get_by_role("button", name="Check and save").click()
        expect(page.get_by_role("alert")).to_contain_text("monitor-rules.toml:2:1")
        area.fill("[disk-problem]\nsamples = 7")
        page.get_by_role("button", name="Check and save").click()
        expect(page.get_by_text("Saved and in use.")).to_be_visible()
        rules = site.get("/api/monitors/rules").json()["rules"]
        assert next(it for it in rules if it["id"] == "disk-problem")["samples"] == 7
        # Nothing is wider than a telephone.
        assert page.evaluate("document.documentElement.scrollWidth") <= 390


def test_only_operators_change_anything(tmp_path: Path) -> None:
    users = UserFile(tmp_path / "serve")
    ann, bob = users.add("ann"), users.add("bob", operator=True)
    with running_site(tmp_path, "--login", "--no-monitor") as site:
        for token, status in ((ann, 403), (bob, 201)):
            headers = {"Authorization": f"Bearer {token}"}
            agent = {"url": "http://127.0.0.1:9", "name": "gone", "token": "t" * 32}
            added = site.post("/api/monitors/agents", json=agent, headers=headers)
            assert added.status_code == status, added.text
            assert "ttt" not in added.text
        saved = site.data / "agents" / "gone.token"
        assert saved.read_text().strip() == "t" * 32
        assert saved.stat().st_mode & 0o077 == 0
        listed = site.get("/api/monitors/hosts", headers=headers)
        assert [it["name"] for it in listed.json()] == ["gone"]
        assert "ttt" not in listed.text
        for token, status in ((ann, 403), (bob, 204)):
            headers = {"Authorization": f"Bearer {token}"}
            answer = site.delete("/api/monitors/agents/gone", headers=headers)
            assert answer.status_code == status
        assert not saved.exists()
        assert site.get("/api/monitors/hosts").status_code == 401
        headers = {"Authorization": f"Bearer {ann}"}
        rules = site.put("/api/monitors/rules", json={"own": ""}, headers=headers)
        assert rules.status_code == 403
