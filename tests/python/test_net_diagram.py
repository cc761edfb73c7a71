"""The picture of a net: complete, readable, without overlaps, and the same every time."""

import copy
import math
import subprocess
import sys
from collections.abc import Iterator
from itertools import combinations, pairwise
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from conftest import ROOT, Command
from headrace.drawing import layering
from headrace.drawing.layered_layout import place
from headrace.drawing.net_diagram import StructureError, arrange, dot, draw
from headrace.drawing.net_drawing import shade
from headrace.drawing.net_graph import Edge, Graph, Symbol
from headrace.drawing.net_structure import Node, Page, Transition
from headrace.drawing.net_symbols import PAD, Load, caption, tick_of
from headrace.drawing.page_layout import Placements
from headrace.drawing.text_size import text_width
from headrace.net import Net, load
from net_examples import EXAMPLES, Structure, parallel_file_system, single_queue

NET = ROOT / "scenarios" / "nets" / "philosophers.toml"
SVG = "{http://www.w3.org/2000/svg}"
Rectangle = tuple[float, float, float, float]
EPSILON = 0.1
"""Coordinates are written with two decimals."""


# --- arbitrary nets -----------------------------------------------------------------------

names = st.one_of(
    st.sampled_from(["rx", "tx", "cache", "write back", "a name that goes on " * 12]),
    st.text(max_size=12),
)


@st.composite
def structures(draw_: st.DrawFn) -> Structure:
    """Any net of up to five pages, with arcs that cross their borders."""
    pages: list[Structure] = []
    nodes = stores = 0
    for number in range(draw_(st.integers(1, 5))):
        page: Structure = {"name": draw_(names), "copies": draw_(st.integers(1, 3))}
        page |= {"nodes": [], "stores": [], "transitions": [], "pages": []}
        parent = pages[draw_(st.integers(0, number - 1))] if number else None
        page["path"] = page["name"] if parent is None else parent["path"] + "/" + page["name"]
        for _ in range(draw_(st.integers(0, 5))):
            page["nodes"].append(
                {
                    "id": nodes,
                    "name": draw_(names),
                    "kind": draw_(st.sampled_from(["place", "bag", "station"])),
                    "discipline": draw_(names),
                    "colour": draw_(names),
                    "note": draw_(names),
                    "sink": draw_(st.booleans()),
                }
            )
            nodes += 1
        for _ in range(draw_(st.integers(0, 2))):
            page["stores"].append({"id": stores, "name": draw_(names)})
            stores += 1
        if parent is not None:
            parent["pages"].append(page)
        pages.append(page)
    some_nodes = st.integers(0, nodes - 1) if nodes else st.nothing()
    some_stores = st.integers(0, stores - 1) if stores else st.nothing()
    inputs = st.fixed_dictionaries(
        {"node": some_nodes, "weight": st.integers(1, 3), "by": st.none() | names}
    )
    outputs = st.fixed_dictionaries(
        {
            "node": some_nodes,
            "how": st.sampled_from(["one", "either", "maybe", "many"]),
            "delayed": st.booleans(),
            "selects_copy": st.booleans(),
        }
    )
    plain = st.fixed_dictionaries({"node": some_nodes})
    for number in range(draw_(st.integers(0, 14))):
        page = pages[draw_(st.integers(0, len(pages) - 1))]
        transition: Structure = {
            "id": number,
            "name": draw_(names),
            "inputs": [],
            "outputs": [],
        }
        if draw_(st.booleans()) and nodes:
            transition |= {"inputs": [draw_(plain)], "outputs": [draw_(plain)]}
        else:
            transition |= {
                "priority": draw_(st.integers(-1, 1)),
                "guarded": draw_(st.booleans()),
                "inputs": draw_(st.lists(inputs, max_size=4 if nodes else 0)),
                "outputs": draw_(st.lists(outputs, max_size=4 if nodes else 0)),
                "stores": draw_(st.lists(some_stores, max_size=2 if stores else 0)),
                "signals": draw_(st.lists(some_nodes, max_size=2 if nodes else 0)),
            }
        page["transitions"].append(transition)
    return {"page": pages[0]}


