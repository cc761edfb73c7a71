"""Jobs of a real server: through the API, in a browser, and over a server that is killed."""

import json
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import httpx
import psutil
import pytest
from playwright.sync_api import Browser, Page, expect

from headrace.web.jobs import runner
from web_scenarios import SHORT, UNENDING
from web_site import RunningSite, opened, running_site, until, visit


def simulate(site: RunningSite, text: str = UNENDING) -> str:
    return site.submit("run", inputs={"a.toml": text}, file="input:a.toml")


def has_begun(site: RunningSite, job: str) -> None:
    while not site.get(f"/api/jobs/{job}/progress").json():
        assert site.get(f"/api/jobs/{job}").json()["state"] in ("waiting", "running")
        time.sleep(0.1)


def cancel(site: RunningSite, job: str) -> None:
    assert site.post(f"/api/jobs/{job}/cancel").status_code == 200
    site.ended(job)


@pytest.fixture
def page(browser: Browser) -> Iterator[Page]:
    """A page in which no error of JavaScript may come."""
    made = browser.new_page()
    errors: list[str] = []
    made.on("pageerror", lambda error: errors.append(str(error)))
    yield made
    made.close()
    assert errors == []


def test_a_killed_server_loses_neither_jobs_nor_samples(tmp_path: Path, browser: Browser) -> None:
    """And the next one names a job that is damaged meanwhile."""
    samples = f"/api/monitors/hosts/{socket.gethostname()}/samples?figure=cpu.idle"
    samples += f"&resolution=samples&begin={time.time()}"
    options: dict[str, Any] = {
        "rates": "50,100",
        "seconds": 1,
        "warm_up": 0,
        "sets": ["workload.0.files=50"],
    }
    work = str(tmp_path / "work")
    with running_site(tmp_path, jobs_go_on=True) as first:
        running = first.submit("bench", "mix", directory=work, **options)
        has_begun(first, running)
        waiting = [simulate(first, SHORT) for _ in range(2)]
        until(lambda: len(first.get(samples).json()["times"]) >= 3)
        before = first.get(samples).json()["times"]
        first.process.kill()
        first.process.wait()
    broken = tmp_path / "serve" / "jobs" / "broken"
    broken.mkdir(parents=True)
    (broken / "job.json").write_text("{<script>")
    with running_site(tmp_path) as second:
        until(lambda: len(second.get(samples).json()["times"]) > len(before))
        assert second.get(samples).json()["times"][: len(before)] == before
        for identifier in (running, *waiting):
            job = second.ended(identifier)
            assert job["state"] == "done", job["message"]
        jobs = [it["id"] for it in second.get("/api/jobs").json()]
        assert jobs == [*reversed(waiting), running]
        second.stored(running)
        job = second.get(f"/api/jobs/{running}").json()
        assert job["starts"] == 1 and len(job["document"]["steps"]) == 2
        with opened(browser, second.url + "/jobs") as page:
            expect(page.get_by_text("The job broken is damaged")).to_be_visible()
        until(lambda: any(runner.__file__ in one.cmdline() for one in helpers(second)))
        left = helpers(second)
        second.process.kill()
        until(lambda: not any(one.is_running() for one in left))


def helpers(site: RunningSite) -> list[psutil.Process]:
    """Return the processes that a server has started which still run."""
    return [
        one
        for one in psutil.Process(site.process.pid).children()
        if runner.process_start(one.pid) is not None
    ]


