"""Views of results: every kind, every renderer, and a kind that is added."""

import io
import json
import pkgutil
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import msgspec
import numpy as np
import pytest
from matplotlib.axes import Axes
from matplotlib.collections import LineCollection
from rich.console import Console

from conftest import ROOT
from headrace import kinds
from headrace.render import csv, pictures, units
from headrace.render.blocks import (
    Axis,
    Chart,
    Column,
    Headline,
    Line,
    Note,
    Records,
    Span,
    Table,
    View,
    bars,
)
from headrace.render.echarts import Plot, Series
from headrace.render.terminal import rendered
from headrace.web.result_views import single_bar
from headrace.web.result_views.generic import field_text

DOCUMENTS = {
    path.stem: json.loads(path.read_text())
    for path in sorted((ROOT / "tests" / "data" / "documents").glob("*.json"))
}
VIEWED = {name: it for name, it in DOCUMENTS.items() if kinds.KINDS[kinds.kind_of(it)].view}


def printed(view: View, width: int = 100) -> str:
    text = io.StringIO()
    Console(file=text, width=width).print(rendered(view))
    return text.getvalue()


def blocks_of(document: Mapping[str, Any]) -> View:
    return kinds.blocks(kinds.kind_of(document), document)


@pytest.mark.parametrize("kind", kinds.KINDS.values(), ids=lambda kind: kind.name)
def test_all_that_a_kind_names_exists(kind: kinds.Kind) -> None:
    for name in (kind.record, kind.view, kind.read, kind.page, kind.row):
        assert not name or callable(pkgutil.resolve_name(name))
    # A stored kind is shown on a terminal. A page shows any, without a view by its fields.
    assert kind.view or kind.name not in kinds.STORED


@pytest.mark.parametrize("document", VIEWED.values(), ids=VIEWED)
def test_columns_and_lines_are_complete(document: Mapping[str, Any]) -> None:
    for block in blocks_of(document):
        match block:
            case Table():
                assert len({len(column.values) for column in block.columns}) == 1
            case Chart():
                for line in block.lines:
                    lengths = {len(it) for it in (line.x, line.y, line.low, line.high) if len(it)}
                    assert len(lengths) == 1


@pytest.mark.parametrize("document", VIEWED.values(), ids=VIEWED)
def test_a_document_of_an_earlier_version_lacks_fields(document: Mapping[str, Any]) -> None:
    """A view shows it, or raises what every caller catches."""
    for missing in document:
        less = {key: value for key, value in document.items() if key != missing}
        try:
            printed(kinds.blocks(kinds.kind_of(document), less))
        except kinds.UNSHOWN:
            continue


class Rainfall(msgspec.Struct):
    """Record of a kind that is not Headrace's."""

    stations: dict[str, float]
    """Metres by station."""


def rainfall(result: Rainfall) -> View:
    depth = units.Unit("mm", 1e3, lambda metres: f"{1e3 * metres:.1f}")
    names, values = list(result.stations), list(result.stations.values())
    return [
        Note(": rain of a day", "rainfall"),
        *bars("rain", "Rain", "station", Axis("", depth), {"mm": result.stations}),
        Table("Rain", [Column("station", names), Column("mm", values, depth, half_widths=[0.001])]),
        Records([{"station": name, "rain_m": value} for name, value in result.stations.items()]),
    ]


def test_a_kind_is_one_file_and_one_line(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    added = kinds.Kind("rainfall", f"{__name__}:Rainfall", f"{__name__}:rainfall")
    monkeypatch.setitem(kinds.KINDS, "rainfall", added)
    document = {"kind": "rainfall", "stations": {"Oslo": 0.0123}}
    view = blocks_of(document)
    assert "12.3 ± 1.0" in printed(view)
    assert "<td" in kinds.html("rainfall", document)
    assert csv.text(view) == "station,rain_m\nOslo,0.0123\n"
    assert {path.name for path in pictures.save(tmp_path, view)} == {"rain.png", "rain.svg"}
    (axes,) = kinds.picture("rainfall", document, "rain").axes
    assert axes.patches[0].get_width() == pytest.approx(12.3)  # type: ignore[attr-defined]
    with pytest.raises(ValueError, match="expected rain"):
        kinds.picture("rainfall", document, "snow")


def test_means_have_their_intervals() -> None:
    assert Line.of_means("a", [1, 2], [3.0, None], [None, None]) == Line("a", [1, 2], [3.0, None])
    line = Line.of_means("a", [1, 2, 3], [3.0, None, 5.0], [1.0, 1.0, None])
    assert (line.low, line.high) == ([2.0, None, 5.0], [4.0, None, 5.0])


def test_narrow_terminals_omit_columns_in_the_order_of_the_view() -> None:
    wide = [Column(f"column {rank}", ["x" * 20], spare=rank) for rank in range(4)]
    assert "a wider terminal also shows column 3  " in printed([Table("t", wide)], 80)
    table = Table.of_rows("t", ["a", "b", "c"], [["x" * 20] * 3], spare=("c", "b"))
    assert [column.spare for column in table.columns] == [0, 1, 2]
    assert not Table.of_rows("t", ["a", "b"], []).columns[0].values


def axes_of(chart: Chart) -> Axes:
    (axes,) = pictures.drawn([chart])[chart.picture].axes
    return axes


def test_marks_have_ranges_in_both_directions_and_are_all_drawn() -> None:
    x = [float(it) for it in range(1, 101)]
    marks = Line("a", x, x, x, x, shape="mark", x_low=[it - 0.5 for it in x], x_high=x)
    band = Line("±10 %", x, x, [0.9 * it for it in x], [1.1 * it for it in x], is_reference=True)
    axes = axes_of(Chart("p", "t", Axis(), Axis(), [marks, band]))
    line = next(it for it in axes.lines if it.get_label() == "a")
    assert line.get_marker() == "o" and np.size(line.get_xdata()) == 100
    across = next(it for it in axes.collections if isinstance(it, LineCollection))
    assert across.get_segments()[0].tolist() == [[0.5, 1.0], [1.0, 1.0]]
    assert {"a", "±10 %"} <= set(axes.get_legend_handles_labels()[1])


def test_stacked_bars_begin_where_those_before_them_end() -> None:
    lines = [
        Line("a", ["x", "y"], [1.0, None], shape="bar"),
        Line("b", ["x", "y"], [2.0, 3.0], shape="bar"),
    ]
    names, parts = Axis(scale="names"), Axis(most=2.0)
    axes = axes_of(Chart("p", "t", names, parts, lines, is_stacked=True))
    assert [it.get_x() for it in axes.patches[2:]] == [1.0, 0.0]  # type: ignore[attr-defined]
    assert axes.get_xlim()[1] == pytest.approx(2.0, rel=0.05)


def test_spans_of_a_name_have_one_entry_in_the_legend() -> None:
    spans = [Span("commit", 0, 1), Span("commit", 2, 3), Span("write-back", 1, 2)]
    axes = axes_of(Chart("p", "t", Axis(), Axis(), [Line("a", [0, 3], [1.0, 1.0])], spans=spans))
    assert len(axes.patches) == 3
    assert axes.get_legend_handles_labels()[1] == ["a", "commit", "write-back"]


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("jobs", {"sequential read, depth 1": "1,522 MB/s", "random read, depth 1": "7,658 IOPS"}),
        ("load-sweep", {"highest sustained load": "200.0 operations/s", "its p99": "0.619 ms"}),
        ("measured", {"read throughput": "121.0 MB/s", "read p99 latency": "0.707 ms"}),
        ("study", {"highest read, block 32 KiB": "1,282 MB/s"}),
        ("sweep", {"highest throughput": "240.0 MB/s", "at": "servers.count=4"}),
    ],
)
def test_the_figures_that_a_reader_reports(name: str, expected: dict[str, str]) -> None:
    (headline,) = [one for one in blocks_of(DOCUMENTS[name]) if isinstance(one, Headline)]
    assert headline.figures.items() >= expected.items()
    assert 2 <= len(headline.figures) <= 4


