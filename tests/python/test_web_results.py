"""The pages and the API of results, with a real server, browser and database."""

import io
import json
import zipfile
from collections.abc import Iterator
from pathlib import Path
from typing import TypeAlias

import polars as pl
import pytest
from playwright.sync_api import Browser, expect

import headrace as hr
from conftest import ROOT, emptied
from headrace.store import Store
from headrace.store.figures import RATE, THROUGHPUT, figures
from headrace.web.pages.results.figures import figure_text
from web_site import RunningSite, connected, opened, running_site, until, visit

HOSTILE = '<img src=x onerror="document.title=1">'


Filled: TypeAlias = tuple[RunningSite, Store, list[str]]


@pytest.fixture(scope="module", params=["sqlite", "postgresql"])
def filled(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory, result: hr.Result
) -> Iterator[Filled]:
    """A server on a store with three results."""
    directory = tmp_path_factory.mktemp(request.param)
    where = str(directory / "store")
    if request.param == "postgresql":
        where = emptied(request.getfixturevalue("server"))
    store = hr.store.open(where)
    slow = json.loads(json.dumps(result.document))
    slow["throughput"] = {key: value / 2 for key, value in slow["throughput"].items()}
    ids = [
        store.add(result.document, labels={"disks": "old"}),
        store.add({**slow, "version": "9.9.9"}, labels={"disks": "new"}),
        store.add({**result.document, "name": HOSTILE}, labels={"x": HOSTILE}),
    ]
    with running_site(directory, HEADRACE_STORE=where) as site:
        yield site, store, ids


def test_a_result_is_found_labelled_compared_and_exported(filled: Filled, browser: Browser) -> None:
    site, store, ids = filled
    with opened(browser, site.url + "/results") as page:
        expect(page.get_by_text("3 results, page 1 of 1")).to_be_visible()
        page.get_by_label("Search").fill("new")
        page.keyboard.press("Enter")
        expect(page.get_by_text("1 results, page 1 of 1")).to_be_visible()
        page.get_by_role("link", name="small").click()
        expect(page.get_by_text(ids[1])).to_be_visible()
        page.get_by_label("New label").fill("rack=7")
        page.keyboard.press("Enter")
        expect(page.get_by_text("rack=7")).to_be_visible()
        # The message with the field's value has not come.
        page.get_by_label("New label").evaluate(
            "(field) => { field.value = 'row=2';"
            " field.dispatchEvent(new KeyboardEvent('keydown', {key: 'Enter'})); }"
        )
        expect(page.get_by_text("row=2")).to_be_visible()
        page.get_by_label("Note").fill("half as fast")
        page.get_by_label("Note").blur()
        labels = {"disks": "new", "rack": "7", "row": "2", "note": "half as fast"}
        until(lambda: store.shown(ids[1]).labels == labels)
        visit(page, site.url + f"/results/compare?ids={ids[0]},{ids[1]}")
        page.get_by_text("Figures", exact=True).click()
        expect(page.get_by_role("cell", name="0.500").first).to_be_visible()
        visit(page, site.url + "/results/history?name=small&operation=write")
        expect(page.get_by_role("img", name="small: write")).to_be_visible()


def test_servers_over_time_are_a_heat_map(filled: Filled, browser: Browser) -> None:
    site, store, _ = filled
    straggler = hr.load(ROOT / "scenarios" / "straggler.toml", {"workload.0.files": 1})
    identifier = hr.run(straggler).keep(store=store)
    try:
        with opened(browser, f"{site.url}/results/{identifier}") as page:
            name = "Data servers over time"
            figure = page.get_by_role("img", name=name)
            expect(figure).to_be_visible()
            expect(figure.get_by_text("7 (slow)", exact=True)).to_be_visible()
            expect(page.get_by_role("img", name="Throughput over time")).to_be_visible()
            page.get_by_role("figure").filter(has=figure).get_by_text("Numbers").click()
            # The first window of the slow server, which is busy all the time.
            row = page.get_by_role("row").filter(has_text="7 (slow)")
            expect(row.get_by_role("cell").nth(2)).to_have_text("100")
    finally:
        store.remove(identifier)


def test_texts_of_results_are_texts(filled: Filled, browser: Browser) -> None:
    site, _, ids = filled
    for path in ("/results", f"/results/{ids[2]}"):
        with opened(browser, site.url + path) as page:
            expect(page.get_by_text(HOSTILE).first).to_be_visible()
            assert page.title().startswith("Results")


def test_the_api_of_results(filled: Filled) -> None:
    site, store, ids = filled
    found = site.get("/api/results", params={"label": "disks=new"}).json()
    assert [it["id"] for it in found["results"]] == [ids[1]] and found["total"] == 1
    assert site.get(f"/api/results/{ids[0]}").json()["document"] == store.shown(ids[0]).document
    compared = site.get("/api/results/compare", params={"ids": ",".join(ids[:2])}).json()
    ratios = {(it["operation"], it["figure"]): it["ratio"] for it in compared["figures"][1::2]}
    assert ratios["write", "throughput_bytes_per_s"] == 0.5
    history = site.get("/api/results/history", params={"name": "small", "operation": "write"})
    now = store.shown(ids[0]).version
    assert [it["version"] for it in history.json()] == [now, "9.9.9", now]
    first = site.get("/api/results/history", params={"name": "small"}).json()
    assert [(it["operation"], it["figure"]) for it in first] == [("all", "latency_mean_s")] * 3


