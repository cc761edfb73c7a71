"""Exchange of nets with other tools: files of CPN Tools, and PNML."""

import json
import re
import warnings
from collections.abc import Sequence
from pathlib import Path
from typing import Any
from xml.etree.ElementTree import Element, fromstring

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import cpn_ml_check
from conftest import ROOT, Command
from headrace.net import LeftOutWarning, Net, NetModel, load
from headrace.net.exchange import FORMATS, symmetric
from headrace.net.exchange.cpn_reader import read as read_cpn
from headrace.net.exchange.kernel_rules import obey_kernel_rules
from headrace.net.exchange.ml_meaning import Colour, Meaning
from headrace.net.exchange.ml_syntax import MlError, parse_declarations, parse_ml
from headrace.net.exchange.pnml import read as read_pnml
from headrace.net.model import encode, from_document, is_net

NETS = ROOT / "scenarios" / "nets"
DATA = ROOT / "tests" / "data" / "nets"

pytestmark = pytest.mark.filterwarnings("ignore::headrace.net.LeftOutWarning")

HOTEL = """
name = "hotel"

[colours]
Kind = ["single", "double"]
Guest = { number = "int", kind = "Kind" }

[values]
rooms = 2

[places.outside]
colour = "Guest"
initial = [
  { token = "Guest(i, if i == 1 then double else single)", each = "i", from = "1", to = "3" },
]

[places.keys]
initial = [{ count = "rooms" }]

[transitions.arrive]
take = [{ place = "outside", token = "Guest(number = n, kind = k)" }, "keys"]
put = [{ place = "floor/hall", token = "Guest(n, k)", copy = "if k == double then 1 else 0" }]

[pages.floor]
copies = 2
connect = { exit = "outside" }
ports = { exit = { direction = "out" }, hall = { direction = "in", place = "inside" } }

[pages.floor.places.inside]
colour = "Guest"

[pages.floor.places.cleaner]
colour = "int"
initial = ["copy()"]

[pages.floor.transitions.leave]
take = [{ place = "inside", token = "g" }, { place = "cleaner", token = "c" }, ]
when = ["g.number > 0 or c != copy()"]
put = [{ place = "exit", token = "g" }, { place = "cleaner", token = "c" }, "keys"]
"""
"""A page with two copies, ports, a record and an enumeration."""

DESK = """
name = "desk"

[colours]
Left = { job = "int", at = "time" }

[stations.desk]
colour = "int"
servers = 2
service = "if token == 3 then 7 ms else 4 ms"
initial = [{ token = "i", each = "i", from = "1", to = "6" }]

[places.done]
colour = "Left"
sink = true

[transitions.leave]
take = [{ place = "desk", token = "j" }]
put = [{ place = "done", token = "Left(j, now())" }]
"""
"""Six jobs at a station with two servers, which ends when all have left."""

CLINIC = (DATA / "clinic.toml").read_text(encoding="utf-8")
"""All that has a translation: disciplines, orders, priorities, delays, pages and chance."""


def net_of(text: str, tmp_path: Path, name: str = "net.toml") -> NetModel:
    file = tmp_path / name
    file.write_text(text, encoding="utf-8")
    return load(file)


def again(model: NetModel, tmp_path: Path, ending: str) -> NetModel:
    """Write a net and read it."""
    file = tmp_path / f"again{ending}"
    model.save(file)
    return load(file)


def size(model: NetModel) -> tuple[int, int]:
    document = model.state_space().document
    assert document["complete"]
    return document["states"], document["arcs"]


# --- round trips ----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("name", "markings", "arcs"),
    [("philosophers", 82, 265), ("token-ring", 96, 272), ("simple-protocol", 13_215, 52_784)],
)
def test_a_net_has_the_same_markings_after_cpn_tools(
    name: str, markings: int, arcs: int, tmp_path: Path
) -> None:
    model = load(NETS / f"{name}.toml")
    assert size(model) == (markings, arcs)
    assert size(again(model, tmp_path, ".cpn")) == (markings, arcs)


def test_pages_become_substitution_transitions_and_copies_numbers(tmp_path: Path) -> None:
    model = net_of(HOTEL, tmp_path)
    assert size(model) == size(again(model, tmp_path, ".cpn"))
    root = fromstring((tmp_path / "again.cpn").read_bytes())
    (subst,) = root.iter("subst")
    assert subst.get("portsock", "").count("(") == 3
    ports = {it.get("type") for it in root.iter("port")}
    assert ports == {"In", "Out"}


def test_a_place_transition_net_has_the_same_markings_after_pnml(tmp_path: Path) -> None:
    net = Net("workshop")
    idle = net.place("idle", initial=3)
    parts = net.place("parts", initial=4)
    with net.page("line") as line:
        busy = line.place("busy")
        with line.transition("start") as t:
            t.take(idle)
            t.take(parts, count=2)
            t.put(busy)
        with line.transition("finish") as t:
            t.take(busy)
            t.put(idle)
            t.put(parts, count=2)
    model = net.model()
    assert size(model) == (3, 4)
    assert size(again(model, tmp_path, ".pnml")) == (3, 4)


def test_files_of_other_tools_are_nets_for_all_commands(headrace: Command, tmp_path: Path) -> None:
    file, back = tmp_path / "copy.cpn", tmp_path / "back.json"
    source = NETS / "queue.toml"
    assert headrace("net", "export", str(source), "-o", str(file)).returncode == 0
    checked = headrace("net", "check", str(file), "--json")
    assert "queue/arrivals + queue/arrivals_arrivals" in checked.stdout
    file = tmp_path / "copy.pnml"
    assert headrace("net", "export", str(source), "-o", str(file)).returncode == 0
    assert is_net(file)
    assert headrace("net", "export", str(file), "-o", str(back)).returncode == 0
    document = json.loads(back.read_text(encoding="utf-8"))
    served = document["places"]["served"]
    outline = served.pop("outline")
    assert outline["id"] == "p2" and outline["at"] and served == {"sink": True}
    net_of(DESK, tmp_path).save(tmp_path / "desk.pnml")
    ran = headrace("net", "run", str(tmp_path / "desk.pnml"), "--json", "--no-progress")
    assert json.loads(ran.stdout)["runs"][0]["firings"] == 6


def test_what_is_left_out_is_reported(headrace: Command, tmp_path: Path) -> None:
    file = tmp_path / "protocol.pnml"
    source = NETS / "simple-protocol.toml"
    result = headrace("net", "export", str(source), "-o", str(file))
    assert "8 colours of places" in result.stderr
    assert "7 values and delays" in result.stderr
    with pytest.warns(LeftOutWarning, match="5 marks sink, rest or conserve"):
        load(source).save(tmp_path / "protocol.cpn")


