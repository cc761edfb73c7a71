"""Drafts, fields, checks, figures and calculations of the design pages, and their API."""

import tomllib
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from design_search_sample import CATALOGUE_TEXT, WORKSHEET_TEXT
from headrace.design import forms
from headrace.design.catalogue_file import load_catalogue
from headrace.design.figure import Figure, Input
from headrace.web.design.drafts import DraftError, Drafts, draft_name
from headrace.web.design.fields import sections, value_of
from headrace.web.design.figures import FigureBook
from headrace.web.design.sheet import EMPTY, Sheet, answered, check_sheet, page_of
from headrace.web.settings import Settings
from web_site import RunningSite

CATALOGUE = load_catalogue(None).catalogue


@pytest.fixture
def drafts(tmp_path: Path) -> Drafts:
    return Drafts(Settings(data=tmp_path))


def test_drafts_are_each_users_own(drafts: Drafts) -> None:
    assert drafts.create("ann", "lab", "a = 1") == "lab"
    assert drafts.create("ann", "lab", "a = 2") == "lab 2"
    assert drafts.drafts("bob") == []
    with pytest.raises(DraftError, match="no draft"):
        drafts.text("bob", "lab")
    assert {it.name for it in drafts.drafts("ann")} == {"lab", "lab 2"}
    drafts.rename("ann", "lab", "other")
    assert drafts.text("ann", "other") == "a = 1"
    with pytest.raises(DraftError, match="taken"):
        drafts.rename("ann", "other", "lab 2")
    drafts.remove("ann", "other")
    assert [it.name for it in drafts.drafts("ann")] == ["lab 2"]


def test_a_change_from_elsewhere_is_not_overwritten(drafts: Drafts) -> None:
    drafts.save("ann", "lab", "a = 1")
    drafts.save("ann", "lab", "a = 2", before="a = 1")
    with pytest.raises(DraftError, match="elsewhere") as refused:
        drafts.save("ann", "lab", "a = 3", before="a = 1")
    assert refused.value.status == 409
    assert drafts.text("ann", "lab") == "a = 2"


@pytest.mark.parametrize("name", ["", "..", "../x", "a/b", ".hidden", "a\0", "x" * 81, "a\n", "a."])
def test_names_that_lead_elsewhere_are_refused(drafts: Drafts, name: str) -> None:
    for attempt in (
        lambda: drafts.save("ann", name, ""),
        lambda: drafts.text("ann", name),
        lambda: drafts.remove("ann", name),
        lambda: drafts.text(name, "lab"),
    ):
        with pytest.raises(DraftError):
            attempt()


@given(st.text())
def test_any_file_name_gives_a_name_of_a_draft(text: str) -> None:
    Drafts(Settings(data=Path("/nowhere")))._path("ann", draft_name(text))


def test_the_form_has_every_question_of_the_worksheet() -> None:
    loaded = tomllib.loads(forms.example("hpc"))
    questions = {
        (*group.path, field.name)
        for page in sections()
        for group in page.groups
        for field in group.fields
    }

    def walk(value: object, path: tuple[str, ...]) -> None:
        if isinstance(value, dict):
            for key, it in value.items():
                walk(it, (*path, key))
        elif isinstance(value, list) and value and isinstance(value[0], dict):
            for it in value:
                walk(it, path)
        else:
            assert path in questions, path

    for name in forms.examples():
        loaded = tomllib.loads(forms.example(name))
        walk(loaded, ())
    assert all(field.question for page in sections() for it in page.groups for field in it.fields)


@pytest.mark.parametrize("name", forms.examples())
def test_every_answer_entered_again_changes_nothing(name: str) -> None:
    """What the form shows of an answer is the answer."""
    from headrace.web.design.fields import shown

    text = forms.example(name)
    for page in sections():
        for group in page.groups:
            sheet = Sheet(text)
            entries = [group.path]
            if group.is_list:
                entries = [(*group.path, str(at)) for at in range(sheet.count(group.path))]
            for entry in entries:
                for field in group.fields:
                    value = sheet.value((*entry, field.name))
                    if value is None:
                        continue
                    again = value_of(shown(value), field)
                    assert shown(again) == shown(value)
                    sheet.enter((*entry, field.name), shown(value))
            found = check_sheet(sheet.text, CATALOGUE)
            assert found.error is None
            assert found.unknown == check_sheet(text, CATALOGUE).unknown