def test_exports(filled: Filled) -> None:
    site, store, ids = filled

    def export(format: str) -> bytes:
        answer = site.get("/api/results/export", params={"ids": ",".join(ids), "format": format})
        assert answer.status_code == 200, answer.text
        return answer.content

    assert zipfile.ZipFile(io.BytesIO(export("zip"))).testzip() is None
    assert set(pl.read_csv(export("csv"))["id"]) == set(ids)
    figures = pl.read_parquet(export("parquet"))
    assert figures.height == store.figures(ids).height and set(figures["id"]) == set(ids)
    assert [it["id"] for it in json.loads(export("json"))] == ids
    report = export("html").decode()
    assert HOSTILE not in report and "Compared" in report


@pytest.mark.parametrize(
    ("path", "status"),
    [
        ("/api/results/none", 404),
        ("/api/results?kind=none", 422),
        ("/api/results?label=none", 422),
        ("/api/results?limit=0", 422),
        (f"/api/results?skip={10**30}", 422),
        ("/api/results/compare?ids=none,none2", 422),
        ("/api/results/export?ids=none", 422),
        ("/api/results/export?ids=", 422),
        ("/api/results/export?ids=none&format=exe", 422),
    ],
)
def test_refused_requests(path: str, status: int, site: RunningSite) -> None:
    answer = site.get(path)
    assert answer.status_code == status, answer.text
    assert "Traceback" not in answer.text


FOLLOWS = "!window.isFormer && window.headraceSearch === location.search"
"""Whether a page that was drawn anew follows the browser's history."""


def test_the_list_is_in_the_address_and_the_history(browser: Browser, tmp_path: Path) -> None:
    """Filters, page and order; Back returns to the ones before."""
    store = hr.store.open(str(tmp_path / "store"))
    for number in range(60):
        store.add(
            {
                "scenario": {"name": f"run {number % 2}", "toml": f"count = {number}"},
                "version": "1",
                "throughput": {"read": 1e6 * (number + 1)},
            },
            labels={"rack": str(number % 3)},
        )
    with running_site(tmp_path) as site, opened(browser, site.url + "/results") as page:
        expect(page.get_by_text("60 results, page 1 of 2")).to_be_visible()
        page.get_by_role("button", name="Next", exact=True).click()
        expect(page.get_by_text("60 results, page 2 of 2")).to_be_visible()
        page.wait_for_url("**/results?page=2")
        page.get_by_label("Label").fill("rack=1")
        page.keyboard.press("Enter")
        expect(page.get_by_text("20 results, page 1 of 1")).to_be_visible()
        page.wait_for_url("**/results?label=rack%3D1")
        # As numbers: 59 is the largest of a third of the results.
        page.get_by_role("columnheader", name="MB/s").click()
        page.wait_for_url("**/results?label=rack%3D1&sort=throughput")
        expect(page.get_by_role("row").nth(1).get_by_role("cell").nth(5)).to_have_text("2")
        page.reload()
        connected(page)
        expect(page.get_by_role("row").last.get_by_role("cell").nth(5)).to_have_text("59")
        # Of all pages, and the largest first at the second click.
        page.get_by_label("Label").fill("")
        page.keyboard.press("Enter")
        page.wait_for_url("**/results?sort=throughput")
        expect(page.get_by_role("row").nth(1).get_by_role("cell").nth(5)).to_have_text("1")
        page.get_by_role("columnheader", name="MB/s").click()
        page.wait_for_url("**/results?sort=-throughput")
        expect(page.get_by_role("row").nth(1).get_by_role("cell").nth(5)).to_have_text("60")
        page.get_by_role("button", name="Next", exact=True).click()
        expect(page.get_by_role("row").nth(1).get_by_role("cell").nth(5)).to_have_text("10")
        for address, text in (
            ("sort=-throughput", "60 results, page 1 of 2"),
            ("sort=throughput", "60 results, page 1 of 2"),
            ("label=rack%3D1&sort=throughput", "20 results, page 1 of 1"),
            ("label=rack%3D1", "20 results, page 1 of 1"),
            ("page=2", "60 results, page 2 of 2"),
            ("", "60 results, page 1 of 2"),
        ):
            page.evaluate("window.isFormer = true")
            page.go_back()
            page.wait_for_function(FOLLOWS)
            page.wait_for_url("**/results" + (f"?{address}" if address else ""))
            expect(page.get_by_text(text)).to_be_visible()
        page.go_forward()
        expect(page.get_by_text("60 results, page 2 of 2")).to_be_visible()
        # A page beyond the last is the last.
        visit(page, site.url + "/results?page=9")
        expect(page.get_by_text("60 results, page 2 of 2")).to_be_visible()
        # A comparison has its results in the address.
        ids = store.list()["id"].to_list()
        visit(page, f"{site.url}/results/compare?ids={ids[0]},{ids[2]}")
        expect(page.get_by_text("B instead of A: count 59 → 57")).to_be_visible()
        page.get_by_label("Results", exact=True).fill(f"{ids[0]},{ids[4]}")
        page.get_by_role("button", name="Compare", exact=True).click()
        expect(page.get_by_text("B instead of A: count 59 → 55")).to_be_visible()
        page.go_back()
        expect(page.get_by_text("B instead of A: count 59 → 57")).to_be_visible()


@pytest.mark.parametrize(
    ("kind", "throughput", "rate"),
    [("measured", "159.8", "51,265"), ("network", "5,730", ""), ("load-sweep", "", "200")],
)
def test_figures_of_points_are_not_added_in_lists(kind: str, throughput: str, rate: str) -> None:
    document = json.loads((ROOT / f"tests/data/documents/{kind}.json").read_text())
    rows: dict[str, dict[str, float]] = {}
    for operation, figure, value in figures(document):
        rows.setdefault(operation, {})[figure] = value
    assert figure_text(rows, THROUGHPUT) == throughput
    assert figure_text(rows, RATE) == rate