def test_an_unknown_ending_names_the_known_ones(headrace: Command, tmp_path: Path) -> None:
    result = headrace("net", "export", str(NETS / "queue.toml"), "-o", str(tmp_path / "net.xls"))
    assert result.returncode == 2
    assert "expected a name that ends in .toml, .json, .cpn or .pnml" in result.stderr
    with pytest.raises(ValueError, match=r"\.toml, \.json, \.cpn or \.pnml"):
        load(tmp_path / "net.xls")


# --- files of CPN Tools ---------------------------------------------------------------------------

GRAPHICS = ["posattr", "fillattr", "lineattr", "textattr"]
CHILDREN = {
    "workspaceElements": r"generator cpnet",
    "cpnet": r"globbox (page )+instances options binders monitorblock IndexNode",
    "page": r"pageattr ((trans|place|arc) )*constraints",
    "place": r"GRAPHICS text ellipse token marking type initmark( port)?",
    "trans": r"GRAPHICS text box( subst)? binding cond time code priority",
    "arc": r"GRAPHICS arrowattr transend placeend( bendpoint)? annot",
    "annot": r"GRAPHICS text",
    "type": r"(GRAPHICS text|id)",
    "color": r"id( timed)? (unit|bool|int|real|string|time|enum|product|record|list|alias) layout",
    "var": r"type( id)+ layout",
    "record": r"recordfield( recordfield)*",
    "recordfield": r"id id",
    "subst": r"subpageinfo",
    "port": r"GRAPHICS",
}
"""Order of elements in files of CPN Tools, restated from format 6 of its document type."""


def check_file(root: Element) -> None:
    """Check elements and references of a file of CPN Tools."""
    ids: dict[str, Element] = {}
    for element in root.iter():
        number = element.get("id")
        if number is not None:
            assert number not in ids, number
            ids[number] = element
        pattern = CHILDREN.get(element.tag)
        if pattern is not None:
            names = " ".join(child.tag for child in element)
            pattern = pattern.replace("GRAPHICS", " ".join(GRAPHICS))
            assert re.fullmatch(pattern, names), f"{element.tag}: {names}"
    kinds = {"transend": "trans", "placeend": "place"}
    for page in root.iter("page"):
        inside = set(page.iter())
        for arc in page.findall("arc"):
            for tag, kind in kinds.items():
                end = arc.find(tag)
                assert end is not None
                target = ids[end.get("idref", "")]
                assert target.tag == kind and target in inside
        for subst in page.iter("subst"):
            inner = ids[subst.get("subpage", "")]
            for port, socket in re.findall(r"\((\w+),(\w+)\)", subst.get("portsock", "")):
                assert ids[port].find("port") is not None and ids[port] in set(inner)
                assert ids[socket].tag == "place" and ids[socket] in inside
                assert ids[port].findtext("type/text") == ids[socket].findtext("type/text")
    for instance in root.iter("instance"):
        assert ids[instance.get("page") or instance.get("trans") or ""].tag in ("page", "trans")
    colours = {it.findtext("id") for it in root.iter("color")}
    for place in root.iter("place"):
        assert place.findtext("type/text") in colours


OWN = {"hotel": HOTEL, "desk": DESK, "clinic": CLINIC}


def model_of(name: str, tmp_path: Path) -> NetModel:
    return net_of(OWN[name], tmp_path) if name in OWN else load(NETS / f"{name}.toml")


@pytest.mark.parametrize("name", [*(it.stem for it in sorted(NETS.glob("*.toml"))), *OWN])
def test_files_of_cpn_tools_have_its_structure(name: str, tmp_path: Path) -> None:
    document = model_of(name, tmp_path).document()
    if "stores" in document or name in ("bounded-queue", "kanban"):
        with pytest.raises(ValueError, match="(set|rate) has no translation"):
            encode(document, tmp_path / "net.cpn")
    else:
        check_file(fromstring(encode(document, tmp_path / "net.cpn")))


@pytest.mark.skipif(cpn_ml_check.SML is None, reason="needs sml of the package smlnj")
@pytest.mark.parametrize("name", ["common", "simple-protocol", "hotel", "clinic"])
def test_inscriptions_have_a_type_in_standard_ml(name: str, tmp_path: Path) -> None:
    file = tmp_path / "net.cpn"
    model_of(name, tmp_path).save(file)
    wrong, count = cpn_ml_check.faults(file, tmp_path)
    assert not wrong and count > 10


@pytest.mark.skipif(cpn_ml_check.SML is None, reason="needs sml of the package smlnj")
def test_a_wrong_inscription_has_no_type(tmp_path: Path) -> None:
    file = tmp_path / "net.cpn"
    load(NETS / "philosophers.toml").save(file)
    text = file.read_text(encoding="iso-8859-1")
    file.write_text(text.replace("(p + 1) mod n<", "(p + 1.0) mod n<"), encoding="iso-8859-1")
    wrong, _ = cpn_ml_check.faults(file, tmp_path)
    assert wrong == ["(p + 1.0) mod n"]


def test_another_program_finds_the_same_markings(tmp_path: Path) -> None:
    """cpncheck reads files of CPN Tools and explores them by the rules of that tool."""
    cpncheck = pytest.importorskip("cpncheck", reason="needs the Python package cpncheck")
    models = {"philosophers": 82, "token-ring": 96}
    for name, markings in models.items():
        # Delays would make the markings differ for ever.
        untimed = (NETS / f"{name}.toml").read_text("utf-8").replace(', delay = "1 ms"', "")
        (tmp_path / f"{name}.toml").write_text(untimed, encoding="utf-8")
        file = tmp_path / f"{name}.cpn"
        load(tmp_path / f"{name}.toml").save(file)
        space = cpncheck.build_state_space(cpncheck.ColouredNet(cpncheck.CPNNet(str(file))))
        assert space.n_nodes == markings
    hotel = net_of(HOTEL, tmp_path)
    hotel.save(tmp_path / "hotel.cpn")
    ferry, _ = read_cpn((DATA / "ferry.cpn").read_bytes(), "ferry.cpn")
    for file, model in (
        (tmp_path / "hotel.cpn", hotel),
        (DATA / "ferry.cpn", from_document(ferry, "ferry")),
    ):
        net = cpncheck.ColouredNet(cpncheck.CPNNet(str(file)))
        space = cpncheck.build_state_space(net)
        assert (space.n_nodes, space.n_arcs) == size(model)