def test_without_the_extra_the_command_says_what_to_install() -> None:
    code = (
        "import sys; sys.modules['nicegui'] = None; from headrace.cli.app import run;"
        " sys.exit(run(['serve']))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=60)
    assert done.returncode == 2 and done.stdout == ""
    assert done.stderr.count("\n") == 1 and "pip install 'headrace[web]'" in done.stderr


def test_the_list_filters_and_leaves_inputs_out(site: RunningSite) -> None:
    done = simulate(site, SHORT)
    site.ended(done)
    listed = site.get("/api/jobs", params={"state": "done", "limit": 1}).json()
    assert len(listed) == 1 and listed[0]["state"] == "done"
    assert listed[0]["request"]["inputs"] == ["a.toml"]
    assert site.get("/api/jobs", params={"owner": "nobody"}).json() == []
    assert site.get("/api/jobs", params={"state": "none"}).status_code == 422
    newest = site.get("/api/jobs", params={"limit": 1}).json()[0]["id"]
    assert all(it["id"] != newest for it in site.get("/api/jobs", params={"skip": 1}).json())


def test_files_are_those_of_the_job(site: RunningSite) -> None:
    job = simulate(site, SHORT)
    site.ended(job)
    names = [it["name"] for it in site.get(f"/api/jobs/{job}/files").json()]
    assert "document.json" in names and "a.toml" in names and "order.json" not in names
    answer = site.get(f"/api/jobs/{job}/files/a.toml")
    assert answer.text == SHORT and "attachment" in answer.headers["content-disposition"]
    for name in ("order.json", "../../cookie.key", "..%2f..%2fcookie.key", "%2fetc%2fpasswd", "x"):
        assert site.get(f"/api/jobs/{job}/files/{name}").status_code == 404, name
    for identifier in ("..", "%2e%2e", "../jobs", "none"):
        # The client makes the path of an upload of one of them.
        answer = site.get(f"/api/jobs/{identifier}/files/cookie.key")
        assert answer.status_code in (404, 405)


def test_a_refused_request_names_its_field(site: RunningSite) -> None:
    request = {"command": ["bench", "mix"], "values": {"directory": "/etc"}}
    answer = site.post("/api/jobs", json=request)
    assert answer.status_code == 422 and answer.json()["detail"]["field"] == "directory"
    for body in ("", "{", "[]", '{"command": []}', '{"command": ["run"], "x": 1}'):
        assert site.post("/api/jobs", content=body).status_code == 422, body
    assert site.post("/api/jobs", json={"command": ["serve"]}).status_code == 422


def test_commands_are_listed_with_their_parameters(site: RunningSite) -> None:
    found = {tuple(it["command"]): it for it in site.get("/api/commands").json()}
    mix = found["bench", "mix"]
    names = {it["name"] for it in mix["fields"]}
    assert mix["measures"] and "rates" in names and "output" not in names
    assert ("serve",) not in found


def test_events_stream_until_the_end(site: RunningSite) -> None:
    job = simulate(site)
    has_begun(site, job)
    names, states = set(), []
    with httpx.stream("GET", f"{site.url}/api/jobs/{job}/events", timeout=60) as answer:
        name = ""
        for line in answer.iter_lines():
            if line.startswith("event: "):
                name = line.removeprefix("event: ")
                names.add(name)
            elif line.startswith("data: ") and name == "job":
                states.append(json.loads(line.removeprefix("data: "))["state"])
                if states == ["running"]:
                    assert site.post(f"/api/jobs/{job}/cancel").status_code == 200
    assert names == {"job", "progress"} and states == ["running", "cancelled"]


def test_a_job_is_removed(site: RunningSite) -> None:
    job = simulate(site)
    assert site.get(f"/api/jobs/{job}").status_code == 200
    assert site.delete(f"/api/jobs/{job}").status_code == 409
    cancel(site, job)
    assert site.delete(f"/api/jobs/{job}").status_code == 204
    assert site.get(f"/api/jobs/{job}").status_code == 404


def test_the_page_of_a_job_follows_it_to_its_end(site: RunningSite, page: Page) -> None:
    job = simulate(site)
    visit(page, f"{site.url}/jobs/{job}")
    expect(page.get_by_role("status")).to_have_text("running")
    expect(page.get_by_text("simulated, ").first).to_be_visible()
    expect(page.get_by_role("progressbar", name="Progress")).to_be_visible()
    expect(page.get_by_role("img", name="requests over time")).to_be_visible()
    page.get_by_role("button", name="Cancel").click()
    expect(page.get_by_role("status")).to_have_text("cancelled")
    expect(page.get_by_role("heading", name="Result")).to_be_visible()
    expect(page.get_by_role("button", name="Cancel")).to_be_hidden()
    page.get_by_role("button", name="Remove").click()
    page.get_by_role("button", name="Remove it").click()
    page.wait_for_url("**/jobs")
    assert site.get(f"/api/jobs/{job}").status_code == 404


def test_the_page_of_an_ended_job_shows_result_and_files(site: RunningSite, page: Page) -> None:
    job = simulate(site, SHORT)
    site.ended(job)
    visit(page, f"{site.url}/jobs/{job}")
    expect(page.get_by_role("status")).to_have_text("done")
    expect(page.get_by_role("link", name="Its result in the store")).to_be_visible()
    expect(page.get_by_role("heading", name="Result")).to_be_visible()
    with page.expect_download() as download:
        page.get_by_role("link", name="a.toml").click()
    assert download.value.path().read_text() == SHORT
    page.get_by_role("button", name="Run again").click()
    page.wait_for_url(lambda url: not url.endswith(job))
    expect(page.get_by_role("status")).to_have_text("done")


def test_a_failed_job_says_why(site: RunningSite, page: Page) -> None:
    """On its page, in the list and in the API, with its state in the tab."""
    reason = "a.toml:1:1: unknown field"
    job = simulate(site, "'<b>x</b>' = 1")
    assert site.ended(job)["message"].startswith(reason)
    visit(page, f"{site.url}/jobs/{job}")
    expect(page.get_by_role("alert")).to_contain_text(reason)
    expect(page).to_have_title("failed: headrace run - Headrace")
    assert page.locator("main b").count() == 0
    visit(page, f"{site.url}/jobs")
    row = page.get_by_role("row").filter(has=page.locator(f'a[href="/jobs/{job}"]'))
    expect(row).to_contain_text(reason)
    assert page.locator("main b").count() == 0


def test_a_sweep_of_which_a_run_fails_says_why(site: RunningSite) -> None:
    inputs = {"a.toml": SHORT}
    job = site.submit("sweep", inputs=inputs, file="input:a.toml", vary=["clients.count=1,0"])
    ended = site.ended(job)
    assert ended["state"] == "failed" and ended["status"] == 1
    assert ended["message"].startswith("1 of 2 runs failed: clients.count=0: "), ended["message"]
    assert "expected" in ended["message"]


def test_the_result_comes_before_the_curves(site: RunningSite, page: Page) -> None:
    inputs = {"a.toml": SHORT}
    job = site.submit("sweep", inputs=inputs, file="input:a.toml", vary=["clients.count=1,2,3"])
    visit(page, f"{site.url}/jobs/{job}")
    result = page.get_by_role("heading", name="Result", exact=True)
    curves = page.locator(".hr-live")
    expect(result).to_be_visible()
    expect(page).to_have_title("done: headrace sweep - Headrace")
    order = "(result, curves) => result.compareDocumentPosition(curves)"
    following = 4
    assert result.evaluate(order, curves.element_handle()) & following


@pytest.mark.parametrize(
    ("path", "back"),
    [
        ("/jobs/none", "Jobs"),
        ("/jobs/none/change", "Jobs"),
        ("/results/none", "Results"),
        ("/help/none", "Help"),
        ("/help/how-to/none", "Help"),
        ("/traces/none", "Traces"),
        ("/profiles/none", "Profiles"),
        ("/measure/none", "Measure"),
        ("/monitors/host/none", "Monitors"),
        ("/design/drafts/none", "Design"),
        ("/design/solutions/none", "Design"),
        ("/none", "Start"),
        ("/none/<b>x</b>", "Start"),
    ],
)
def test_an_unknown_address_leads_back(site: RunningSite, page: Page, path: str, back: str) -> None:
    answer = page.goto(site.url + path)
    assert answer is not None and answer.status == 404
    expect(page.get_by_role("alert")).to_contain_text("none")
    expect(page.get_by_role("link", name=f"Back to {back}")).to_be_visible()
    expect(page.get_by_role("navigation", name="Pages")).to_be_visible()
    assert page.locator("main b").count() == 0


def test_the_list_of_jobs_is_live(site: RunningSite, page: Page) -> None:
    visit(page, site.url + "/jobs")
    name = "a job that comes later"
    request = {
        "command": ["run"],
        "values": {"file": "input:a.toml"},
        "inputs": {"a.toml": UNENDING},
        "title": name,
    }
    job = site.post("/api/jobs", json=request).json()["id"]
    row = page.get_by_role("row").filter(has_text=name)
    expect(row).to_contain_text("running")
    row.get_by_role("button", name=f"Cancel {name}").click()
    expect(row).to_contain_text("cancelled")
    page.get_by_role("button", name="Running").click()
    expect(row).to_have_count(0)
    page.get_by_role("button", name="Ended").click()
    page.get_by_role("link", name=name).click()
    page.wait_for_url(f"**/jobs/{job}")


def test_a_changed_job_is_run_again(site: RunningSite, page: Page) -> None:
    work = str(site.data.parent / "work")
    values: dict[str, Any] = {"directory": work, "files": 10, "repeats": 1, "processes": "1"}
    job = site.submit("bench", "meta", **values)
    site.ended(job)
    visit(page, f"{site.url}/jobs/{job}/change")
    files = page.get_by_role("textbox", name="Files")
    expect(files).to_have_value("10")
    directory = page.get_by_role("textbox", name="Directory")
    directory.fill("/etc")
    files.fill("0")
    expect(page.get_by_text("expected at least 1")).to_be_visible()
    files.fill("20")
    page.get_by_role("button", name="Run").click()
    expect(page.get_by_text("expected a path below a directory that the operator")).to_be_visible()
    expect(directory).to_be_focused()
    directory.fill("")
    page.get_by_role("button", name="Run").click()
    expect(page.get_by_text("a value is required")).to_be_visible()
    directory.fill(work)
    page.get_by_role("switch", name="Own").press("Space")
    page.get_by_role("button", name="Run").press("Enter")
    page.wait_for_url(lambda url: not url.endswith("/change"))
    again = site.ended(page.url.rpartition("/")[2])
    assert again["state"] == "done" and again["request"]["values"] == {
        "directory": work,
        "files": 20,
        "own": True,
        "repeats": 1,
        "processes": "1",
    }


def test_the_start_page_shows_what_runs_and_the_newest_results(
    site: RunningSite, page: Page
) -> None:
    site.ended(simulate(site, SHORT))
    visit(page, site.url)
    expect(page.get_by_role("link", name="short").first).to_be_visible()
    job = simulate(site)
    link = page.locator(f'a[href="/jobs/{job}"]')
    expect(link).to_be_visible()
    cancel(site, job)
    expect(link).to_have_count(0)


def test_many_watchers_share_one_reading(site: RunningSite, browser: Browser) -> None:
    job = simulate(site)
    with ExitStack() as stack:
        there = f"{site.url}/jobs/{job}"
        pages = [stack.enter_context(opened(browser, there)) for _ in range(3)]
        for it in pages:
            expect(it.get_by_text("simulated, ").first).to_be_visible()
        cancel(site, job)
        for it in pages:
            expect(it.get_by_role("status")).to_have_text("cancelled")