examples = pytest.mark.parametrize("name", EXAMPLES)


# --- what is where ------------------------------------------------------------------------


def symbol_box(symbol: Symbol) -> Rectangle:
    """The symbol with the text under it."""
    lines = caption(symbol, {})
    half = max(symbol.width / 2, *(line.width / 2 for line in lines))
    bottom = symbol.y + symbol.height / 2 + PAD + sum(line.height for line in lines)
    return symbol.x - half, symbol.y - symbol.height / 2, symbol.x + half, bottom


def sheet_box(graph: Graph, number: int) -> Rectangle:
    sheet = graph.sheets[number]
    return sheet.x, sheet.y, sheet.x + sheet.width, sheet.y + sheet.height


def overlap(a: Rectangle, b: Rectangle) -> bool:
    return (
        a[0] < b[2] - EPSILON
        and b[0] < a[2] - EPSILON
        and a[1] < b[3] - EPSILON
        and b[1] < a[3] - EPSILON
    )


def inside(inner: Rectangle, outer: Rectangle) -> bool:
    return (
        inner[0] >= outer[0] - EPSILON
        and inner[1] >= outer[1] - EPSILON
        and inner[2] <= outer[2] + EPSILON
        and inner[3] <= outer[3] + EPSILON
    )


def touches_outline(symbol: Symbol, point: tuple[float, float]) -> bool:
    """Whether a point is on the drawn outline of a symbol, worked out from its geometry."""
    across, down = abs(point[0] - symbol.x), abs(point[1] - symbol.y)
    if down > symbol.height / 2 + EPSILON:
        return False
    if symbol.kind in ("transition", "store", "page"):
        return abs(across - symbol.width / 2) < EPSILON
    server_side = (point[0] > symbol.x) != symbol.mirrored
    if symbol.kind == "station" and not server_side:
        return abs(across - symbol.width / 2) < EPSILON
    radius = 14.0
    centre = symbol.width / 2 - radius
    straight = symbol.height / 2 - radius
    dx, dy = across - centre, max(0.0, down - straight)
    return abs(math.hypot(dx, dy) - radius) < EPSILON


def segments(edge: Edge) -> Iterator[Rectangle]:
    for a, b in pairwise(edge.route):
        yield min(a[0], b[0]), min(a[1], b[1]), max(a[0], b[0]), max(a[1], b[1])


def check_layout(graph: Graph) -> None:
    boxes = [symbol_box(symbol) for symbol in graph.symbols]
    for (a, first), (b, second) in combinations(zip(graph.symbols, boxes, strict=True), 2):
        assert not overlap(first, second), f"{a.name} lies on {b.name}"
    for symbol, box in zip(graph.symbols, boxes, strict=True):
        assert inside(box, sheet_box(graph, symbol.page)), f"{symbol.name} sticks out"
        for number in range(len(graph.sheets)):
            if number not in graph.ancestors(symbol.page):
                assert not overlap(box, sheet_box(graph, number)), f"{symbol.name} strays"
    for number, sheet in enumerate(graph.sheets):
        if number:
            assert inside(sheet_box(graph, number), sheet_box(graph, sheet.parent))
        for upper, lower in combinations(sheet.children, 2):
            assert not overlap(sheet_box(graph, upper), sheet_box(graph, lower))
    for edge in graph.edges:
        source, target = graph.symbols[edge.source], graph.symbols[edge.target]
        assert touches_outline(source, edge.route[0]), f"arc leaves {source.name} in the air"
        assert touches_outline(target, edge.route[-1]), f"arc misses {target.name}"
        for x, y, right, low in segments(edge):
            assert right - x < EPSILON or low - y < EPSILON, "a line is neither level nor upright"
            for at, box in enumerate(boxes):
                if at not in (edge.source, edge.target):
                    assert not overlap((x, y - EPSILON, right, low + EPSILON), box), (
                        f"a line runs through {graph.symbols[at].name}"
                    )
            for number in range(len(graph.sheets)):
                related = graph.ancestors(source.page) + graph.ancestors(target.page)
                if number not in related:
                    line = (x - EPSILON, y - EPSILON, right + EPSILON, low + EPSILON)
                    assert not overlap(line, sheet_box(graph, number)), "a line cuts a page"
        if edge.tick is not None:
            tick = tick_of(graph, edge)
            mark = (tick.x - 1, tick.y - 1, tick.x + 1, tick.y + 1)
            assert inside(mark, sheet_box(graph, edge.tick_page)), "a mark left its page"