def test_a_station_serves_in_cpn_tools_as_here(tmp_path: Path) -> None:
    cpncheck = pytest.importorskip("cpncheck", reason="needs the Python package cpncheck")
    file = tmp_path / "desk.cpn"
    net_of(DESK, tmp_path).save(file)
    last = cpncheck.ColouredNet(cpncheck.CPNNet(str(file))).run()
    # Two servers, first come first served: job 3 is served from 4 ms on, for 7 ms.
    assert sorted(last[0]) == [(1, 4), (2, 4), (3, 11), (4, 8), (5, 12), (6, 15)]


def test_stations_of_cpn_tools_behave_as_stations(tmp_path: Path) -> None:
    """The timed places of a station, read and run, have its times and queues."""
    desk = again(net_of(DESK, tmp_path), tmp_path, ".cpn")
    assert desk.run().runs[0]["time"] == 0.015
    queue = again(load(NETS / "queue.toml"), tmp_path, ".cpn")
    nodes = queue.run(until=40_000.0, seed=3).runs[0]["nodes"]
    inside = {it["path"]: it["mean_inside"] for it in nodes}
    # Half a customer waits, and half the time the server serves (M/M/1 with half the load).
    assert inside["queue/desk_queue"] == pytest.approx(0.5, abs=0.05)
    assert inside["queue/desk_servers"] == pytest.approx(0.5, abs=0.02)


def test_what_cpn_tools_cannot_express_is_refused(tmp_path: Path) -> None:
    text = DESK.replace("servers = 2", 'discipline = "sharing"')
    with pytest.raises(ValueError, match=r"net\.cpn: station desk: the discipline sharing"):
        net_of(text, tmp_path).save(tmp_path / "net.cpn")
    text = HOTEL.replace("rooms = 2", "rooms = 2000000000")
    with pytest.raises(ValueError, match="whole numbers of CPN Tools go to 1073741823"):
        net_of(text.replace('count = "rooms"', "count = 2"), tmp_path).save(tmp_path / "net.cpn")


def test_a_table_of_a_later_version_is_no_silent_loss() -> None:
    """Unknown keys of transitions and places are refused; other tables are counted."""
    table = {"take": "p", "put": "p", "because": "x"}
    document: dict[str, Any] = {
        "places": {"p": {"initial": 1}},
        "transitions": {"t": table},
        "watchers": {"a": 1, "b": 2},
    }
    for ending in FORMATS:
        with pytest.raises(ValueError, match="transition t: because has no translation"):
            encode(document, Path(f"net{ending}"))
    del table["because"]
    for ending in FORMATS:
        with pytest.warns(LeftOutWarning, match="2 entries of watchers"):
            encode(document, Path(f"net{ending}"))


def test_random_times_are_real_and_constant_ones_whole(tmp_path: Path) -> None:
    for text, real, delay in (
        (DESK, "false", "@+(if x = 3 then 7 else 4)"),
        (
            DESK.replace('"if token == 3 then 7 ms else 4 ms"', '"exponential(4 ms)"'),
            "true",
            "@++span",
        ),
    ):
        net_of(text, tmp_path).save(tmp_path / "net.cpn")
        root = fromstring((tmp_path / "net.cpn").read_bytes())
        assert root.findtext(".//option[@name='realtimestamp']/value/boolean") == real
        assert any((it.text or "").endswith(delay) for it in root.iter("text"))


# --- reading --------------------------------------------------------------------------------------


def test_a_file_in_the_manner_of_cpn_tools_is_read() -> None:
    data = (DATA / "ferry.cpn").read_bytes()
    document, notes = read_cpn(data, "ferry.cpn")
    model = from_document(document, "ferry")
    # Three cars on two banks and a ferry on one of them: 16 markings with an empty ferry, and 24
    # with a car on it. It leaves 16 times empty; 24 times it is loaded, and as often unloaded.
    assert size(model) == (40, 64)
    assert notes == ["1 declarations of other forms", "1 monitors", "1 texts beside the net"]


def test_the_data_base_system_has_its_markings() -> None:
    """Colour sets by index, product and subset; products and differences of multisets."""
    text = (DATA / "database.cpn").read_bytes()
    for number in (2, 3, 4):
        of = text.replace(b"val n = 3;", b"val n = %d;" % number)
        document, notes = read_cpn(of, "database.cpn")
        markings, _ = size(from_document(document, "database"))
        assert markings == 1 + number * 3 ** (number - 1) and not notes


@pytest.mark.parametrize(
    ("old", "new", "line", "message"),
    [
        ("<text>CAR</text>", "<text>CARR</text>", 55, "no colour set is called 'CARR'"),
        ('orientation="PtoT"', 'orientation="None"', None, "arcs of the kind none"),
        ("1`c</text>", "1`(c</text>", None, r"expected '\)', not the end"),
        ("1`c</text>", "1`d</text>", None, "nothing is called d"),
        ("<enum>", "<union>", None, "is no XML"),
        ("[c &lt;&gt; 0]", "[c &lt;&gt; twice(c)]", None, "functions that call themselves"),
        ("<cpnet>", "<cpnets>", None, "is no XML"),
    ],
)
def test_errors_of_files_have_a_line(old: str, new: str, line: int | None, message: str) -> None:
    text = (DATA / "ferry.cpn").read_text(encoding="iso-8859-1")
    assert old in text
    with pytest.raises(ValueError, match=rf"ferry\.cpn:\d+: .*{message}") as error:
        read_cpn(text.replace(old, new, 1).encode("iso-8859-1"), "ferry.cpn")
    if line is not None:
        assert str(error.value).startswith(f"ferry.cpn:{line}: ")


BOMB = b"""<?xml version="1.0"?>
<!DOCTYPE pnml [<!ENTITY a "aaaaaaaaaa"><!ENTITY b "&a;&a;&a;&a;&a;&a;&a;&a;">]>
<pnml><net id="n" type="ptnet"><place id="p"><name><text>&b;</text></name></place></net></pnml>
"""


def test_entities_are_refused(tmp_path: Path) -> None:
    for read in (read_cpn, read_pnml):
        with pytest.raises(ValueError, match="bomb:2: declares entities"):
            read(BOMB, "bomb")
    secret = tmp_path / "secret"
    secret.write_text("secret", encoding="utf-8")
    outside = f'<!DOCTYPE pnml [<!ENTITY x SYSTEM "{secret}">]><pnml>&x;</pnml>'
    with pytest.raises(ValueError, match="declares entities"):
        read_pnml(outside.encode(), "outside")


