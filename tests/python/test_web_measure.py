"""Pages that measure: forms, live figures and results."""

import re
import tomllib
from pathlib import Path

import pytest
import typer
from playwright.sync_api import Browser, Locator, Page, expect

from headrace.cli.app import app
from headrace.cli.serve import command_forms
from headrace.web.benchmarks import BENCHMARKS
from headrace.web.mix import Mix, mixes, percentages, scenario_text
from web_site import RunningSite, browser, site

__all__ = ["browser", "site"]

LONG_MS = 60_000
"""A measurement on a busy machine."""


def work(site: RunningSite) -> Path:
    """Return the directory that the operator allows."""
    return site.data.parent / "work"


def open_page(site: RunningSite, browser: Browser, path: str) -> Page:
    page = browser.new_page()
    page.goto(site.url + path)
    return page


def chart(page: Page, title: str) -> Locator:
    """Return the chart of a title."""
    return page.locator("figure").filter(has_text=title).last


def test_a_directory_is_measured_to_its_result(site: RunningSite, browser: Browser) -> None:
    page = open_page(site, browser, "/measure")
    page.get_by_role("link", name="Quick check").click()
    expect(page.get_by_label("Directory", exact=True)).to_have_value(str(work(site)))
    page.get_by_label("Time", exact=True).fill("0.1")
    page.get_by_label(re.compile("^File")).fill("1 MiB")
    page.get_by_label(re.compile("^Queue depth")).fill("1")
    page.get_by_role("button", name="Measure").click()
    page.wait_for_url("**/jobs/*")
    expect(chart(page, "Requests a second")).to_be_visible(timeout=LONG_MS)
    expect(page.get_by_role("row", name=re.compile("^random read, depth 1 "))).to_be_visible()
    page.get_by_text("Measured on").click()
    expect(page.get_by_role("row", name=re.compile("^file system "))).to_be_visible()
    assert not list(work(site).iterdir())
    page.close()


def test_points_of_a_load_sweep_appear_before_its_end(site: RunningSite, browser: Browser) -> None:
    page = open_page(site, browser, "/measure/mix")
    page.get_by_label(re.compile("^Rates")).fill("20,40,80,160,320,640")
    page.get_by_label("Time", exact=True).fill("1")
    page.get_by_label("Warm up", exact=True).fill("0")
    page.get_by_role("switch", name="Change the mix").click()
    page.get_by_label("Number of files").fill("1000")
    page.get_by_role("button", name="Measure").click()
    page.wait_for_url("**/jobs/*")
    identifier = page.url.rpartition("/")[2]
    expect(chart(page, "Achieved against requested load")).to_be_visible(timeout=LONG_MS)
    assert site.get(f"/api/jobs/{identifier}").json()["state"] == "running"
    expect(page.get_by_text("Overall response time:")).to_be_visible(timeout=LONG_MS)
    assert site.get(f"/api/jobs/{identifier}").json()["state"] == "done"
    expect(chart(page, "Response time against load")).to_be_visible()
    page.close()


def test_a_mix_is_composed_with_its_sum(site: RunningSite, browser: Browser) -> None:
    page = open_page(site, browser, "/measure/sharing")
    expect(page.get_by_text("Sum of the percentages: 100 %")).to_be_visible()
    page.get_by_label("shared-read", exact=True).fill("90")
    expect(page.get_by_text("Sum of the percentages: 120 %")).to_be_visible()
    page.get_by_role("button", name="Scale to 100 %").click()
    expect(page.get_by_label("shared-read", exact=True)).to_have_value("75")
    expect(page.get_by_text("Sum of the percentages: 100 %")).to_be_visible()
    page.close()


def test_a_mix_that_is_none_is_refused_in_the_page(site: RunningSite, browser: Browser) -> None:
    page = open_page(site, browser, "/measure/sharing")
    for name in ("shared-read", "shared-write"):
        page.get_by_label(name, exact=True).fill("")
    page.get_by_role("button", name="Measure").click()
    alert = page.get_by_role("alert").filter(has_text="expected a percentage")
    expect(alert.first).to_be_visible()
    assert "/measure/" in page.url
    page.close()


def test_a_mix_is_tuned(site: RunningSite, browser: Browser) -> None:
    page = open_page(site, browser, "/measure/tune")
    page.get_by_role("button", name="Measure").click()
    expect(page.get_by_text("a value is required").first).to_be_visible()
    page.get_by_label(re.compile("^Profiler")).fill("fuse")
    page.get_by_label(re.compile("^Step")).fill("0.05")
    page.get_by_label(re.compile("^Threshold")).fill("0.05")
    page.get_by_label("Amount", exact=True).fill("20")
    page.get_by_label("Mixed", exact=True).fill("100")
    page.get_by_label("Rounds", exact=True).fill("1")
    page.get_by_role("switch", name=re.compile("^Enter a mix of NFS or CIFS")).click()
    page.get_by_label("Wanted mix").fill("read = 60\ngetattr = 40")
    page.get_by_role("button", name="Measure").click()
    page.wait_for_url("**/jobs/*")
    job = site.ended(page.url.rpartition("/")[2])
    if "fuse" in job["message"]:
        pytest.skip(job["message"])
    assert job["state"] == "done", job["message"]
    wanted = job["document"]["wanted"] if "document" in job else {}
    assert wanted in ({}, {"read": 0.6, "getattr": 0.4})
    expect(chart(page, "Protocol operations: wanted and measured")).to_be_visible(timeout=LONG_MS)
    page.close()