@examples
def test_examples_have_no_overlaps(name: str) -> None:
    check_layout(arrange(EXAMPLES[name][0]))


@settings(max_examples=40, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(structures())
def test_any_net(structure: Structure) -> None:
    """All that holds of any net, of each net that is made up: most of the time is in arranging
    and drawing it."""
    before = copy.deepcopy(structure)
    graph, svg = arrange(structure), draw(structure)
    check_layout(graph)
    served_tokens_leave_from_the_servers(graph)
    every_symbol_is_in_valid_xml(structure, svg)
    texts_lie_neither_on_each_other_nor_on_lines(graph, svg)
    assert anew(structure) == svg, "another picture of the same net"
    assert structure == before, "drawing has changed the net"


def anew(structure: Structure) -> str:
    """Its picture when nothing is kept of how pages were placed before."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(
            Placements,
            "place",
            lambda self, _sheet, boxes, links: place(boxes, links, self.is_draft),
        )
        return draw(structure)


@settings(deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(structures(), st.integers(0, 2))
def test_closed_pages(structure: Structure, depth: int) -> None:
    """Closed pages have one line for all of a kind that join what is inside to a symbol."""
    graph = arrange(structure, depth=depth)
    check_layout(graph)
    owners: dict[int, int] = {}
    """Number of the closed page that each node is in."""
    closed = [at for at, symbol in enumerate(graph.symbols) if symbol.kind == "page"]
    expected: set[tuple[int | None, int | None]] = set()
    for at in closed:
        page = graph.symbols[at].item
        assert isinstance(page, Page)
        assert max(graph.sheets[graph.symbols[at].page].depth, 0) == depth
        owners |= {node.id: at for each in page.walk() for node in each.nodes}
    here = {
        s.item.id: at for at, s in enumerate(graph.symbols) if isinstance(s.item, Node)
    } | owners
    for at in closed:
        page = graph.symbols[at].item
        assert isinstance(page, Page)
        for transition in (it for each in page.walk() for it in each.transitions):
            expected |= {(here[taken.node], at) for taken in transition.inputs}
            expected |= {(at, here[put.node]) for put in transition.outputs}
    arcs = [(edge.source, edge.target) for edge in graph.edges if edge.kind == "arc"]
    found = [pair for pair in arcs if pair[0] in closed or pair[1] in closed]
    assert len(found) == len(set(found))
    assert {pair for pair in expected if pair[0] != pair[1]} <= set(found)
    transitions = {s.name for s in graph.symbols if s.kind == "transition"}
    assert transitions <= {it.name for sheet in graph.sheets for it in sheet.page.transitions}


def test_a_closed_page_shows_its_busiest_station() -> None:
    structure = parallel_file_system()
    load: dict[int, Load] = {number: {"utilisation": number / 100} for number in range(60)}
    texts = list(drawn(draw(structure, load, depth=0), "data-kind", "page"))
    assert texts
    assert all(any("%" in (text.text or "") for text in g.iter(f"{SVG}text")) for g in texts)
    assert "closed page" in draw(structure, depth=0)
    assert "closed page" not in draw(structure)


@examples
def test_what_is_kept_of_placements_changes_no_picture(name: str) -> None:
    structure = EXAMPLES[name][0]
    assert anew(structure) == draw(structure)


def served_tokens_leave_from_the_servers(graph: Graph) -> None:
    for edge in graph.edges:
        station = graph.symbols[edge.source]
        if station.kind == "station":
            east_of_middle = edge.route[0][0] - station.x
            assert east_of_middle < 0 if station.mirrored else east_of_middle > 0


@examples
def test_no_two_lines_run_on_top_of_each_other(name: str) -> None:
    graph = arrange(EXAMPLES[name][0])
    for a, b in combinations(graph.edges, 2):
        for first in segments(a):
            for second in segments(b):
                wide = min(first[2], second[2]) - max(first[0], second[0])
                high = min(first[3], second[3]) - max(first[1], second[1])
                assert not (wide > 1 and high > -1) and not (high > 1 and wide > -1)


# --- the picture --------------------------------------------------------------------------


def pages(structure: Structure) -> Iterator[Structure]:
    waiting = [structure["page"]]
    for page in waiting:
        waiting += page["pages"]
        yield page


@examples
def test_every_name_is_in_the_picture(name: str) -> None:
    structure = EXAMPLES[name][0]
    svg = ElementTree.fromstring(draw(structure))
    written = " ".join(text for text in svg.itertext())
    for page in pages(structure):
        assert page["name"] in written
        for kind in ("nodes", "stores", "transitions"):
            for each in page[kind]:
                assert each["name"] in written, each


def net_of(svg: str) -> ElementTree.Element:
    """The picture without its legend."""
    root = ElementTree.fromstring(svg)
    legend = root.find(f"{SVG}g[@data-kind='legend']")
    if legend is not None:
        root.remove(legend)
    return root


def every_symbol_is_in_valid_xml(structure: Structure, svg: str) -> None:
    groups = list(net_of(svg).iter(f"{SVG}g"))
    kinds = [g.get("data-kind") for g in groups]
    every = list(pages(structure))
    assert sum(g.get("data-page") is not None for g in groups) == len(every)
    assert kinds.count("store") == sum(len(page["stores"]) for page in every)
    nodes = sorted(node["id"] for page in every for node in page["nodes"])
    drawn_nodes = [g for g in groups if g.get("data-kind") in ("place", "bag", "station")]
    assert sorted(int(g.get("data-id", "-1")) for g in drawn_nodes) == nodes
    transitions = sum(len(page["transitions"]) for page in every)
    assert kinds.count("transition") + kinds.count("tick") == transitions


def texts(svg: str) -> list[tuple[Rectangle, str]]:
    """Every text with the room its capital letters take."""
    found = []
    for text in ElementTree.fromstring(svg).iter(f"{SVG}text"):
        size, x, y = (float(text.get(name, "0")) for name in ("font-size", "x", "y"))
        width = text_width(text.text or "", size, text.get("font-weight") == "bold")
        anchor = text.get("text-anchor", "start")
        left = {"start": x, "middle": x - width / 2, "end": x - width}[anchor]
        found.append(((left, y - 0.75 * size, left + width, y), text.text or ""))
    return found


def texts_lie_neither_on_each_other_nor_on_lines(graph: Graph, svg: str) -> None:
    boxes = texts(svg)
    for (a, first), (b, second) in combinations(boxes, 2):
        assert not overlap(a, b), (first, second)
    lines = [line for edge in graph.edges for line in segments(edge)]
    for box, text in boxes:
        for line in lines:
            assert not overlap(box, line), text


def test_same_picture_in_another_process() -> None:
    program = (
        "from net_examples import parallel_file_system as net;"
        "from headrace.drawing.net_diagram import draw; import sys; sys.stdout.write(draw(net()))"
    )
    here = Path(__file__).resolve().parent
    path = f"{here}:{here.parents[1] / 'python'}"
    for seed in ("1", "2"):
        found = subprocess.run(
            [sys.executable, "-c", program],
            env={
                "PYTHONPATH": path,
                "PYTHONHASHSEED": seed,
                "PYTHONIOENCODING": "utf-8",
            },
            capture_output=True,
            check=True,
        )
        assert found.stdout.decode() == draw(parallel_file_system())


def test_picture_stands_alone() -> None:
    svg = draw(parallel_file_system())
    assert "href" not in svg and "url(" not in svg and "<script" not in svg


def test_names_are_escaped() -> None:
    structure = single_queue()
    structure["page"]["nodes"][0]["name"] = '<a href="x">&\x00\x1b'
    texts = [text.text for text in ElementTree.fromstring(draw(structure)).iter(f"{SVG}text")]
    assert '<a href="x">&\ufffd\ufffd' in texts


# --- what the marks mean ------------------------------------------------------------------


def drawn(svg: str, attribute: str, value: str) -> list[ElementTree.Element]:
    return [g for g in net_of(svg).iter(f"{SVG}g") if g.get(attribute) == value]


def test_folded_pages_show_their_copies() -> None:
    svg = draw(parallel_file_system())
    (client,) = drawn(svg, "data-page", "main/client")
    assert "client \N{MULTIPLICATION SIGN}64" in list(client.itertext())
    assert len(client.findall(f"{SVG}rect")) == 3
    (network,) = drawn(svg, "data-page", "main/network")
    assert len(network.findall(f"{SVG}rect")) == 1


@pytest.mark.parametrize(
    ("how", "label", "diamonds"),
    [("one", None, 0), ("either", None, 1), ("maybe", "0..1", 0), ("many", "n", 0)],
)
def test_outputs_are_told_apart(how: str, label: str | None, diamonds: int) -> None:
    structure = single_queue()
    structure["page"]["transitions"][1] |= {"guarded": True}
    structure["page"]["transitions"][1]["outputs"][0]["how"] = how
    lines = drawn(draw(structure), "data-line", "arc")
    (arc,) = [g for g in lines if (g.findtext(f"{SVG}title") or "").startswith("arc leave")]
    assert arc.findtext(f"{SVG}text") == label
    assert len(arc.findall(f"{SVG}polygon")) == 1 + diamonds
    path = arc.find(f"{SVG}path")
    assert path is not None and (float(path.get("stroke-width", "0")) > 2) == (how == "many")


@pytest.mark.parametrize(
    "change",
    [
        {"guarded": True},
        {"priority": 1},
        {"stores": [0]},
        {"signals": [1]},
        {"inputs": [{"node": 1, "weight": 2, "by": None}]},
        {"inputs": [{"node": 1, "weight": 1, "by": "request"}]},
    ],
)
def test_only_a_plain_transition_becomes_a_mark(change: dict[str, Any]) -> None:
    structure = single_queue()
    structure["page"]["stores"].append({"id": 0, "name": "log"})
    assert [g.get("data-name") for g in drawn(draw(structure), "data-kind", "tick")] == ["leave"]
    structure["page"]["transitions"][1] |= change
    svg = draw(structure)
    assert not drawn(svg, "data-kind", "tick")
    names_ = [g.get("data-name") for g in drawn(svg, "data-kind", "transition")]
    assert names_ == ["arrive", "leave"]


def test_store_lines_have_no_arrowhead_and_signals_have() -> None:
    svg = draw(parallel_file_system())
    for kind, heads in (("store", 0), ("signal", 1)):
        lines = drawn(svg, "data-line", kind)
        assert lines
        for line in lines:
            assert len(line.findall(f"{SVG}polygon")) == heads
            path = line.find(f"{SVG}path")
            assert path is not None and path.get("stroke-dasharray")


def test_load_is_printed_and_shaded() -> None:
    structure, load = EXAMPLES["parallel_file_system"]
    (disk,) = [
        g
        for g in drawn(draw(structure, load), "data-kind", "station")
        if g.get("data-name") == "disk"
    ]
    assert {"97%", "queue 3.21"} <= {text.text for text in disk.iter(f"{SVG}text")}
    assert shade(0.974) in {rect.get("fill") for rect in disk.iter(f"{SVG}rect")}


def test_busier_is_darker() -> None:
    def grey(fill: str) -> float:
        red, green, blue = (int(fill[at : at + 2], 16) for at in (1, 3, 5))
        return 0.299 * red + 0.587 * green + 0.114 * blue

    greys = [grey(shade(step / 20)) for step in range(21)]
    assert greys == sorted(greys, reverse=True) and greys[0] - greys[-1] > 80
    assert shade(1.7) == shade(1.0) and shade(-0.1) == shade(0.0)


@pytest.mark.parametrize("value", [float("nan"), float("inf"), -1.0, 1e300])
def test_odd_figures_do_no_harm(value: float) -> None:
    svg = draw(single_queue(), {1: {"utilisation": value, "mean_queue": value}})
    assert "nan" not in svg and "inf" not in svg.replace("infinite", "")


def test_flow_runs_from_left_to_right() -> None:
    symbols = {symbol.name: symbol for symbol in arrange(single_queue()).symbols}
    assert symbols["source"].x < symbols["arrive"].x < symbols["server"].x < symbols["done"].x
    graph = arrange(parallel_file_system())
    sheets = {sheet.page.name: sheet for sheet in graph.sheets}
    for west, east in pairwise(["client", "network", "server"]):
        assert sheets[west].x + sheets[west].width < sheets[east].x
    for west, east in pairwise(["scheduler", "memory", "device"]):
        assert sheets[west].x + sheets[west].width < sheets[east].x


# --- other formats ------------------------------------------------------------------------


def test_a_picture_is_png_or_pdf(headrace: Command, tmp_path: Path) -> None:
    for ending, head in (("png", b"\x89PNG"), ("pdf", b"%PDF-1"), ("svg", b"<svg")):
        output = tmp_path / f"net.{ending}"
        assert headrace("net", NET, "-o", output).returncode == 0
        assert output.read_bytes().startswith(head)
        assert len(output.read_bytes()) > 2000


def test_graphviz_has_all_nodes_and_arcs(headrace: Command, tmp_path: Path) -> None:
    output = tmp_path / "net.dot"
    assert headrace("net", NET, "-o", output).returncode == 0
    lines = output.read_text("utf-8").splitlines()
    assert sum("->" in line for line in lines) == 9
    assert sum("shape=" in line for line in lines) == 7
    assert '  n3 -> "philosophers/finish";' in lines
    wrong = headrace("net", NET, "-o", output, "--depth", "0")
    assert wrong.returncode != 0 and "--depth" in wrong.stderr


def test_names_for_graphviz_are_escaped() -> None:
    structure = single_queue()
    structure["page"]["nodes"][0]["name"] = 'a "b" \\'
    assert '[label="a \\"b\\" \\\\", shape=' in dot(structure)


# --- bad input ----------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (
            {"page": None},
            "a page of the structure: expected a table of fields, found None",
        ),
        ({"page": {}}, "a page of the structure: the field 'name' is missing"),
        ({"page": {"name": "p", "copies": 0}}, "p: copies = 0: expected 1 or more"),
        ({"page": {"name": "p", "nodes": 3}}, "p: nodes: expected a list, found 3"),
        (
            {"page": {"name": "p", "nodes": [{"id": 0, "name": "a", "kind": "disk"}]}},
            "p/a: kind: expected one of place, bag, station, found 'disk'",
        ),
        (
            {
                "page": {
                    "name": "p",
                    "nodes": [{"id": 0, "name": "a"}, {"id": 0, "name": "b"}],
                }
            },
            "p/b: node id 0 is already that of p/a",
        ),
        (
            {
                "page": {
                    "name": "p",
                    "transitions": [{"name": "t", "inputs": [{"node": 9}]}],
                }
            },
            "p/t: there is no node with id 9 in any page",
        ),
        (
            {"page": {"name": "p", "transitions": [{"name": "t", "stores": [4]}]}},
            "p/t: there is no store with id 4 in any page",
        ),
        ({}, "the structure: the field 'page' is missing"),
    ],
)
def test_bad_structures_are_named(change: Structure, message: str) -> None:
    with pytest.raises(StructureError) as caught:
        draw(change)
    assert str(caught.value) == message


# --- nets of one's own ----------------------------------------------------------------------------


def texts_of(picture: str) -> list[str]:
    return [text.text or "" for text in ElementTree.fromstring(picture).iter(f"{SVG}text")]


def test_first_tokens_guards_and_inscriptions_are_drawn() -> None:
    nets = ROOT / "scenarios/nets"
    philosophers = load(nets / "philosophers.toml").svg()
    texts = texts_of(philosophers)
    assert texts.count("0, 1, 2, 3, 4") == 2 and "guarded" not in texts
    assert {"left", "right", "finish", "p", "(p + 1) % n", "p ++ (p + 1) % n"} <= set(texts)
    root = ElementTree.fromstring(philosophers)
    groups = [g for g in root.iter(f"{SVG}g") if g.get("data-tokens") == "5"]
    assert [len(list(g.iter(f"{SVG}circle"))) for g in groups] == [5, 5]
    protocol = load(nets / "simple-protocol.toml").svg()
    assert {"6", "if not success", "success = bernoulli(0.9)"} <= set(texts_of(protocol))
    assert "(p if success @+ exponential(50 ms))" in protocol
    cache = load(nets / "cache.toml").svg()
    assert "[cache.blocks[r.block % lines] == r.block]" in texts_of(cache)


def test_a_sink_is_no_token() -> None:
    picture = ElementTree.fromstring(load(ROOT / "scenarios/nets/queue.toml").svg())
    (sink,) = (g for g in picture.iter(f"{SVG}g") if g.get("data-name") == "served")
    assert not list(sink.iter(f"{SVG}circle")) and len(list(sink.iter(f"{SVG}path"))) == 1


@pytest.mark.parametrize("ending", ["cpn", "pnml"])
def test_coordinates_of_a_file_are_used(ending: str, tmp_path: Path) -> None:
    path = tmp_path / f"ring.{ending}"
    net = Net("ring")
    places = [net.place(f"p{number}", initial=2 - number) for number in range(2)]
    for number, (source, target) in enumerate((places, places[::-1])):
        with net.transition(f"t{number}") as t:
            t.take(source)
            t.put(target, count=2)
    net.save(path)
    model = load(path)
    drawn = {symbol.name: symbol for symbol in arrange(model.structure()).symbols}
    items = {name: symbol.item for name, symbol in drawn.items()}
    at = {name: it.at for name, it in items.items() if isinstance(it, Node | Transition) and it.at}
    assert len(at) == len(drawn) == 4
    for first, second in combinations(drawn, 2):
        for axis, name in enumerate("xy"):
            far = at[second][axis] - at[first][axis]
            shown = getattr(drawn[second], name) - getattr(drawn[first], name)
            assert (far > 0) == (shown > 0.01) and (far < 0) == (shown < -0.01)
    graph = arrange(model.structure())
    assert all(len(edge.route) == 2 for edge in graph.edges)
    labels = [edge.label_at for edge in graph.edges if edge.label == "2"]
    assert len(labels) == 2 and labels[0] != labels[1]
    model.save(tmp_path / "ring.toml")
    assert load(tmp_path / "ring.toml").svg() == model.svg()


def test_large_pages_take_few_trials(monkeypatch: pytest.MonkeyPatch) -> None:
    """The trials of an order of reading grow with the lines, not with the square of the things."""
    trials = 0
    tried = layering._try

    def counted(*arguments: Any) -> Any:
        nonlocal trials
        trials += 1
        return tried(*arguments)

    monkeypatch.setattr(layering, "_try", counted)
    ring = [layering.Flow(at, (at + 1) % 20) for at in range(20)]
    layering.assign_layers(20, ring)
    assert trials < 2 * 3 * 20 * 4


def test_dot_tells_arcs_that_hold_from_those_that_take(headrace: Command, tmp_path: Path) -> None:
    path, output = tmp_path / "arcs.toml", tmp_path / "arcs.dot"
    path.write_text(
        "[places.a]\ninitial = 1\n[transitions.t]\ntake = 'a'\nread = 'a'\nreset = 'a'\n"
        "put = 'a'\ninhibit = [{ place = 'a', count = 4 }]\n"
    )
    assert headrace("net", path, "-o", output).returncode == 0
    lines = {line.partition(" -> ")[2] for line in output.read_text("utf-8").splitlines()}
    own = '"arcs/t"'
    ends = ("", " [dir=none]", " [arrowhead=normalnormal]", " [label=4 arrowhead=odot]")
    assert lines >= {f"{own}{end};" for end in ends}