PNML = """<?xml version="1.0"?>
<pnml xmlns="http://www.pnml.org/version-2009/grammar/pnml">
 <net id="n" type="http://www.pnml.org/version-2009/grammar/ptnet">
  <name><text>two pages</text></name>
  <page id="a">
   <place id="p"><name><text>free</text></name>
    <initialMarking><text>2</text></initialMarking></place>
   <transition id="t"><name><text>take</text></name></transition>
   <referencePlace id="r" ref="q"/>
   <arc id="x" source="p" target="t"/><arc id="y" source="t" target="r"/>
  </page>
  <page id="b">
   <place id="q"><name><text>free</text></name><toolspecific tool="x" version="1"/></place>
   <place id="never"/>
   <transition id="u"/><transition id="dead"/>
   <referencePlace id="s" ref="r2"/><referencePlace id="r2" ref="p"/>
   <arc id="z" source="q" target="u"><inscription><text>2</text></inscription></arc>
   <arc id="w" source="u" target="s"><inscription><text>2</text></inscription></arc>
   <arc id="v" source="never" target="dead"/>
  </page>
 </net>
</pnml>
"""


def test_pnml_has_pages_and_references() -> None:
    document, notes = read_pnml(PNML.encode(), "two.pnml")
    assert size(from_document(document, "two")) == (3, 3)
    assert notes == [
        "1 parts for one tool only",
        "2 pages, whose elements are now on one",
        "1 transitions that can never fire",
        "1 places that are always empty",
    ]


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("grammar/ptnet", "grammar/colournet", "3: expected a place/transition net"),
        ("grammar/ptnet", "grammar/symmetricnet", "7: place p: the element initialMarking '2'"),
        ('ref="q"', 'ref="r"', "10: target: references lead in a circle"),
        ('source="p" target="t"', 'source="p" target="q"', "10: expected an arc between a place"),
        ("<text>2</text></inscription>", "<text>-2</text></inscription>", "17: expected a whole"),
        ('id="x" source="p"', 'id="x" source="pp"', "10: source: no element has the id 'pp'"),
        (
            '<arc id="x" source="p" target="t"/>',
            '<arc id="x" source="p" target="t" type="test"><type value="reset"/></arc>',
            "10: expected one type",
        ),
        (
            '<place id="never"/>',
            '<place id="never"><capacity><text>3</text></capacity></place>',
            "14: places with a capacity are not read",
        ),
        (
            '<place id="never"/>',
            '<place id="never" capacity="3"/>',
            "14: places with a capacity are not read",
        ),
        ('<place id="never"/>', '<place id="p"/>', "14: two elements have the id p"),
        *(
            (
                'source="p" target="t"/>',
                f'source="p" target="t" type="{kind}"/>',
                f"10: arcs of the type {kind} are not read",
            )
            for kind in ("transport", "timed")
        ),
        (
            '<arc id="x" source="p" target="t"/>',
            '<inhibitor><arc id="x" source="p" target="t"/></inhibitor>',
            "10: arc x: elements within inhibitor are not read",
        ),
        (
            '<arc id="x" source="p" target="t"/>',
            '<inhibitorArc id="x" source="p" target="t"/>',
            "10: inhibitorArc x: elements within inhibitorArc are not read",
        ),
        (
            '<arc id="x" source="p" target="t"/>',
            '<arc id="x" source="p" target="t"><toolspecific tool="y" version="1"><kind>'
            "inhibitor</kind></toolspecific></arc>",
            "10: arc x: the element toolspecific",
        ),
        (
            '<place id="never"/>',
            '<place id="never"><hlinitialMarking/></place>',
            "14: place never: the element hlinitialMarking is not read",
        ),
        (
            '<place id="never"/>',
            '<place id="never" invariant="&lt; 5"/>',
            "14: place never: the attribute invariant '< 5' is not read",
        ),
        (
            '<transition id="u"/>',
            '<transition id="u" urgent="true"/>',
            "15: transition u: the attribute urgent 'true' is not read",
        ),
        (
            '<transition id="u"/>',
            '<transition id="u"><priority><value>2</value></priority></transition>',
            "15: transition u: the element priority '2' is not read",
        ),
        (
            '<transition id="u"/>',
            '<transition id="u"><interval closure="closed"/></transition>',
            "15: transition u: the element interval is not read",
        ),
        (
            "<inscription><text>2</text></inscription></arc>",
            "<inscription><text>2</text></inscription><inscription/></arc>",
            "17: arc z: two elements inscription",
        ),
        ("<text>2</text></inscription>", "<text>99</text></inscription>", "17: expected at most"),
    ],
)
def test_errors_of_pnml_have_a_line(old: str, new: str, message: str) -> None:
    with pytest.raises(ValueError, match=f"two.pnml:{re.escape(message)}"):
        read_pnml(PNML.replace(old, new, 1).encode(), "two.pnml")


def test_drawings_and_values_that_say_nothing_are_no_matter() -> None:
    plain, _ = read_pnml(PNML.encode(), "two.pnml")
    decorated = (
        PNML.replace('<place id="never"/>', '<place id="never" displayName="true" capacity="0"/>')
        .replace('source="p" target="t"/>', 'source="p" target="t" type="normal" weight="1"/>')
        .replace(
            '<transition id="u"/>',
            '<transition id="u"><orientation><value>0</value></orientation><rate><value>1.0</value>'
            "</rate><timed><value>false</value></timed><priority><value>1</value></priority>"
            "</transition>",
        )
        .replace(
            "<page", "<finalmarkings><marking><place idref='p'/></marking></finalmarkings><page", 1
        )
    )
    document, notes = read_pnml(decorated.encode(), "two.pnml")
    assert document == plain
    assert {"1 elements finalmarkings", "1 rates of transitions"} <= set(notes)


def test_the_weight_of_an_arc_may_be_an_attribute() -> None:
    weighted = PNML.replace("><inscription><text>2</text></inscription></arc>", ' weight="2"/>')
    assert read_pnml(weighted.encode(), "two.pnml") == read_pnml(PNML.encode(), "two.pnml")


FERRY = (DATA / "ferry.cpn").read_text()


def line_of(text: str, part: str) -> int:
    return text[: text.index(part)].count("\n") + 1


