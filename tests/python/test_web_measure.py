"""Pages that measure: forms, live figures and results."""

import re
import tomllib
from pathlib import Path
from typing import Any

import pytest
import typer
from playwright.sync_api import Browser, Locator, Page, expect

from headrace.cli.app import app
from headrace.cli.serve import command_forms
from headrace.web.benchmarks import BENCHMARKS
from headrace.web.mix import Mix, mixes, percentages, scenario_text
from web_site import RunningSite, opened, visit


def work(site: RunningSite) -> Path:
    """Return the directory that the operator allows."""
    return site.data.parent / "work"


def chart(page: Page, title: str) -> Locator:
    """Return the chart of a title."""
    return page.locator("figure").filter(has_text=title).last


def test_a_directory_is_measured_to_its_result(site: RunningSite, browser: Browser) -> None:
    with opened(browser, site.url + "/measure") as page:
        page.get_by_role("link", name="Quick check").click()
        expect(page.get_by_label("Directory", exact=True)).to_have_value(str(work(site)))
        page.get_by_label("Time", exact=True).fill("0.1")
        page.get_by_label(re.compile("^File")).fill("1 MiB")
        page.get_by_label(re.compile("^Queue depth")).fill("1")
        page.get_by_role("button", name="Measure").click()
        page.wait_for_url("**/jobs/*")
        expect(chart(page, "Requests a second")).to_be_visible()
        expect(page.get_by_role("row", name=re.compile("^random read, depth 1 "))).to_be_visible()
        page.get_by_text("Measured on").click()
        expect(page.get_by_role("row", name=re.compile("^file system "))).to_be_visible()
        assert not list(work(site).iterdir())


def test_points_of_a_load_sweep_appear_before_its_end(site: RunningSite, browser: Browser) -> None:
    with opened(browser, site.url + "/measure/mix") as page:
        # Far more than the page needs to show the first of them.
        rates = ",".join(str(10 * it) for it in range(2, 100))
        page.get_by_label(re.compile("^Rates")).fill(rates)
        page.get_by_label("Time", exact=True).fill("1")
        page.get_by_label("Warm up", exact=True).fill("0")
        page.get_by_role("switch", name="Change the mix").click()
        page.get_by_label("Number of files").fill("100")
        page.get_by_role("button", name="Measure").click()
        page.wait_for_url("**/jobs/*")
        identifier = page.url.rpartition("/")[2]
        expect(chart(page, "Achieved against requested load")).to_be_visible()
        assert site.get(f"/api/jobs/{identifier}").json()["state"] == "running"
        page.get_by_role("button", name="Cancel").click()
        expect(page.get_by_role("status")).to_have_text("cancelled")


def test_a_load_sweep_ends_with_its_response_times(site: RunningSite, browser: Browser) -> None:
    values: dict[str, Any] = {"rates": "20,40", "seconds": 0.5, "warm_up": 0}
    sets = ["workload.0.files=50"]
    job = site.submit("bench", "mix", directory=str(work(site)), sets=sets, **values)
    with opened(browser, f"{site.url}/jobs/{job}") as page:
        # On a busy machine no load is sustained.
        expect(page.get_by_text("A load is sustained if")).to_be_visible()
        assert site.get(f"/api/jobs/{job}").json()["state"] == "done"
        expect(chart(page, "Response time against load")).to_be_visible()


def test_a_mix_is_composed_with_its_sum(site: RunningSite, browser: Browser) -> None:
    with opened(browser, site.url + "/measure/sharing") as page:
        expect(page.get_by_text("Sum of the percentages: 100 %")).to_be_visible()
        page.get_by_label("shared-read", exact=True).fill("90")
        expect(page.get_by_text("Sum of the percentages: 120 %")).to_be_visible()
        page.get_by_role("button", name="Scale to 100 %").click()
        expect(page.get_by_label("shared-read", exact=True)).to_have_value("75")
        expect(page.get_by_text("Sum of the percentages: 100 %")).to_be_visible()


def test_a_mix_that_is_none_is_refused_in_the_page(site: RunningSite, browser: Browser) -> None:
    with opened(browser, site.url + "/measure/sharing") as page:
        for name in ("shared-read", "shared-write"):
            page.get_by_label(name, exact=True).fill("")
        page.get_by_role("button", name="Measure").click()
        alert = page.get_by_role("alert").filter(has_text="expected a percentage")
        expect(alert.first).to_be_visible()
        assert "/measure/" in page.url


