"""Views of results: every kind, every renderer, and a kind that is added."""

import io
import json
import pkgutil
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import msgspec
import pytest
from rich.console import Console

from conftest import ROOT
from headrace import kinds
from headrace.render import csv, pictures, units
from headrace.render.blocks import Axis, Chart, Column, Line, Note, Records, Table, View, bars
from headrace.render.terminal import rendered

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
    for name in (kind.record, kind.view, kind.read, kind.tables, kind.page, kind.row):
        assert not name or callable(pkgutil.resolve_name(name))
    # A stored kind is shown on a terminal, and any in a page.
    assert kind.view or kind.page
    assert kind.view or kind.tables or not kind.is_stored


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
    added = kinds.Kind("rainfall", f"{__name__}:Rainfall", f"{__name__}:rainfall", is_stored=False)
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