@pytest.mark.parametrize(
    ("pattern", "new", "message"),
    [
        (
            r"(?s)<arc (?:(?!</arc>).)*?(<transend idref=\"\w+\")",
            "transend",
            "the transition of this arc",
        ),
        (
            r"(?s)<arc (?:(?!</arc>).)*?(<placeend idref=\"\w+\")",
            "placeend",
            "the place of this arc",
        ),
    ],
)
def test_arcs_that_lead_nowhere_have_a_line(pattern: str, new: str, message: str) -> None:
    part = re.search(pattern, FERRY)
    assert part is not None
    damaged = FERRY[: part.start(1)] + f'<{new} idref="ID9999"' + FERRY[part.end(1) :]
    line = FERRY[: part.start()].count("\n") + 1
    with pytest.raises(ValueError, match=rf"ferry.cpn:{line}: {message} is missing: .*'ID9999'"):
        read_cpn(damaged.encode(), "ferry.cpn")


@pytest.mark.parametrize(
    ("part", "message"),
    [
        (
            '<fusion id="F" name="both"><fusion_elm idref="ID9"/></fusion>',
            "the place of fusion set",
        ),
        (
            '<monitorblock name="M"><monitor id="M1" name="m"><node idref="ID9"/></monitor>'
            "</monitorblock>",
            "the node of this monitor",
        ),
        ('<instances><instance id="I" page="ID9"/></instances>', "the page of this instance"),
    ],
)
def test_references_to_nothing_are_refused(part: str, message: str) -> None:
    damaged = FERRY.replace("</cpnet>", f"{part}\n</cpnet>")
    line = line_of(damaged, part)
    with pytest.raises(ValueError, match=f"ferry.cpn:{line}: {message}.*'ID9'"):
        read_cpn(damaged.encode(), "ferry.cpn")


def two_pages(portsock: str) -> bytes:
    """A page within another: a token goes from a to b through the port p."""
    return f"""<?xml version="1.0"?>
<workspaceElements><cpnet>
<globbox><color id="C"><id>UNIT</id><unit/></color></globbox>
<page id="P1"><pageattr name="top"/>
<place id="a"><text>a</text><type><text>UNIT</text></type><initmark><text>1`()</text>
</initmark></place>
<trans id="s"><text>s</text>
<subst subpage="P2" portsock="{portsock}"/></trans>
<arc id="x" orientation="PtoT"><transend idref="s"/><placeend idref="a"/></arc></page>
<page id="P2"><pageattr name="inner"/>
<place id="p"><text>p</text><type><text>UNIT</text></type></place>
<place id="b"><text>b</text><type><text>UNIT</text></type></place>
<trans id="t"><text>t</text></trans>
<arc id="y" orientation="PtoT">
<transend idref="t"/><placeend idref="p"/><annot><text>()</text></annot></arc>
<arc id="z" orientation="TtoP">
<transend idref="t"/><placeend idref="b"/><annot><text>()</text></annot></arc>
</page></cpnet></workspaceElements>
""".encode()


def test_ports_lead_to_places_of_their_page() -> None:
    document, _ = read_cpn(two_pages("(p,a)"), "pages.cpn")
    assert size(from_document(document, "pages")) == (2, 1)
    for pairs, message in (
        ("(q,a)", "the port q is not on the page inner"),
        ("(p,q)", "the socket q is not on this page"),
        ("p,a", "portsock: expected pairs"),
    ):
        with pytest.raises(ValueError, match=f"pages.cpn:8: {message}"):
            read_cpn(two_pages(pairs), "pages.cpn")


def test_chance_decides_the_conflicts_of_imported_nets() -> None:
    """Two transitions that take one token each fire in about half of the firings."""
    document, _ = read_cpn(two_pages("(p,a)"), "pages.cpn")
    assert document["run"] == {"choice": "bindings"}
    pnml = PNML.replace(
        '<transition id="u"/>', '<transition id="u"/><transition id="v2"/>'
    ).replace(
        "</page>\n </net>",
        '<arc id="z2" source="q" target="v2"><inscription><text>2</text></inscription></arc>'
        '<arc id="w2" source="v2" target="s"><inscription><text>2</text></inscription></arc>'
        "</page>\n </net>",
    )
    document, _ = read_pnml(pnml.encode(), "two.pnml")
    play = from_document(document, "two").play(seed=1)
    fired = [it.transition for it in (play.step() for _ in range(400)) if it is not None]
    assert 60 < sum(it.endswith("v2") for it in fired) < 140


def written() -> dict[str, bytes]:
    document, _ = read_cpn((DATA / "ferry.cpn").read_bytes(), "ferry.cpn")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", LeftOutWarning)
        return {ending: encode(document, Path(f"x{ending}")) for ending in FORMATS}


WRITTEN = written()


@given(st.data())
@settings(
    max_examples=100, deadline=None, suppress_health_check=[HealthCheck.too_slow], derandomize=True
)
def test_mutated_files_are_read_or_refused(data: st.DataObject) -> None:
    """A damaged file is never a traceback: it is a net or a `ValueError`."""
    ending = data.draw(st.sampled_from(sorted(FORMATS)))
    source = (
        (DATA / "ferry.cpn").read_bytes()
        if ending == ".cpn" and data.draw(st.booleans())
        else WRITTEN[ending]
    )
    text = bytearray(source)
    for _ in range(data.draw(st.integers(1, 4))):
        at = data.draw(st.integers(0, len(text) - 1))
        length = data.draw(st.integers(0, 30))
        other = data.draw(st.integers(0, len(text) - 1))
        new = data.draw(
            st.one_of(
                st.just(b""),
                st.binary(max_size=4),
                st.sampled_from([b"1`(", b"@+", b"if ", b"<", b"[", b"~", b"99999999999", b"c"]),
                st.just(bytes(text[other : other + length])),
            )
        )
        text[at : at + length] = new
        if not text:
            return
    read = {".cpn": read_cpn, ".pnml": read_pnml}[ending]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            document, _ = read(bytes(text), "file")
            from_document(document, "file")
        except ValueError as error:
            assert str(error)


@given(st.text(alphabet='abcxy01`+@<>()[]{}=,;:#~"| ifthenelscasfvl', max_size=40))
@settings(max_examples=100, deadline=None, derandomize=True)
def test_any_text_is_an_inscription_or_refused(text: str) -> None:
    source = (DATA / "ferry.cpn").read_text(encoding="iso-8859-1")
    escaped = text.replace("&", "&amp;").replace("<", "&lt;")
    for place in ("1`c</text>", "[c &lt;&gt; 0]"):
        changed = source.replace(
            place,
            escaped + place.partition("<")[2].join(["<", ""])
            if place.endswith("</text>")
            else escaped,
            1,
        )
        try:
            read_cpn(changed.encode("iso-8859-1"), "file")
        except ValueError as error:
            assert str(error)


# --- expressions ----------------------------------------------------------------------------------