def test_a_mix_is_tuned(site: RunningSite, browser: Browser) -> None:
    with opened(browser, site.url + "/measure/tune") as page:
        page.get_by_role("button", name="Measure").click()
        expect(page.get_by_text("a value is required").first).to_be_visible()
        page.get_by_label(re.compile("^Profiler")).fill("fuse")
        page.get_by_label(re.compile("^First step")).fill("0.05")
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
        expect(chart(page, "Protocol operations: wanted and measured")).to_be_visible()


@pytest.mark.parametrize("name", ["quick", "mix", "disk"])
def test_a_refused_directory_is_shown_at_its_field(
    site: RunningSite, browser: Browser, name: str
) -> None:
    with opened(browser, f"{site.url}/measure/{name}") as page:
        page.get_by_label("Directory", exact=True).fill("/etc")
        page.get_by_role("button", name="Measure").click()
        field = page.locator(".q-field", has=page.get_by_label("Directory", exact=True))
        expect(field).to_contain_text("expected a path below a directory that the operator allows")
        assert page.url.endswith(f"/measure/{name}")


@pytest.mark.parametrize(
    "field", ['system = "{}"', '[servers.device]\nkind = "empirical"\nread_times = "{}"']
)
def test_a_scenario_in_the_page_reads_no_other_files(
    site: RunningSite, browser: Browser, field: str
) -> None:
    secret = site.data / "secret.toml"
    secret.write_text("a_secret = 1\n")
    with opened(browser, f"{site.url}/measure/run") as page:
        work = '[clients]\ncount = 1\n[[workload]]\npreset = "ior-easy"\n'
        top, _, rest = field.format(secret).partition("[")
        page.get_by_label("Scenario (TOML)").fill(f"{top}\n{work}{rest and '['}{rest}")
        page.get_by_role("button", name="Measure").click()
        shown = page.locator(".q-field", has=page.get_by_label("Scenario (TOML)"))
        expect(shown).to_contain_text("it is outside the directories that may be read here")
        expect(shown).not_to_contain_text("a_secret")


def test_a_directory_is_chosen_by_browsing(site: RunningSite, browser: Browser) -> None:
    inner = work(site) / "one" / "two"
    inner.mkdir(parents=True)
    (work(site) / "link").symlink_to("/etc")
    try:
        with opened(browser, site.url + "/measure/quick") as page:
            page.get_by_role("button", name="Browse").click()
            dialog = page.get_by_role("dialog")
            expect(dialog.get_by_role("button", name="one")).to_be_visible()
            expect(dialog.get_by_role("button", name="link")).to_have_count(0)
            dialog.get_by_role("button", name="one").click()
            dialog.get_by_role("button", name="two").click()
            expect(dialog.get_by_text(str(inner))).to_be_visible()
            dialog.get_by_role("button", name="Use this directory").click()
            expect(page.get_by_label("Directory", exact=True)).to_have_value(str(inner))
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
        "Throughput by block size": site.submit(
            "bench", "blocks", directory=there, file="64k", block_sizes="4k,64k", repeats=1
        ),
        "write: throughput by block size": site.submit(
            "bench", "sweep", directory=there, files="64k,128k", blocks="4k,64k", repeats=1
        ),
        "Throughput of each test": site.submit("bench", "disk", directory=there, file="64k"),
    }
    for identifier in jobs.values():
        job = site.ended(identifier)
        assert job["state"] == "done", job["message"]
    with opened(browser, f"{site.url}/jobs") as page:
        for title, identifier in jobs.items():
            visit(page, f"{site.url}/jobs/{identifier}")
            expect(chart(page, title)).to_be_visible()
            if title.startswith("write"):
                name = "throughput by file and block size"
                expect(page.get_by_text(f"write: {name}", exact=True)).to_be_visible()
                page.get_by_label("Charts", exact=True).click()
                page.get_by_role("option", name="strided read").click()
                expect(page.get_by_text(f"strided read: {name}", exact=True)).to_be_visible()


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
