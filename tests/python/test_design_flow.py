"""Data-flow diagrams, and the commands that recommend and draw."""

import json
import re
from itertools import combinations
from pathlib import Path
from xml.etree import ElementTree

import msgspec
import pytest
from hypothesis import HealthCheck, given, settings

from command import command
from design_worksheets import HPC_CENTRE, VIDEO_SHOP
from headrace.design.worksheet import Flow, Worksheet
from headrace.report.data_flow import data_flow_svg
from test_design_recommend import WORKSHEETS

SVG = "{http://www.w3.org/2000/svg}"
SHEET = """
name = "shop"
outside = ["camera", "removed"]

[capacity]
usable = "20 TB"

[[client]]
name = "editors"
count = 4
system = "windows"

[[zone]]
name = "A"
throughput = "medium"

[[zone]]
name = "B"
throughput = "high"
share = "30 %"

[[data]]
name = "pictures"
class = "medium-multimedia"
zone = "A"

[[data]]
name = "films"
class = "large-multimedia"
zone = "B"

[[flow]]
from = "camera"
to = "A"
what = "pictures, USB"
rate = "40 MB/s"

[[flow]]
from = "B"
to = "removed"
removes = true
"""


def drawn(worksheet: Worksheet) -> ElementTree.Element:
    """The picture of a worksheet."""
    return ElementTree.fromstring(data_flow_svg(worksheet))


def kinds(picture: ElementTree.Element) -> dict[str, set[str]]:
    """The names that are drawn, by kind."""
    found: dict[str, set[str]] = {}
    for it in picture.iter(f"{SVG}g"):
        if "data-name" in it.attrib:
            found.setdefault(it.attrib["data-kind"], set()).add(it.attrib["data-name"])
    return found


def test_the_video_shop_has_its_zones_clients_and_outside() -> None:
    assert kinds(drawn(VIDEO_SHOP)) == {
        "zone": {"A", "B", "C"},
        "clients": {"cameras", "editors", "renderers"},
        "outside": {"Blu-ray", "removed"},
    }


def test_every_flow_is_drawn_with_its_text() -> None:
    picture = drawn(VIDEO_SHOP)
    titles = [
        it.findtext(f"{SVG}title")
        for it in picture.iter(f"{SVG}g")
        if it.get("data-line") in ("flow", "removal")
    ]
    assert titles == [f"{it.source} \N{RIGHTWARDS ARROW} {it.target}" for it in VIDEO_SHOP.flows]
    texts = {it.text for it in picture.iter(f"{SVG}text")}
    assert {"digital pictures, USB", "40 MB/s", "zone A", "high throughput"} <= texts


def test_only_a_removal_is_dashed() -> None:
    for it in drawn(VIDEO_SHOP).iter(f"{SVG}g"):
        if line := it.get("data-line"):
            dashes = {path.get("stroke-dasharray") for path in it.iter(f"{SVG}path")}
            assert dashes == ({"5 3"} if line == "removal" else {None})


def test_arrows_point_at_the_target() -> None:
    picture = drawn(msgspec.structs.replace(VIDEO_SHOP, flows=(Flow("A", "B"), Flow("B", "A"))))
    boxes = {}
    for it in picture.iter(f"{SVG}g"):
        if it.get("data-kind") == "zone" and "data-name" in it.attrib:
            path = it.find(f"{SVG}path")
            assert path is not None
            numbers = [float(n) for n in re.findall(r"-?\d+\.?\d*", path.attrib["d"])]
            boxes[it.attrib["data-name"]] = (numbers[0], numbers[7])
    tips = []
    for it in picture.iter(f"{SVG}g"):
        if it.get("data-line") == "flow":
            (head,) = it.iter(f"{SVG}polygon")
            tips.append(float(head.attrib["points"].split(",")[0]))
    assert tips[0] in boxes["B"]
    assert tips[1] in boxes["A"]


def test_without_flows_applications_are_drawn() -> None:
    lines = [it.get("data-line") for it in drawn(HPC_CENTRE).iter(f"{SVG}g")]
    assert lines.count("access") == 2