INTS = [
    "i + 2 * j",
    "(i + 2) * j",
    "i - (j - 3)",
    "i - j - 3",
    "i // j",
    "i % j",
    "-i // j",
    "(-i) % j",
    "i // -j",
    "-(i + j) * 2",
    "if i > j and not (i == 7) or b then i else -j",
    "min(i, j) + max(i, -j)",
    "abs(j - i)",
    "floor(r / 2)",
    "ceil(-r)",
    "round(2.5)",
    "round(-r)",
    "p.i * p.i",
    "(p with (i = i + 1)).i",
    "(if b then p else p with (i = 1)).i",
    "if p == P(7, 2.25, true) then 1 else 0",
    "if p != p with (r = r + 0.5) then 1 else 0",
    "if k < late then 1 else 0",
    "if Kind.early <= k then n else 0",
    "(t + 1500 us) // 1 ms",
    "(if t % 2 ms == 1 ms then 2 else 3)",
    "if b == (i > j) then 1 else 0",
    'if name == "a" then 1 else 0',
    "- - i",
]
"""Of i = 7, j = 3, r = 2.25, b = true, p = P(i, r, b), k = early, t = 5 ms, name = "a"."""

REALS = [
    "r * 2",
    "i / 2",
    "r - i",
    "-r + 1.5e-3",
    "to_real(i) // r",
    "r % 0.5",
    "sqrt(r) * exp(0) + log(1)",
    "in_seconds(t) * 1000",
    "t / 2 ms",
    "min(r, i)",
    "if r == 2.25 and r != 2 then r else 0",
    "half * i",
]


START = 'Start(P(7, 2.25, true), 3, early, 5 ms, "a")'


def arithmetic() -> dict[str, Any]:
    """A net that computes each expression once."""
    lines = [*((text, "int") for text in INTS), *((text, "real") for text in REALS)]
    places: dict[str, Any] = {
        f"{kind}{number}": {"colour": kind, "sink": True} for number, (_, kind) in enumerate(lines)
    }
    puts: list[Any] = [
        {"place": f"{kind}{number}", "token": text} for number, (text, kind) in enumerate(lines)
    ]
    return {
        "name": "arithmetic",
        "colours": {
            "Kind": ["early", "late"],
            "P": {"i": "int", "r": "real", "b": "bool"},
            "Start": {"p": "P", "j": "int", "k": "Kind", "t": "time", "name": "text"},
        },
        "values": {"n": 4, "half": 0.5},
        "places": {
            "start": {
                "colour": "Start",
                "initial": ['Start(P(7, 2.25, true), 3, early, 5 ms, "a")'],
            },
            "done": {"sink": True},
        }
        | places,
        "transitions": {
            "compute": {
                "take": [{"place": "start", "token": "Start(p, j, k, t, name)"}],
                "let": ["i = p.i", "r = p.r", "b = p.b"],
                "put": ["done", *puts],
            }
        },
    }


def results(model: NetModel) -> dict[str, str]:
    """Return the values of all expressions."""
    marking = model.state_space(reach="done == 1").document["reached"]["marking"]
    return {path.partition("/")[2]: tokens[0] for path, tokens in marking}


def test_expressions_keep_their_values(tmp_path: Path) -> None:
    model = from_document(arithmetic(), "arithmetic")
    first = results(model)
    assert first["int4"] == str(7 // 3) and first["int7"] == str(-7 % 3)
    assert len(first) == len(INTS) + len(REALS) + 1
    assert results(again(model, tmp_path, ".cpn")) == first
    if cpn_ml_check.SML is None:
        pytest.skip("values in Standard ML need sml of the package smlnj")
    # In Standard ML, all are one tuple of the inscriptions, with the token taken apart.
    file = tmp_path / "again.cpn"
    root = fromstring(file.read_bytes())
    names = {it.get("id"): it.findtext("text", "") for it in root.iter("place")}
    arcs = {}
    for arc in root.iter("arc"):
        end = arc.find("placeend")
        assert end is not None
        arcs[names[end.get("idref")]] = arc.findtext("annot/text", "")
    initial = next(it for it in root.iter("place") if it.findtext("text") == "start")
    token = initial.findtext("initmark/text", "").removeprefix("1`")
    computed = cpn_ml_check.evaluate(
        file, arcs["start"], token, {name: arcs[name] for name in first if name != "done"}, tmp_path
    )
    for name, value in first.items():
        if name.startswith("int"):
            assert computed[name] == float(value), arcs[name]
        elif name.startswith("real"):
            assert computed[name] == pytest.approx(float(value), rel=1e-9), arcs[name]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("n + 1 - (m - 2)", "n + 1 - (m - 2)"),
        ("~n * (m + ~1)", "-n * (m + -1)"),
        (
            "if n <> m andalso not (n = 1) then n div 2 else m mod 3",
            "if n != m and not n == 1 then n // 2 else m % 3",
        ),
        ("let val a = n + 1 in a * a end", "(n + 1) * (n + 1)"),
        ("twice (n, 3)", "(n + 3) * 2"),
        ("case k of low => 1 | high => n", "if k == low then 1 else n"),
        ("#2 p + #1 (n, m)", "p.f2 + n"),
        ("floor (exponential (1.0 / 4.0) + 0.5)", "floor(exponential(4.0) + 0.5)"),
        ("normal (2.0, 3.0)", "normal(2.0, sqrt(3.0))"),
        ("erlang (2, 0.5)", "erlang(2, 2 / 0.5)"),
        ("bernoulli (0.25) = 1", "bernoulli(0.25)"),
        ("Small.ran ()", "discrete(1, 4)"),
        ("Level.ran ()", "if bernoulli(1.0 / 2) then low else high"),
        ("time () + t", "now() + t"),
        (
            "if t > 5 then t div 2 else IntInf.fromInt n * t",
            "if t > 5 ms then (t // 2 ms) * 1 ms else n * t",
        ),
        ("String.size s", None),
        ("f n", None),
        ("let val r = discrete (1, 2) in r + r end", None),
    ],
)
def test_cpn_ml_means_an_expression(text: str, expected: str | None) -> None:
    meaning = Meaning(
        colours={
            "INT": Colour("int"),
            "TIME": Colour("time"),
            "Small": Colour("int", domain=[("int", it) for it in range(1, 5)]),
            "Level": Colour("Level", domain=[("name", "low"), ("name", "high")]),
            "Pair": Colour("Pair"),
        },
        records={"Pair": {"f1": "int", "f2": "int"}},
        products={"Pair"},
        members={"low": "low", "high": "high"},
        variables={"n": "INT", "m": "INT", "t": "TIME", "k": "Level", "p": "Pair", "s": "INT"},
        unit="ms",
    )
    for _, name, of in parse_declarations("fun twice (a, b) = (a + b) * 2; fun f x = f (x + 1);"):
        meaning.functions[name] = of
    names = {name: name for name in meaning.variables}
    if expected is None:
        with pytest.raises(MlError):
            meaning.text(meaning.expand(parse_ml(text)), names)
    else:
        assert meaning.text(meaning.expand(parse_ml(text)), names) == expected