@pytest.mark.parametrize("name", ["quick", "mix", "disk"])
def test_a_refused_directory_is_shown_at_its_field(
    site: RunningSite, browser: Browser, name: str
) -> None:
    page = open_page(site, browser, f"/measure/{name}")
    page.get_by_label("Directory", exact=True).fill("/etc")
    page.get_by_role("button", name="Measure").click()
    field = page.locator(".q-field", has=page.get_by_label("Directory", exact=True))
    expect(field).to_contain_text("expected a path below a directory that the operator allows")
    assert page.url.endswith(f"/measure/{name}")
    page.close()


def test_a_directory_is_chosen_by_browsing(site: RunningSite, browser: Browser) -> None:
    inner = work(site) / "one" / "two"
    inner.mkdir(parents=True)
    (work(site) / "link").symlink_to("/etc")
    try:
        page = open_page(site, browser, "/measure/quick")
        page.get_by_role("button", name="Browse").click()
        dialog = page.get_by_role("dialog")
        expect(dialog.get_by_role("button", name="one")).to_be_visible()
        expect(dialog.get_by_role("button", name="link")).to_have_count(0)
        dialog.get_by_role("button", name="one").click()
        dialog.get_by_role("button", name="two").click()
        expect(dialog.get_by_text(str(inner))).to_be_visible()
        dialog.get_by_role("button", name="Use this directory").click()
        expect(page.get_by_label("Directory", exact=True)).to_have_value(str(inner))
        page.close()
    finally:
        (work(site) / "link").unlink()
        inner.rmdir()
        inner.parent.rmdir()


def test_the_api_lists_directories_below_the_allowed_ones_only(site: RunningSite) -> None:
    roots = site.get("/api/directories").json()
    assert roots["directories"] == [str(work(site))]
    (work(site) / "a").mkdir()
    try:
        found = site.get("/api/directories", params={"path": str(work(site))}).json()
        assert found["directories"] == [str(work(site) / "a")] and found["parent"] is None
    finally:
        (work(site) / "a").rmdir()
    for path in ("/", "/etc", f"{work(site)}/..", f"{work(site)}/../serve", "work"):
        assert site.get("/api/directories", params={"path": path}).status_code == 422
    missing = site.get("/api/directories", params={"path": str(work(site) / "none")})
    assert missing.status_code == 404


def test_results_of_each_kind_are_drawn(site: RunningSite, browser: Browser) -> None:
    there = str(work(site))
    jobs = {
        "Throughput by processes": site.submit(
            "bench", "clients", directory=there, file="64k", processes="1,2", repeats=1
        ),
        "Operations a second by processes": site.submit(
            "bench", "meta", directory=there, files=5, processes="1,2", repeats=1
        ),
        "Throughput by block": site.submit(
            "bench", "blocks", directory=there, file="64k", block_sizes="4k,64k", repeats=1
        ),
        "Throughput by block size": site.submit(
            "bench", "sweep", directory=there, files="64k,128k", blocks="4k,64k", repeats=1
        ),
        "Throughput of each test": site.submit("bench", "disk", directory=there, file="64k"),
    }
    page = browser.new_page()
    for title, identifier in jobs.items():
        job = site.ended(identifier)
        assert job["state"] == "done", job["message"]
        page.goto(f"{site.url}/jobs/{identifier}")
        expect(chart(page, title)).to_be_visible(timeout=LONG_MS)
    page.goto(f"{site.url}/jobs/{jobs['Throughput by block size']}")
    name = "throughput by file and block size"
    expect(page.get_by_text(f"write: {name}", exact=True)).to_be_visible()
    page.get_by_label("Test", exact=True).click()
    page.get_by_role("option", name="strided read").click()
    expect(page.get_by_text(f"strided read: {name}", exact=True)).to_be_visible()
    page.close()


def test_percentages_of_presets_add_up() -> None:
    assert "mpfs-benchmark" in mixes() and "ior-easy" not in mixes()
    for name in mixes():
        assert sum(percentages(name).values()) == pytest.approx(100, abs=0.05)


def test_a_composed_mix_has_the_fields_that_its_operations_use() -> None:
    weights = {"read": 50.0, "write": 30.0, "shared-read": 10.0, "readdir": 10.0, "stat": 0.0}
    mix = Mix(
        "mpfs-benchmark",
        weights,
        file_sizes="all",
        files=7,
        bytes_per_rate="1 MB",
        directories_per_rate=10,
        links_per_rate=100,
        append_percent=80,
        locality_groups=5,
        burst_percent=20,
        burst_length=3,
        random_from="1 MiB",
        sharing="client",
        clients=2,
        processes=3,
    )
    workload = tomllib.loads(scenario_text(mix))["workload"][0]
    assert workload["weights"] == {k: v for k, v in weights.items() if v}
    # No operation uses links.
    assert workload["names"] == {"directories_per_rate": 10}
    assert workload["file_sizes"] == ["small", "medium", "large"]
    assert workload["append_share"] == 0.8 and workload["bursts"] == {"share": 0.2, "length": 3}
    assert workload["sharing"] == "client"


@pytest.mark.parametrize(
    ("mix", "message"),
    [
        (Mix("mpfs", {}), "at least one operation"),
        (Mix("mpfs", {"read": 1.0}, bytes_per_rate='1" x'), "bytes_per_rate"),
        (Mix("mpfs", {"read": 1.0}, append_percent=300), "append_share"),
    ],
)
def test_a_wrong_mix_names_its_field(mix: Mix, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        scenario_text(mix)


def test_parameters_of_benchmarks_are_those_of_the_command_line() -> None:
    forms = {it.command: it for it in command_forms(typer.main.get_command(app))}
    for it in BENCHMARKS:
        names = {field.name for field in forms[it.command].fields}
        assert {*it.main, *filter(None, (it.directory, it.scenario))} <= names, it.name
