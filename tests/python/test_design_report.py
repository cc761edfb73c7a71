"""The report of a design: HTML, PDF, footnotes, requirements, drawings and the command."""

import json
import re
import sys
from pathlib import Path
from typing import Any

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

import design_sample as sample
from command import command
from headrace.design.capacity import capacity
from headrace.design.catalogue import ShelfModel
from headrace.design.catalogue_file import load_catalogue
from headrace.design.cost import cost
from headrace.design.evaluate import performance_violations
from headrace.design.evaluation import Choice, Reason, Solution, Violation
from headrace.design.inventory import parts
from headrace.design.recommendation import recommend, unknown_answers
from headrace.design.worksheet import ClientGroup, Worksheet
from headrace.design.worksheet_file import load_worksheet
from headrace.quantities import percent_text
from headrace.report.data_flow import network_svg
from headrace.report.design_report import charts, content, listed, reasons, write
from headrace.report.design_report.bill import bill
from headrace.report.design_report.data import SHOWN, DesignData, figures_of
from headrace.report.design_report.notes import Notes
from headrace.report.design_report.requirements import requirements
from headrace.report.design_report.words import chance
from headrace.report.document import html, pdf
from headrace.report.document.content import (
    Code,
    Facts,
    Footnote,
    Paragraph,
    Picture,
    Reference,
    Report,
    Section,
    Table,
    Text,
)
from headrace.report.document.footnotes import numbered
from headrace.training import AcceleratorTime, LoaderTime, Training
from headrace.views.solution import label, view
from report_checks import HOSTILE, Page, check_page, check_pdf

SCENARIOS = Path(__file__).parents[2] / "scenarios" / "design"
DASH = "\N{EN DASH}"
WORKSHEETS = ("lab", "video", "hpc")


def of(solution: Solution = sample.SOLUTION, worksheet: Worksheet = sample.WORKSHEET) -> DesignData:
    """The data of a report."""
    return DesignData(solution, worksheet, sample.CATALOGUE, Notes("EUR"))


def report_of(solution: Solution = sample.SOLUTION) -> Report:
    return content(solution, sample.WORKSHEET, sample.CATALOGUE)


def text_of(report: Report) -> str:
    """The text of a report's page."""
    return check_page(html.render(report)).text