LISTS = [("client",), ("zone",), ("data",), ("flow",), ("application",), ("background", "wish")]


@settings(max_examples=25, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(st.lists(st.tuples(st.sampled_from(LISTS), st.booleans(), st.integers(0, 9)), max_size=8))
def test_entries_are_added_and_removed_as_in_a_list(
    changes: list[tuple[tuple[str, ...], bool, int]],
) -> None:
    sheet = Sheet(forms.example("video"))
    expected = tomllib.loads(sheet.text)
    for path, adds, number in changes:
        table = expected
        for name in path[:-1]:
            table = table.setdefault(name, {})
        entries = table.setdefault(path[-1], [])
        if adds:
            sheet.add(path)
            entries.append(tomllib.loads(sheet.text))
            found: object = entries[-1]
            for name in path:
                found = found[name]  # type: ignore[index]
            entries[-1] = found[-1]  # type: ignore[index]
        elif number < len(entries):
            sheet.remove((*path, str(number)))
            del entries[number]
        if not entries:
            del table[path[-1]]
        assert tomllib.loads(sheet.text) == expected


@pytest.mark.parametrize(
    ("text", "field"),
    [
        ("", "capacity.usable"),
        (EMPTY, "capacity.usable"),
        ('[capacity]\nusable = "20 furlong"', "capacity.usable"),
        ('[capacity]\nusable = "1 TB"\n[[zone]]\nthroughput = "low"', "zone.0.name"),
        ('[capacity]\nusable = "1 TB"\n[[zone]]\nname = "a"\n[[zone]]\ncopies = 0', "zone.1.name"),
        ('[capacity]\nusable = "1 TB"\n[facility]\nrackets = 1', "facility.rackets"),
        ("[capacity", ""),
    ],
)
def test_an_error_names_its_field(text: str, field: str) -> None:
    error = check_sheet(text, CATALOGUE).error
    assert error is not None
    assert error.field == field


def test_profiles_are_uploads_of_the_user(tmp_path: Path) -> None:
    (tmp_path / "trace.csv").write_text("x")
    sheet = Sheet(WORKSHEET_TEXT)
    for name in ("/etc/passwd", "../x", "uploads/../../x", "uploads/none.csv", "trace.csv"):
        sheet.enter(("application", "0", "profile"), name)
        error = check_sheet(sheet.text, CATALOGUE, tmp_path).error
        assert error is not None
        assert error.field == "application.0.profile"
    sheet.enter(("application", "0", "profile"), "uploads/trace.csv")
    assert check_sheet(sheet.text, CATALOGUE, tmp_path).error is None


def test_questions_lead_to_their_page() -> None:
    sheet = check_sheet(forms.example("lab"), CATALOGUE)
    assert sheet.unknown
    for line in sheet.unknown:
        assert page_of(line.split(",")[0].split(" ")[0]) is not None
    assert answered(Sheet(EMPTY), "capacity") == (0, 4)


def test_an_input_leads_to_its_figure() -> None:
    raw = Figure(key="raw", title="raw capacity", value=8e12, unit="B", formula="disks x capacity")
    used = Figure(
        key="usable",
        title="usable",
        value=4e12,
        unit="B",
        formula="raw capacity / copies",
        inputs=(
            Input("raw capacity", "8 TB", "raw capacity"),
            Input("copies", "2", "zone.copies"),
        ),
    )
    view = FigureBook([raw, used]).view("usable")
    assert view.numbers == "8 TB / 2"
    assert [it.figure for it in view.inputs] == ["raw", None]


def test_the_api_saves_checks_and_draws(site: RunningSite) -> None:
    text = forms.example("lab")
    assert site.put("/api/design/drafts/my lab", json={"toml": text}).status_code == 200
    assert site.get("/api/design/drafts/my lab").json()["toml"] == text
    old = site.put("/api/design/drafts/my lab", json={"toml": text, "before": "x"})
    assert old.status_code == 409
    drawn = site.get("/api/design/drafts/my lab/flow.svg")
    assert drawn.headers["content-type"].startswith("image/svg+xml")
    assert "measurements" in drawn.text
    checked = site.post("/api/design/check", json={"toml": '[capacity]\nusable = "x"'}).json()
    assert checked["error"]["field"] == "capacity.usable"
    choices = site.post("/api/design/recommend", json={"toml": text}).json()
    assert {"home", "measurements"} <= {it["zone"] for it in choices}
    assert site.get("/api/design/drafts/..%2f..%2fx").status_code in (404, 422)
    assert site.get("/api/design/solutions/none").status_code == 404
    schema = site.get("/api/openapi.json").json()
    assert "/design/drafts/{name}/solve" in schema["paths"]


@pytest.mark.parametrize(
    ("name", "values", "key", "text"),
    [
        (
            "capacity",
            {"disks": 12, "disk_capacity": "4 TB", "level": "raid6"},
            "usable-capacity",
            "40 TB",
        ),
        ("spares", {"disks": 100, "restock": "14 d", "mttf": "1000000 h"}, "spares", "2"),
        ("power", {"nodes": 10, "watts": 400.0}, "power", "4,000 W"),
        (
            "reliability",
            {"level": "raid6", "disks": 8, "mttf": "1000000 h", "mttr": "12 h"},
            "loss-probability-10",
            "2.12e-09",
        ),
    ],
)
def test_the_calculators_show_their_arithmetic(
    site: RunningSite, name: str, values: dict[str, object], key: str, text: str
) -> None:
    answer = site.post(f"/api/design/calculate/{name}", json=values)
    assert answer.status_code == 200, answer.text
    figure = next(it for it in answer.json() if it["key"] == key)
    assert figure["text"].startswith(text)
    assert figure["formula"]
    assert figure["inputs"]


def test_a_calculator_has_a_schema(site: RunningSite) -> None:
    described = site.get("/api/design/calculate/cost").json()
    assert described["required"] == ["disk_price", "node_price"]
    assert described["properties"]["years"]["default"] == 3
    assert described["properties"]["disk_capacity"]["format"] == "SIZE"
    assert site.get("/api/design/calculate/smart").status_code == 404


def test_the_calculators_refuse_files_and_mistakes(site: RunningSite) -> None:
    for name, values in (
        ("reliability", {"level": "raid6", "disks": 8, "lifetime": "table:/etc/passwd"}),
        ("reliability", {"level": "raid6", "missions": 10**12}),
        ("capacity", {"disks": "many"}),
        ("capacity", {"plot": "/tmp/x.png"}),
        ("growth", {}),
    ):
        answer = site.post(f"/api/design/calculate/{name}", json=values)
        assert answer.status_code == 422, answer.text
    assert site.post("/api/design/calculate/smart", json={}).status_code == 404


def test_a_catalogue_of_a_user_is_checked_and_used(tmp_path: Path) -> None:
    from headrace._core import ScenarioError
    from headrace.web.design.catalogues import add_catalogue, catalogue_names
    from headrace.web.design.solving import solve_request

    known = Settings(data=tmp_path)
    name = add_catalogue(known, "ann", "small", CATALOGUE_TEXT)
    assert name in catalogue_names(known, "ann")
    assert name not in catalogue_names(known, "bob")
    request = solve_request(known, "ann", "lab", WORKSHEET_TEXT, name, {})
    assert request.inputs["catalogue.toml"] == CATALOGUE_TEXT
    with pytest.raises(DraftError):
        solve_request(known, "bob", "lab", WORKSHEET_TEXT, name, {})
    with pytest.raises(ScenarioError):
        add_catalogue(known, "ann", "wrong", "[[disk]]")
