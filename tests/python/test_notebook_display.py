"""Results show themselves in notebooks: HTML, figures and progress bars."""

import sys
from html.parser import HTMLParser
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

import headrace as hr
from conftest import ROOT
from headrace import measure, progress_bar
from headrace.progress_bar import NotebookBar, bar_html
from headrace.render.blocks import Note, Table
from headrace.render.html import as_html
from headrace.simulate.scenario_html import explained_fields
from headrace.sweeps import whatif

VOID = {"br", "img"}


class Checked(HTMLParser):
    """HTML whose elements are all closed, in order."""

    def __init__(self, html: str) -> None:
        super().__init__()
        self.open: list[str] = []
        self.seen: set[str] = set()
        self.text = ""
        self.feed(html)
        self.close()
        assert self.open == []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.seen.add(tag)
        if tag not in VOID:
            self.open.append(tag)

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag

    def handle_data(self, data: str) -> None:
        self.text += data


@pytest.fixture(scope="module")
def scenario() -> hr.Scenario:
    return hr.load(
        ROOT / "scenarios" / "striped-read.toml", {"clients.count": 4, "workload.files": 10}
    )


@pytest.fixture(scope="module")
def result(scenario: hr.Scenario) -> hr.Result:
    return hr.run(scenario)


def shown(value: Any) -> Checked:
    checked = Checked(value._repr_html_())
    assert "script" not in checked.seen
    return checked


def test_a_result_has_its_table_and_the_bottleneck(result: hr.Result) -> None:
    checked = shown(result)
    assert result.bottleneck in checked.text
    assert "Throughput and latency" in checked.text
    assert {"table", "details"} <= checked.seen


def test_a_scenario_has_what_it_sets_and_the_rest_on_a_click(scenario: hr.Scenario) -> None:
    checked = shown(scenario)
    table, _, rest = checked.text.partition("all fields, with defaults")
    assert "clients.count4Number of clients" in table
    assert "clients.processes" not in table
    assert "processes = 1" in rest


def test_explained_fields_have_paths_values_and_origins(scenario: hr.Scenario) -> None:
    fields = {it.path: it for it in explained_fields(scenario.explain())}
    assert fields["servers.device.read_rate"].value == '"60 MB/s"'
    assert fields["clients.processes"].origin.startswith("default:")


def test_a_study_and_a_sweep_show_tables(scenario: hr.Scenario) -> None:
    gains = whatif(scenario, only=["servers.device.read_rate"], progress=False)
    assert "servers.device.read_rate" in shown(gains).text
    assert gains.plot().axes
    swept = hr.sweep(scenario, {"clients.count": [1, 2]}, progress=False)
    assert "2 points, 2 runs" in shown(swept).text


def test_a_measurement_shows_its_table(tmp_path: Path) -> None:
    text = '[clients]\ncount = 1\n[[workload]]\nkind = "ior"\nblock = "1 MiB"\n'
    measured = measure.measure(measure.load(text), tmp_path)
    assert "Throughput and service time" in shown(measured).text
    for figure in ("throughput", "latency", "counters"):
        assert measured.plot(figure).axes
    with pytest.raises(ValueError, match="expected operations, throughput, latency, counters"):
        measured.plot("speed")


def test_a_result_plots_one_figure_or_all(result: hr.Result) -> None:
    # The heat map of servers has a scale of its own.
    assert len(result.plot().get_axes()) == 2 + 4 + 2
    assert len(result.plot("latency").get_axes()) == 1
    with pytest.raises(ValueError, match="expected operations, throughput, latency, utilisation"):
        result.plot("speed")


def test_a_figure_is_a_picture_in_a_notebook(result: hr.Result) -> None:
    figure: Any = result.plot("throughput")
    assert figure._repr_png_().startswith(b"\x89PNG")


def test_names_are_no_markup() -> None:
    table = Table.of_rows(
        "a <title>", ("<b>", "figure"), [("<script>alert(1)</script>", "1 & 2"), ("<y>", "3")]
    )
    html = as_html([Note(": <description>", "<name>"), table, table])
    assert "script" not in Checked(html).seen
    assert "<strong>&lt;name&gt;</strong>: &lt;description&gt;" in html


def test_later_tables_open_on_a_click() -> None:
    html = as_html([Table.of_rows(title, ("a",), []) for title in ("one", "two")])
    assert "<caption>one</caption>" in html
    assert "<summary>two</summary>" in html


class Display:
    """What a notebook would show."""

    def __init__(self) -> None:
        self.drawn: list[str] = []

    def display(self, element: Any, display_id: bool) -> "Display":
        assert display_id
        self.update(element)
        return self

    def update(self, element: Any) -> None:
        self.drawn.append(element)


@pytest.fixture
def notebook(monkeypatch: pytest.MonkeyPatch) -> Display:
    screen = Display()
    shell = SimpleNamespace(kernel=None)
    parts = SimpleNamespace(HTML=lambda text: text, display=screen.display)
    whole = SimpleNamespace(get_ipython=lambda: shell, display=parts)
    monkeypatch.setitem(sys.modules, "IPython", whole)
    monkeypatch.setitem(sys.modules, "IPython.display", parts)
    monkeypatch.setattr(progress_bar, "PATIENCE_S", 0.0)
    monkeypatch.setattr(progress_bar, "BETWEEN_S", 0.0)
    return screen


def test_a_notebook_shows_bars_by_default(notebook: Display, scenario: hr.Scenario) -> None:
    hr.sweep(scenario, {"clients.count": [1, 2]})
    assert any("2 of 2 runs" in it for it in notebook.drawn)
    # The bar goes away.
    assert notebook.drawn[-1] == ""
    drawn = len(notebook.drawn)
    hr.sweep(scenario, {"clients.count": [1, 2]}, progress=False)
    assert len(notebook.drawn) == drawn
    whatif(scenario, only=["servers.device.read_rate"])
    assert len(notebook.drawn) > drawn


def test_a_run_shows_a_bar_in_a_notebook_only(
    notebook: Display, scenario: hr.Scenario, monkeypatch: pytest.MonkeyPatch
) -> None:
    long = scenario.with_({"workload.files": 20_000})
    hr.run(long)
    assert any("requests" in it for it in notebook.drawn)
    drawn = len(notebook.drawn)
    hr.run(long, progress=False)
    monkeypatch.delitem(sys.modules, "IPython")
    hr.run(long)
    assert len(notebook.drawn) == drawn


def test_a_measurement_shows_a_bar_in_a_notebook(notebook: Display, tmp_path: Path) -> None:
    text = '[clients]\ncount = 1\n[[workload]]\nkind = "ior"\nblock = "64 MiB"\n'
    measure.measure(measure.load(text), tmp_path)
    assert any("operations" in it for it in notebook.drawn)
    assert notebook.drawn[-1] == ""


def test_a_bar_that_was_never_shown_leaves_nothing(notebook: Display) -> None:
    NotebookBar("short").close()
    assert notebook.drawn == []


@pytest.mark.parametrize(
    ("done", "total", "expected"),
    [
        (0, None, "<b>".replace("<b>", "&lt;b&gt;") + " <progress></progress> text"),
        (0, 10, '&lt;b&gt; <progress value="0.000"></progress> text'),
        (5, 10, '&lt;b&gt; <progress value="0.500"></progress> text, about 4 s left'),
        (20, 10, '&lt;b&gt; <progress value="1.000"></progress> text, about 0 s left'),
    ],
)
def test_a_bar_says_what_is_left(done: float, total: float | None, expected: str) -> None:
    assert bar_html("<b>", done, total, "text", 4.0) == expected