def test_the_best_change_and_its_gain() -> None:
    change = {
        "path": "servers.count",
        "kind": "quantity",
        "group": "hardware",
        "before": "4",
        "after": "8",
        "effect": "helps",
        "throughput_gain": 1.96,
        "sets": [],
    }
    document = {
        "kind": "whatif",
        "scenario": {"name": "x"},
        "factor": 2.0,
        "replications": 1,
        "runs": 2,
        "wall_seconds": 1.0,
        "baseline": {"bottleneck": {"sentence": "Disks."}},
        "changes": [change],
        "nothing": [],
        "left_out": [],
    }
    (headline,) = [one for one in blocks_of(document) if isinstance(one, Headline)]
    assert next(iter(headline.figures.values())) == "servers.count 4 → 8"
    assert headline.figures["throughput gain"].endswith(" 1.96")


def test_the_best_point_of_an_optimum() -> None:
    best = {"set": {"servers.count": 8}, "throughput": 2e8, "trial": 1}
    document = {
        "kind": "optimum",
        "scenario": {"name": "x"},
        "objectives": [{"figure": "throughput", "direction": "maximise"}],
        "points": [best],
        "best": best,
        "importance": {},
        "failed": [],
    }
    (headline,) = [one for one in blocks_of(document) if isinstance(one, Headline)]
    assert headline.figures == {"best point": "servers.count=8", "throughput": "200.0 MB/s"}


def test_a_single_line_is_named_unless_the_title_does() -> None:
    plot = Plot("Latency over time", "time (s)", "latency (ms)")
    assert plot.options([Series("read", [1], [2.0])])["legend"]["data"] == ["read"]
    assert plot.options([Series("latency", [1], [2.0])])["legend"] == {"show": False}


def test_a_single_bar_is_a_figure() -> None:
    axis = Axis("", units.THROUGHPUT)
    (chart,) = bars("x", "Throughput", "operation", axis, {"MB/s": {"read": 5e8}})
    assert single_bar(chart) == ("Throughput, read", "500.0 MB/s")
    (chart,) = bars("x", "Throughput", "operation", axis, {"MB/s": {"read": 5e8, "write": 1.0}})
    assert single_bar(chart) is None


def test_values_have_the_units_of_people() -> None:
    assert field_text("throughput.read", 5e8) == "500 MB/s"
    assert field_text("counters.device_read_bytes_per_s", 5e8) == "500 MB/s"
    assert field_text("operations.read.bytes", 67_108_864) == "67.11 MB"
    assert field_text("operations.read.count", 1000) == "1,000"
    assert field_text("partial", True) == "True"
    document = json.loads(json.dumps(DOCUMENTS["sweep"]))
    for run in document["points"]:
        run["set"] = {"servers.device.read_rate": ("500 MB/s", "1 GB/s")[run["point"]]}
    charts = [block for block in blocks_of(document) if isinstance(block, Chart)]
    x = charts[0].x
    assert x.label == "servers.device.read_rate (MB/s)"
    assert [x.unit.scale * place for place in charts[0].lines[0].x] == pytest.approx([500, 1000])


@pytest.mark.parametrize(("x", "interval"), [([0, 1, 2.0], 1), ([0, 0.5], None)])
def test_an_axis_of_whole_numbers_has_whole_ticks(x: list[float], interval: int | None) -> None:
    options = Plot("trials", "trial", "MB/s").options([Series("a", x, x)])
    assert options["xAxis"].get("minInterval") == interval