def test_the_picture_follows_a_dark_screen() -> None:
    picture = data_flow_svg(VIDEO_SHOP)
    style = ElementTree.fromstring(picture).findtext(f"{SVG}style")
    assert style is not None and style.startswith("@media (prefers-color-scheme: dark)")
    used = set(re.findall(r'(?:fill|stroke)="(#[0-9a-f]{6})"', picture.split("</style>")[1]))
    assert all(f'"{colour}"' in style for colour in used)


def test_boxes_do_not_overlap() -> None:
    boxes = []
    for it in drawn(VIDEO_SHOP).iter(f"{SVG}rect"):
        if "rx" in it.attrib and "x" in it.attrib:
            x, y, w, h = (float(it.attrib[key]) for key in ("x", "y", "width", "height"))
            boxes.append((x, y, x + w, y + h))
    assert len(boxes) >= 5
    for a, b in combinations(boxes, 2):
        assert a[2] <= b[0] or b[2] <= a[0] or a[3] <= b[1] or b[3] <= a[1]


def test_a_flow_within_a_zone_is_drawn() -> None:
    worksheet = msgspec.structs.replace(VIDEO_SHOP, flows=(Flow("A", "A", "sorted anew"),))
    lines = [it for it in drawn(worksheet).iter(f"{SVG}g") if it.get("data-line") == "flow"]
    assert len(lines) == 1
    assert len(list(lines[0].iter(f"{SVG}polygon"))) == 1


@settings(max_examples=40, deadline=None, suppress_health_check=list(HealthCheck))
@given(WORKSHEETS)
def test_any_worksheet_is_drawn(worksheet: Worksheet) -> None:
    picture = drawn(worksheet)
    assert float(picture.attrib["width"]) > 0
    assert not [it for it in picture.iter() if "nan" in str(it.attrib.values())]


# --- Commands -----------------------------------------------------------------------------------


@pytest.fixture
def sheet(tmp_path: Path) -> Path:
    path = tmp_path / "shop.toml"
    path.write_text(SHEET)
    return path


def test_recommend_prints_tables(sheet: Path) -> None:
    done = command("design", "recommend", str(sheet))
    assert done.returncode == 0
    assert "Zone A" in done.stdout and "Whole system" in done.stdout
    assert "Hindman 2011, section" in done.stdout
    assert "budget.initial is unknown: no design is discarded for its price" in done.stdout


def test_recommend_prints_one_document(sheet: Path) -> None:
    done = command("design", "recommend", str(sheet), "--json")
    document = json.loads(done.stdout)
    found = {(it["zone"], it["aspect"]): it["values"] for it in document["choices"]}
    assert found["A", "distribution"] == ["simple"]
    assert found["B", "distribution"] == ["striped"]
    assert document["contradictions"] == []


def test_recommend_shows_contradictions(sheet: Path) -> None:
    done = command("design", "recommend", str(sheet), "--set", "budget.initial=10")
    assert done.returncode == 0
    assert "Contradiction: the cheapest disks for capacity.usable = 20 TB cost" in done.stdout
    assert "than budget.initial (budget.initial)." in done.stdout


def test_wrong_rules_and_worksheets_take_one_line(sheet: Path, tmp_path: Path) -> None:
    rules = tmp_path / "rules.toml"
    rules.write_text('[rule.x]\naspect = "colour"\n')
    for arguments in (
        ("recommend", str(sheet), "--rules", str(rules)),
        ("recommend", str(sheet), "--rules", str(tmp_path / "none.toml")),
        ("recommend", str(tmp_path / "none.toml")),
        ("recommend", str(sheet), "--catalogue", str(tmp_path / "none.toml")),
        ("flow", str(sheet), "-o", str(tmp_path / "flow.png")),
        ("flow", str(sheet), "-o", str(sheet)),
        ("flow", str(sheet), "-o", str(tmp_path / "none" / "flow.svg")),
    ):
        done = command("design", *arguments)
        assert done.returncode == 2, arguments
        assert done.stdout == ""
        assert done.stderr.count("\n") == 1, done.stderr
        assert "Traceback" not in done.stderr


def test_flow_writes_the_picture(sheet: Path, tmp_path: Path) -> None:
    output = tmp_path / "flow.svg"
    done = command("design", "flow", str(sheet), "-o", str(output))
    assert (done.returncode, done.stdout) == (0, "")
    assert kinds(ElementTree.fromstring(output.read_text()))["outside"] == {"camera", "removed"}