# --- any net --------------------------------------------------------------------------------------

COLOURS = {"Kind": ["red", "blue"], "Pair": {"a": "int", "k": "Kind"}}
PATTERNS: dict[str, list[Any]] = {
    "unit": [None],
    "int": ["x", "y", "1", "x + 1", "_"],
    "Kind": ["k", "red", "Kind.blue", "_"],
    "Pair": ["p", "Pair(x, k)", "(1, k)", "Pair(a = y)", "Pair(x, red)", "_"],
}
VALUES = {
    "unit": ["()"],
    "int": ["0", "1", "2"],
    "Kind": ["red", "blue"],
    "Pair": ["Pair(1, red)", "(0, blue)"],
}
OUTPUTS: dict[str, list[Any]] = {
    "unit": [None, "if {c} then () else empty"],
    "int": ["0", "(x0 + 1) % 3", "if {c} then x0 else 2", "if {c} then 1 else empty"],
    "Kind": ["red", "if {c} then blue else red"],
    "Pair": ["Pair(x0 % 2, blue)", "Pair(1, red) with (a = 1 - x0 // 2)"],
}


@st.composite
def nets(draw: st.DrawFn) -> dict[str, Any]:
    """A net of a few places and transitions, with pages, patterns, guards and conditions."""

    def one_of(items: Sequence[Any]) -> Any:
        return draw(st.sampled_from(items))

    kinds = draw(st.lists(st.sampled_from(sorted(PATTERNS)), min_size=2, max_size=4))
    places: dict[str, Any] = {"n": {"colour": "int", "initial": ["0"], "rest": True}}
    for number, kind in enumerate(kinds):
        initial = draw(st.lists(st.sampled_from(VALUES[kind]), max_size=2))
        table = {} if kind == "unit" else {"colour": kind}
        places[f"p{number}"] = table | {"initial": initial}
    tables: dict[str, Any] = {}
    for number in range(draw(st.integers(1, 3))):
        takes: list[Any] = [{"place": "n", "token": "x0"}]
        for source in draw(st.lists(st.integers(0, len(kinds) - 1), max_size=2)):
            pattern = one_of(PATTERNS[kinds[source]])
            if pattern == "x + 1":
                pattern = "x0 + 1"
            take = {"place": f"p{source}"} | ({"token": pattern} if pattern else {})
            takes.append(take)
        puts: list[Any] = [{"place": "n", "token": one_of(["x0", "(x0 + 1) % 3"])}]
        for target in draw(st.lists(st.integers(0, len(kinds) - 1), max_size=2)):
            token = one_of(OUTPUTS[kinds[target]])
            put = {"place": f"p{target}"}
            if token:
                put["token"] = token.replace("{c}", one_of(["x0 > 0", "x0 == 1 or x0 == 2"]))
            if draw(st.booleans()):
                put["when"] = one_of(["x0 < 2", "not (x0 == 1)", "lucky"])
            puts.append(put)
        tables[f"t{number}"] = {"take": takes, "put": puts}
        for held in draw(st.lists(st.integers(0, len(kinds) - 1), max_size=2, unique=True)):
            key, place = one_of(["inhibit", "reset", "read"]), f"p{held}"
            if key == "read" and all(take["place"] != place for take in takes):
                tables[f"t{number}"]["read"] = [{"place": place}]
            elif key != "read":
                tables[f"t{number}"].setdefault(key, []).append(place)
        if any(put.get("when") == "lucky" for put in puts):
            tables[f"t{number}"]["let"] = ["lucky = bernoulli(0.25)"]
        if draw(st.booleans()):
            tables[f"t{number}"]["when"] = one_of(["x0 < 2", "x0 >= 1 and x0 != 2"])
    inner = {name: tables.pop(name) for name in list(tables) if draw(st.booleans())}
    document: dict[str, Any] = {"name": "any", "colours": COLOURS, "places": places}
    document["transitions"] = tables
    if inner:
        document["pages"] = {"inner": {"transitions": inner}}
    return document


@given(nets())
@settings(max_examples=60, deadline=None, suppress_health_check=list(HealthCheck), derandomize=True)
def test_any_net_has_the_same_markings_after_cpn_tools(document: dict[str, Any]) -> None:
    obey_kernel_rules(document)
    model = from_document(document, "any")
    before = model.state_space(2000).document
    data = encode(model.document(), Path("any.cpn"))
    check_file(fromstring(data))
    after, _ = read_cpn(data, "any.cpn")
    found = from_document(after, "any").state_space(2000).document
    assert found["complete"] == before["complete"]
    if before["complete"]:
        assert (found["states"], found["arcs"]) == (before["states"], before["arcs"])


@pytest.mark.parametrize(
    ("name", "states", "dead"),
    [
        # Place b inhibits t, which never fires.
        ("pnml-inhibitor-attribute", 1, {"n/t"}),
        ("pnml-inhibitor-attribute-tapaal", 1, {"n/t"}),
        # The only firing takes two of four tokens, and the others by the reset.
        ("pnml-reset-attribute", 2, set()),
    ],
)
def test_arcs_of_pnml_that_hold_or_empty(name: str, states: int, dead: set[str]) -> None:
    space = load(ROOT / "fuzz" / "corpus" / "net" / f"{name}.pnml").state_space()
    assert space.states == states
    assert {one["path"] for one in space.transitions if one["dead"]} == dead


@pytest.mark.parametrize(
    ("arc", "expected"),
    [
        ('type="inhibitor"><inscription><text>3</text></inscription>', ("inhibit", "count", 3)),
        ('><type value="reset"/>', ("reset", None, "q")),
        ('><type value="test"/>', ("read", None, "q")),
        ("><arctype><text>read</text></arctype>", ("read", None, "q")),
    ],
)
def test_types_of_arcs_in_pnml(arc: str, expected: tuple[str, str | None, Any]) -> None:
    text = (
        '<pnml><net id="n"><place id="q"><initialMarking><text>1</text></initialMarking></place>'
        '<place id="r"/><transition id="t"/>'
        f'<arc id="x" source="q" target="t" {arc}</arc>'
        '<arc id="y" source="t" target="r"/></net></pnml>'
    )
    document, _ = read_pnml(text.encode(), "net.pnml")
    again, _ = read_pnml(encode(from_document(document, "n").document(), Path("n.pnml")), "n.pnml")
    assert again["transitions"]["t"][expected[0]] == document["transitions"]["t"][expected[0]]
    key, part, value = expected
    (entry,) = document["transitions"]["t"][key]
    assert (entry[part] if part else entry) == value
    assert "take" not in document["transitions"]["t"]