@pytest.fixture(scope="module")
def written(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The directory of the sample's report."""
    directory = tmp_path_factory.mktemp("design")
    steps: list[str] = []
    files = write(
        sample.SOLUTION,
        sample.WORKSHEET,
        sample.CATALOGUE,
        directory,
        lambda done, total, name: steps.append(f"{done}/{total} {name}"),
    )
    assert steps == ["0/2 drawings", "1/2 HTML and PDF"]
    assert {it.name for it in files.drawings} == {
        *(f"{name}{ending}" for name in ("front", "racks", "cost") for ending in (".svg", ".png")),
        "data-flow.svg",
        "network.svg",
    }
    assert all(it.stat().st_size for it in (*files.documents, *files.drawings))
    return directory


def test_the_page_is_valid_and_loads_nothing(written: Path) -> None:
    page = check_page((written / "report.html").read_text(encoding="utf-8"))
    assert page.tags.count("svg") == 5
    for part in (
        "Buy 4 data servers (2U12)",
        "under Lustre over 10GbE, for 29,160 EUR",
        "Usable capacity with a reserve of 20 % 136.8 TB (124.4 TiB)",
        "Purchase 29,160 EUR",
        "touch up: throughput, mean latency 20 MB/s",
        "9 of 9 stated requirements met",
        "1 unknown answer",
        "For the customer date, name and signature",
        "Limitation 1 the server is full every month capacity, seen by users",
        "RAID-6 of 11 disks (9 data, 2 parity)",
        "facility.cooling is unknown: no design is discarded for its heat.",
        "Latent errors are found only by reading. (Hindman 2011, section 3.6)",
        "Prices of the catalogue example of 2026-01-15",
        "Seed 1",
        "budget.initial 300",
    ):
        assert part in page.text, part


def test_the_document_has_pages(written: Path) -> None:
    contents = (written / "report.pdf").read_bytes()
    check_pdf(contents)
    assert len(re.findall(rb"/Type\s*/Page\b", contents)) > 5


def test_equal_solutions_give_equal_reports(written: Path, tmp_path: Path) -> None:
    write(sample.SOLUTION, sample.WORKSHEET, sample.CATALOGUE, tmp_path)
    for name in ("report.html", "report.pdf", "figures/front.svg", "figures/data-flow.svg"):
        assert (tmp_path / name).read_bytes() == (written / name).read_bytes(), name


def test_every_figure_of_the_design_has_a_footnote() -> None:
    report = report_of()
    cited = {it.key: it for it in numbered(report)}
    data = of()
    assert data.shown is not None
    for it in figures_of(data.shown):
        note = cited[f"{SHOWN}/{it.key}"]
        text = note.text if isinstance(note.text, str) else _plain(note.text)
        assert it.formula[:40] in text
        assert all(each.text in text for each in it.inputs)
        assert it.source in text or not it.source


def test_footnotes_are_linked_both_ways() -> None:
    page = Page(html.render(report_of()))
    targets = [value[1:] for name, value in page.attributes if name == "href"]
    notes = [it for it in page.identifiers if it.startswith("note-")]
    citations = [it for it in page.identifiers if it.startswith("cite-")]
    assert len(notes) > 60 and len(citations) > len(notes)
    assert set(notes) | set(citations) <= set(targets)


def test_an_input_leads_to_the_footnote_of_its_figure() -> None:
    notes = {it.key: it for it in numbered(report_of())}
    text = notes[f"{SHOWN}/total-cost"].text
    assert Reference(f"{SHOWN}/purchase") in text


def _plain(text: Text) -> str:
    return text if isinstance(text, str) else "".join(it for it in text if isinstance(it, str))


@pytest.mark.parametrize("solution", [sample.SOLUTION, sample.missed()], ids=["chosen", "missed"])
def test_no_number_of_the_summary_lacks_a_footnote(solution: Solution) -> None:
    summary = report_of(solution).sections[0]
    assert summary.identifier == "summary"
    texts: list[Text] = []
    for block in summary.blocks:
        texts += [value for _, value in block.rows] if isinstance(block, Facts) else []
        texts += [block.text] if isinstance(block, Paragraph) else []
        texts += getattr(block, "items", [])
        if isinstance(block, Table):
            figures = {"Number", "Price", "Amount", "Design"}
            shown = [at for at, name in enumerate(block.columns) if name in figures]
            texts += [row[at] for row in block.rows for at in shown]
    assert len(texts) > 30
    for text in texts:
        parts = [text] if isinstance(text, str) else text
        for part, after in zip(parts, [*parts[1:], ""], strict=True):
            if isinstance(part, str) and re.search(r"\d", _without_names(part)):
                assert isinstance(after, Reference), (part, text)


def _without_names(text: str) -> str:
    """A text without the names of the catalogue's entries and the texts of violations."""
    for name in ("nearline 4 TB", "2U12", "10GbE", "27,000 EUR is 35 %", "2 TB"):
        text = text.replace(name, "")
    return text


FREE = {
    *("name", "text", "company", "contact", "what", "backup", "manager", "removal"),
    *("source", "problem", "existing", "reason", "message", "application", "formula"),
    *("title", "note", "limiting_resource", "scenario", "worksheet_text", "target"),
    *("rule", "description", "wanted", "got", "values", "unsure", "notes", "zone"),
    *("zones", "clients", "date", "currency"),
}
"""Fields with free text."""


def replaced(value: Any, text: str, key: str = "") -> Any:
    """A document whose free texts are all replaced."""
    if isinstance(value, dict):
        return {name: replaced(it, text, name) for name, it in value.items()}
    if isinstance(value, list):
        return [replaced(it, text, key) for it in value]
    return text if isinstance(value, str) and key in FREE else value


@pytest.mark.parametrize("text", HOSTILE, ids=range(len(HOSTILE)))
def test_foreign_text_is_never_markup(text: str) -> None:
    def hostile(document: Any) -> Any:
        return msgspec.convert(replaced(msgspec.to_builtins(document), text), type(document))

    report = content(hostile(sample.missed()), hostile(sample.WORKSHEET), hostile(sample.CATALOGUE))
    page = check_page(html.render(report))
    clean = check_page(html.render(report_of(sample.missed())))
    assert set(page.tags) == set(clean.tags)
    assert {name for name, _ in page.attributes} == {name for name, _ in clean.attributes}
    assert "\x1b" not in page.text and "\u202e" not in page.text
    if text.isprintable() and len(text) < 60:
        assert " ".join(text.split()) in page.text
    if len(text) > 1000:
        check_pdf(pdf.render(report))


def test_hostile_names_are_drawn(tmp_path: Path) -> None:
    text = "".join(HOSTILE[:7])
    worksheet = msgspec.convert(
        replaced(msgspec.to_builtins(sample.WORKSHEET), text), type(sample.WORKSHEET)
    )
    files = write(sample.SOLUTION, worksheet, sample.CATALOGUE, tmp_path)
    check_page(files.documents[0].read_text(encoding="utf-8"))
    check_pdf(files.documents[1].read_bytes())


def test_without_a_feasible_design_the_nearest_is_described() -> None:
    text = text_of(report_of(sample.missed()))
    assert "No design meets all requirements. The nearest has 4 data servers" in text
    assert "27,000 EUR is 35 % too much." in text
    assert "zone.C.quota" in text and "A field that has no line of its own." in text
    assert "These miss the least" in text


def test_without_any_design_the_report_says_so(tmp_path: Path) -> None:
    nothing = msgspec.structs.replace(sample.SOLUTION, front=(), chosen=None)
    files = write(nothing, sample.WORKSHEET, sample.CATALOGUE, tmp_path)
    text = check_page(files.documents[0].read_text(encoding="utf-8")).text
    assert "The catalogue has no design for this worksheet." in text
    assert "enumerated 1,234 designs" in text and "capacity.usable 800" in text
    check_pdf(files.documents[1].read_bytes())


def test_without_typst_the_report_has_no_pdf(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "typst", None)
    files = write(sample.SOLUTION, sample.WORKSHEET, sample.CATALOGUE, tmp_path)
    page = tmp_path / "report.html"
    assert files.documents == (page,) and not (tmp_path / "report.pdf").exists()
    assert listed(files.documents) == (
        f"report: {page}; a PDF needs Typst: pip install 'headrace[pdf]'"
    )


def test_growth_beyond_the_design_is_named() -> None:
    # 80 TB x 1.3^3 = 175.8 TB.
    years = sample.WORKSHEET.capacity.years
    need = msgspec.structs.replace(sample.WORKSHEET.capacity, growth=0.3, usable=80e12)
    small = msgspec.structs.replace(sample.WORKSHEET, capacity=need)
    text = text_of(content(sample.SOLUTION, small, sample.CATALOGUE))
    grown = f"{80 * 1.3**years:.1f} TB"
    assert f"and {grown} after {years:g} years (capacity.growth). More is bought later." in text
    still = msgspec.structs.replace(small, capacity=msgspec.structs.replace(need, growth=None))
    assert "More is bought later." not in text_of(content(sample.SOLUTION, still, sample.CATALOGUE))


def test_a_wanted_value_within_the_error_is_a_risk() -> None:
    assert sample.SOLUTION.chosen is not None
    at = sample.SOLUTION.chosen
    chosen = sample.SOLUTION.front[at]
    render, touch_up = chosen.performance

    def risks(error: float) -> str:
        # 840 MB/s are simulated.
        close = msgspec.structs.replace(
            render, throughput=840e6, throughput_error=error, wanted_throughput=800e6
        )
        changed = msgspec.structs.replace(chosen, performance=(close, touch_up))
        front = (*sample.SOLUTION.front[:at], changed, *sample.SOLUTION.front[at + 1 :])
        solution = msgspec.structs.replace(sample.SOLUTION, front=front)
        return text_of(content(solution, sample.WORKSHEET, sample.CATALOGUE))

    assert "render: within the error of the simulation, \N{PLUS-MINUS SIGN} 10 %" in risks(84e6)
    assert "within the error of the simulation" not in risks(20e6)
    assert re.search("Small margins: [^.]*render: throughput", risks(20e6))


def test_page_1_and_table_state_the_utilisation_of_accelerators() -> None:
    assert sample.SOLUTION.chosen is not None
    chosen = sample.SOLUTION.front[sample.SOLUTION.chosen]
    training = Training(
        workload=0,
        accelerators=8,
        steps=30,
        accelerator_time=AcceleratorTime(0.8, 0.15, 0.05, 0.0),
        loader_time=LoaderTime(0.6, 0.0, 0.4),
        utilisation=0.84,
    )
    trained = msgspec.structs.replace(
        chosen.performance[0], training=training, au=0.84, wanted_au=0.9
    )
    changed = msgspec.structs.replace(chosen, performance=(trained,))
    solution = msgspec.structs.replace(sample.SOLUTION, front=(changed,), chosen=0)
    report = content(solution, sample.WORKSHEET, sample.CATALOGUE)
    wait = "The accelerators wait 15.0 % of the time for a batch"
    for text in (text_of(report), " ".join(str(block) for block in view(solution, "EUR"))):
        assert wait in text
    assert re.search("accelerator utilisation .AU.*84 %.*90 %", text_of(report), re.S)
    (missed,) = performance_violations((trained,), sample.WORKSHEET)
    assert (missed.field, missed.wanted, missed.got) == (
        "application.0.au",
        "at least 90.0 %",
        "84.0 %",
    )


def test_an_empty_solution_and_worksheet_give_a_report() -> None:
    empty = Solution(
        worksheet_text="",
        catalogue_text="",
        choices=(),
        front=(),
        chosen=None,
        enumerated=0,
        discarded={},
    )
    bare = Worksheet(name="bare", capacity=sample.WORKSHEET.capacity)
    report = content(empty, bare, sample.CATALOGUE)
    text = text_of(report)
    assert "The worksheet defines no zone." in text and "None" not in text.split()
    check_pdf(pdf.render(report))


def test_a_missing_price_is_named() -> None:
    cheap = msgspec.structs.replace(sample.NODE, price=None)
    made = sample.evaluation()
    design = msgspec.structs.replace(made.design, node=cheap)
    costs = cost(design, sample.CATALOGUE, sample.WORKSHEET)
    front = (msgspec.structs.replace(made, design=design, cost=costs),)
    text = text_of(report_of(msgspec.structs.replace(sample.SOLUTION, front=front, chosen=0)))
    assert "The catalogue has no price for: node 2U12." in text
    assert f"Purchase {DASH}" in text
    assert f"budget.initial 50,000 EUR {DASH} not evaluated" in text
    assert "parts that have a price" in text


def test_infinite_and_unknown_figures_are_shown_as_words() -> None:
    made = sample.evaluation()
    odd = (
        sample.figure("mttdl", float("inf"), "s"),
        sample.figure("loss-probability", float("nan"), "1"),
    )
    front = (msgspec.structs.replace(made, reliability=odd),)
    solution = msgspec.structs.replace(sample.SOLUTION, front=front, chosen=0)
    text = text_of(report_of(solution))
    assert "mttdl infinite" in text and "Probability of a data loss in 5 years unknown" in text
    assert [it.name for it in charts.draw(of(solution))] == ["front", "racks", "cost"]


def test_requirements_are_met_missed_or_not_stated() -> None:
    found = {it.field: it for it in requirements(of())}
    assert found["capacity.usable"].status == "met"
    assert found["capacity.usable"].wanted == "96 TB"
    assert found["capacity.usable"].margin == pytest.approx(136.8 / 96 - 1, abs=1e-3)
    assert found["facility.cooling"].status == "not stated"
    assert found["budget.initial"].margin == pytest.approx(1 - 29_160 / 50_000)
    assert found["application.render.throughput"].margin == pytest.approx(1680 / 800 - 1)
    assert found["application.touch up.latency"].margin == pytest.approx(1 - 14 / 20)


def test_violations_are_found_whatever_the_field_is_called() -> None:
    for field in ("application.0.throughput", "applications.render.throughput"):
        miss = Violation(field, "800 MB/s", "1.68 GB/s", "Too slow.")
        made = msgspec.structs.replace(sample.evaluation(), violations=(miss,))
        solution = msgspec.structs.replace(sample.SOLUTION, front=(made,), chosen=None)
        found = [it for it in requirements(of(solution)) if it.status == "missed"]
        assert [it.field for it in found] == ["application.render.throughput"]


@given(st.lists(st.sampled_from(["facility.power", "budget.initial", "x.y", "x"]), max_size=5))
def test_no_violation_is_dropped(fields: list[str]) -> None:
    misses = tuple(Violation(it, "1", "2", f"miss {at}") for at, it in enumerate(fields))
    made = msgspec.structs.replace(sample.evaluation(), violations=misses)
    solution = msgspec.structs.replace(sample.SOLUTION, front=(made,), chosen=None)
    found = [it.message for it in requirements(of(solution)) if it.status == "missed"]
    assert sorted(found) == sorted(it.message for it in misses)


def test_margins_have_a_sign() -> None:
    assert [percent_text(it, sign=True) for it in (0.424, -0.05, 0)] == ["+42 %", "-5 %", "+0 %"]


def test_the_bill_adds_up_to_the_purchase() -> None:
    made = sample.evaluation()
    figures = {it.key: it for it in figures_of(made)}
    lines = bill(made.design, sample.CATALOGUE, {})
    assert sum(it.amount.value for it in lines if it.amount) == figures["purchase"].value
    for it in lines:
        assert it.price is not None and it.amount is not None
        assert it.amount.value == it.count.value * it.price.value
    known = bill(made.design, sample.CATALOGUE, figures)
    assert [it.amount for it in known] == [figures[f"purchase-{it.part.kind}"] for it in known]


heights = st.floats(0.5, 12.0, allow_nan=False)


@given(st.lists(st.lists(heights, min_size=1, max_size=3), max_size=40), st.integers(1, 4))
def test_racks_hold_what_fits(groups: list[list[float]], count: int) -> None:
    height = 20
    boxes = [[charts._Box("x", units, "#000000") for units in group] for group in groups]
    found = charts._fill(boxes, height, count)
    assert all(sum(it.units for it in rack) <= height + 1e-9 for rack in found)
    placed = sum(len(rack) for rack in found)
    assert placed == sum(len(group) for group in groups if sum(group) <= height)


def test_alternatives_have_distinct_names() -> None:
    names = [label(number) for number in range(60)]
    assert names[0] == "A" and names[25] == "Z" and names[26] == "A2"
    assert len(set(names)) == 60


def test_a_reason_of_several_zones_has_one_row() -> None:
    def choice(zone: str, text: str, value: str = "fast", weight: float = 2.0) -> Choice:
        reason = Reason("rule", text, "2.4", value=value, weight=weight)
        return Choice(zone, "network", ("fast",), (reason,))

    choices = [choice("", "zone A: it is busy."), choice("A", "it is busy."), choice("", "always.")]
    choices += [choice("B", "it is busy.", "low-latency"), Choice("", "copies", ("2",), ())]
    choices += [choice("", "too slow.", "gigabit", -3.0)]
    grounds = [reasons.Ground(it, why.value, why) for it in choices for why in it.reasons]
    assert reasons.rows(grounds, mark_against=True) == [
        ["Network", "fast, low-latency", "A, B", "it is busy. (2.4)"],
        ["", "fast", "whole system", "always. (2.4)"],
        ["", "not gigabit", "whole system", "too slow. (2.4)"],
    ]


def _unnumbered(value: Any) -> Any:
    """A block without references to footnotes."""
    if isinstance(value, dict):
        return {name: _unnumbered(part) for name, part in value.items()}
    if isinstance(value, list):
        return [
            _unnumbered(part)
            for part in value
            if not (isinstance(part, dict) and part.get("type") == "reference")
        ]
    return value


def _pages(report: Report) -> int:
    return len(re.findall(rb"/Type\s*/Page\b", pdf.render(report)))


@pytest.mark.parametrize("name", WORKSHEETS)
def test_the_decision_has_one_page_of_its_own(name: str) -> None:
    worksheet = load_worksheet(SCENARIOS / f"{name}.toml").worksheet
    report = content(sample.SOLUTION, worksheet, sample.CATALOGUE)
    decision, after, *_ = report.sections
    assert (decision.identifier, after.identifier) == ("summary", "design")
    alone = msgspec.convert(_unnumbered(msgspec.to_builtins(decision)), Section)
    short = Section("s", "S", [Paragraph("text")])
    assert _pages(Report(report.title, report.subtitle, [alone])) == 1
    assert _pages(Report(report.title, report.subtitle, [alone, short])) == 2


def test_one_of_a_kind_is_singular() -> None:
    shelf = ShelfModel("4U60", 60, 4.0, 6500.0, 180.0)
    one = sample.evaluation(1)
    design = msgspec.structs.replace(one.design, shelf=shelf, shelves_per_node=1)
    single = msgspec.structs.replace(one, design=design)
    solution = msgspec.structs.replace(sample.SOLUTION, front=(single,), chosen=0, enumerated=1)
    text = text_of(report_of(solution))
    assert "Buy 1 data server (2U12)" in text and "1 shelf (4U60)" in text
    shown = str(view(solution))
    assert "1 data server 2U12 and 1 x 4U60 with 12 x nearline 4 TB each" in shown
    assert "1 x raid6 of 11 disks" in shown and "1 copy over servers" in shown
    assert "1 design enumerated" in shown and "stripes of 1 MiB" in shown


def test_small_probabilities_are_odds() -> None:
    odds = [chance(value) for value in (0.0, 5.43e-6, 1.8538e-3, 7e-19, float("nan"))]
    assert odds == ["0", "1 in 184,000", "0.185 %", "below 1 in 1,000,000,000", "unknown"]


@pytest.mark.parametrize(("clients", "paths"), [(10, 1), (10, 2), (80, 1), (300, 2)])
def test_the_network_has_the_cables_of_the_bill(clients: int, paths: int) -> None:
    groups = (ClientGroup("render", clients), ClientGroup("old", 5, has_network=True))
    worksheet = msgspec.structs.replace(sample.WORKSHEET, clients=groups)
    design = msgspec.structs.replace(sample.design(), paths=paths, client_ports=clients)
    svg = network_svg(design, worksheet)
    links = sum(int(count) for count in re.findall(r">(\d+) x 10 Gbit/s<", svg))
    between = re.search(r">(\d+) cables between them<", svg)
    bought = {part.kind: part.count for part in parts(design)}
    assert links + int(between[1] if between else 0) == bought["cable"]
    switches = re.findall(r">(\d+) (?:leaf |spine )?switch(?:es)?<", svg)
    assert sum(int(count) for count in switches) == bought["switch"]


def test_racks_are_filled_from_the_bottom() -> None:
    (chart,) = charts.racks(of())
    texts = {text.get_text(): text.get_position()[1] for text in chart.figure.axes[0].texts}
    assert 0 < texts["1"] < texts["2"] and texts["data server, 2 U"] > 0
    assert texts["data server, 2 U"] < texts["gateway, 2 U"] < texts["switch, 1 U"]


def test_footnotes_have_the_order_of_their_references() -> None:
    notes = [Footnote("a", "A", ["see ", Reference("c")]), Footnote("b", "B", "text")]
    notes += [Footnote("c", "C", "only in a note"), Footnote("d", "D", "of no use")]
    rows: list[list[Text]] = [["x", ["5", Reference("b")]], ["y", ["6", Reference("a")]]]
    section = Section("s", "S", [Table("", ["", ""], "lr", rows)])
    report = Report("R", "", [section], notes)
    assert [it.key for it in numbered(report)] == ["b", "a", "c"]
    check_page(html.render(report))
    check_pdf(pdf.render(report))
    with pytest.raises(ValueError, match="there is no footnote b"):
        numbered(Report("R", "", [section], notes[:1]))
    with pytest.raises(ValueError, match="two footnotes have the key a"):
        numbered(Report("R", "", [section], [notes[0], *notes]))


def test_wide_drawings_and_long_texts_have_room() -> None:
    svg = '<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 1800 300" role="img"></svg>'
    lines = "\n".join(f"field_{number} = {number}" for number in range(300))
    pictures = {"data-flow": Picture("data-flow", "Flow", "", svg, wide=True)}
    solution = msgspec.structs.replace(sample.SOLUTION, worksheet_text=lines)
    report = content(solution, sample.WORKSHEET, sample.CATALOGUE, pictures)
    page = html.render(report)
    assert check_page(page).tags.count("svg") == 1 and '<div class="wide"><svg' in page
    check_pdf(pdf.render(report))
    blocks = [block for it in report.sections for block in it.blocks]
    assert [it.columns for it in blocks if isinstance(it, Code)] == [1, 2]


@pytest.mark.parametrize("name", WORKSHEETS)
def test_worked_worksheets_give_a_report(name: str) -> None:
    loaded = load_worksheet(SCENARIOS / f"{name}.toml")
    worksheet, catalogue = loaded.worksheet, load_catalogue(None).catalogue
    unknown = unknown_answers(worksheet)
    assert unknown, "an answer is left out on purpose"
    solution = msgspec.structs.replace(
        sample.SOLUTION,
        choices=recommend(worksheet, catalogue),
        unsure=unknown,
        worksheet_text=loaded.text,
    )
    text = text_of(content(solution, worksheet, catalogue))
    assert all(it.name in text for it in worksheet.zones)
    assert "Recommended configuration of each zone" in text


def test_the_lab_needs_80_tb_of_disks() -> None:
    # Hindman 2011, section 2.3: two copies on RAID-10.
    design = msgspec.structs.replace(
        sample.design(nodes=2, copies=2),
        disks_per_node=10,
        spares_per_node=0,
        array=msgspec.structs.replace(
            sample.design().array, kind="raid10", disks=10, data=5, parity=5
        ),
    )
    found = {it.key: it.value for it in capacity(design)}
    assert found["raw-capacity"] == 80e12
    lab = load_worksheet(SCENARIOS / "lab.toml").worksheet
    assert lab.capacity.usable == 20e12
    assert max(it.copies or 1 for it in lab.zones) == 2


@pytest.fixture(scope="module")
def saved(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A directory with a saved solution."""
    directory = tmp_path_factory.mktemp("saved")
    solution = msgspec.structs.replace(
        sample.SOLUTION,
        worksheet_text=load_worksheet(SCENARIOS / "video.toml").text,
        catalogue_text=load_catalogue(None).text,
    )
    (directory / "solution.json").write_bytes(msgspec.json.encode(solution))
    return directory


def test_the_command_writes_the_report_of_a_saved_solution(saved: Path, tmp_path: Path) -> None:
    done = command("design", "report", saved, "-o", tmp_path / "new")
    assert done.returncode == 0, done.stderr
    assert done.stdout == ""
    assert f"report: {tmp_path / 'new' / 'report.html'}" in done.stderr
    page = check_page((tmp_path / "new" / "report.html").read_text(encoding="utf-8"))
    assert "video workshop" in page.text
    check_pdf((tmp_path / "new" / "report.pdf").read_bytes())


def test_a_solution_of_another_version_is_said_to_be_one(saved: Path, tmp_path: Path) -> None:
    document = json.loads((saved / "solution.json").read_bytes())
    (tmp_path / "solution.json").write_text(json.dumps(document | {"version": "0.0.1"}))
    done = command("design", "report", tmp_path)
    assert done.returncode == 0, done.stderr
    assert "solution.json: made by Headrace 0.0.1; this is" in done.stderr


def test_a_wrong_file_is_refused_in_one_line(saved: Path, tmp_path: Path) -> None:
    document = json.loads((saved / "solution.json").read_bytes())
    cases = {
        "text.json": ("hello", "expected a solution of `headrace design solve`"),
        "other.json": ('{"results": 3}', "expected an object with"),
        "chosen.json": (json.dumps(document | {"chosen": 99}), "chosen = 99: expected"),
        "sheet.json": (json.dumps(document | {"worksheet_text": "a = 1"}), "worksheet_text"),
    }
    for name, (text, expected) in cases.items():
        (tmp_path / name).write_text(text)
        done = command("design", "report", tmp_path / name)
        assert done.returncode == 2, name
        assert expected in done.stderr and done.stderr.count("\n") == 1, done.stderr
        assert str(tmp_path / name) in done.stderr
    missing = command("design", "report", tmp_path / "none")
    assert missing.returncode == 2 and "no such file" in missing.stderr
    assert not (tmp_path / "report.html").exists()