HOLDS = {
    "name": "holds",
    "places": {"a": {"initial": 3}, "b": {"initial": 2}, "c": {"initial": 1}, "d": {"sink": True}},
    "transitions": {
        "t": {"take": ["a"], "put": ["c"], "read": [{"place": "b", "count": 2}], "inhibit": ["d"]},
        "u": {"take": ["b"], "put": ["d"], "reset": ["c"]},
        "v": {"take": ["c"], "put": ["a"], "inhibit": ["a"]},
    },
}


@pytest.mark.parametrize("ending", [".pnml", ".cpn"])
def test_arcs_that_hold_or_empty_are_written(tmp_path: Path, ending: str) -> None:
    model = from_document(HOLDS, "holds")
    read = again(model, tmp_path, ending)
    # By hand: with two tokens in b, t leads from 3 tokens in a to 2, 1 and 0, and then v back to 1.
    # From each of these four, u fires twice and empties c, so that t and v cannot fire again.
    assert size(read) == size(model) == (3 * 4, 3 + 1 + 2 * 4)
    transitions = read.document()["transitions"]
    for name, table in HOLDS["transitions"].items():  # type: ignore[attr-defined]
        keys = ("inhibit", "reset", "read") if ending == ".pnml" else ("inhibit", "reset")
        for key in keys:
            assert transitions[name].get(key) == table.get(key), (name, key)


@pytest.mark.parametrize(
    ("places", "arc", "message"),
    [
        ({"q": {"order": "fifo"}}, {"inhibit": ["q"]}, "without order and delays"),
        ({"q": {}}, {"inhibit": [{"place": "q", "count": 2}]}, "neither token nor count"),
        ({"q": {}}, {"take": ["p", "q"], "read": ["q"]}, "which it takes from"),
    ],
)
def test_holds_that_cpn_tools_has_not_are_refused(
    places: dict[str, Any], arc: dict[str, Any], message: str
) -> None:
    table = {"take": ["p"], "put": ["p", "q"]} | arc
    places = {"p": {"initial": 1}, "q": {"rest": True} | places["q"]}
    back = {"take": ["q"], "put": ["q"]}
    model = from_document(
        {"name": "n", "places": places, "transitions": {"t": table, "b": back}}, "n"
    )
    with pytest.raises(ValueError, match=message):
        encode(model.document(), Path("n.cpn"))


def arcs_of_pnml(arcs: str, kind: str = "") -> dict[str, Any]:
    marking = "" if kind else "<initialMarking><text>5</text></initialMarking>"
    text = (
        f'<pnml><net id="n" type="{kind}"><place id="q">{marking}</place>'
        '<place id="r"/><transition id="t"/>'
        f'{arcs}<arc id="y" source="t" target="r"/></net></pnml>'
    )
    document, _ = read_pnml(text.encode(), "net.pnml")
    transition: dict[str, Any] = document["transitions"]["t"]
    return transition


def test_each_of_several_holds_is_a_condition() -> None:
    arc = '<arc id="{}" source="q" target="t" type="{}" weight="{}"/>'
    both = arc.format("a", "{0}", 3) + arc.format("b", "{0}", 2)
    assert arcs_of_pnml(both.format("inhibitor"))["inhibit"] == [{"place": "q", "count": 2}]
    assert arcs_of_pnml(both.format("test"))["read"] == [{"place": "q", "count": 3}]
    with pytest.raises(ValueError, match="expected a weight of 1 or more"):
        arcs_of_pnml(arc.format("a", "inhibitor", 0))
    with pytest.raises(ValueError, match="arcs of the type inhibitor are not read"):
        arcs_of_pnml(arc.format("a", "inhibitor", 1), symmetric.TYPES[0])


def test_holds_of_timed_places_have_a_line() -> None:
    text = encode(from_document(HOLDS, "holds").document(), Path("n.cpn"))
    timed = text.replace(b"<unit />", b"<timed /><unit />")
    assert timed != text
    with pytest.raises(
        ValueError, match=r"n\.cpn:\d+: transition t: inhibitor arcs of places whose"
    ):
        read_cpn(timed, "n.cpn")


def test_fires_means_any_part_of_a_transition() -> None:
    def model_of_parts(outline: dict[str, Any]) -> NetModel:
        places = {"a": {"colour": "int", "initial": ["1", "2", "3"]}, "b": {"sink": True}}
        transitions = {
            name: {"take": [{"place": "a", "token": token}], "put": ["b"], "outline": outline}
            for name, token in (("go", "1"), ("go_2", "2"))
        }
        return from_document({"name": "n", "places": places, "transitions": transitions}, "n")

    formula = 'AG(fires("go") or dead)'
    (held,) = model_of_parts({"id": "t"}).state_space(holds=[formula]).formulas
    assert (held["formula"], held["holds"]) == (formula, True)
    # Without the id, go has fired before go_2 can.
    (alone,) = model_of_parts({}).state_space(holds=[formula]).formulas
    assert (alone["formula"], alone["holds"]) == (formula, False)


def test_what_arcs_and_marks_of_other_tools_cannot_say(tmp_path: Path) -> None:
    net = Net("marks")
    place, target = net.place("p", initial=1, rest=True), net.place("q", sink=True)
    with net.transition("t") as t:
        t.read(place)
        t.reset(place)
        t.put(target)
    with pytest.raises(ValueError, match="read of p, which it resets"):
        net.save(tmp_path / "marks.cpn")
    with pytest.warns(LeftOutWarning, match="1 marks rest and conserve of places"):
        net.save(tmp_path / "marks.pnml")


@pytest.mark.parametrize("ending", ["cpn", "pnml"])
def test_names_with_a_slash_are_exported(ending: str, tmp_path: Path) -> None:
    net = Net("device")
    waiting, done = net.place("I/O", initial=3), net.place("done", sink=True)
    with net.transition("read/write") as t:
        t.take(waiting)
        t.put(done)
    net.save(tmp_path / f"net.{ending}")
    assert load(tmp_path / f"net.{ending}").run(until=1.0).nodes["path"].to_list()[:1] == [
        "device/I_O"
    ]
