"""Symmetric nets in PNML, and ids that place/transition nets keep."""

from collections.abc import Sequence
from pathlib import Path
from xml.etree.ElementTree import fromstring

import pytest

from headrace.net import load
from headrace.net.exchange.pnml import read as read_pnml
from headrace.net.model import from_document

Arcs = Sequence[tuple[str, str, str]]


def subterms(tag: str, *terms: str) -> str:
    return f"<{tag}>{''.join(f'<subterm>{term}</subterm>' for term in terms)}</{tag}>"


def copies(number: int, term: str) -> str:
    return subterms(
        "numberof", f'<numberconstant value="{number}"><positive/></numberconstant>', term
    )


def label(tag: str, term: str) -> str:
    return f"<{tag}><structure>{term}</structure></{tag}>" if term else ""


def sort(name: str) -> str:
    return f'<usersort declaration="{name}"/>'


def variable(name: str) -> str:
    return f'<variable refvariable="{name}"/>'


def symmetric(
    declarations: str,
    places: dict[str, tuple[str, str]],
    transitions: dict[str, str],
    arcs: Arcs,
) -> bytes:
    text = '<page id="page">'
    for name, (kind, initial) in places.items():
        marking = label("hlinitialMarking", initial)
        text += f'<place id="{name}">{label("type", kind)}{marking}</place>\n'
    for name, condition in transitions.items():
        text += f'<transition id="{name}">{label("condition", condition)}</transition>\n'
    for number, (source, target, term) in enumerate(arcs):
        inscription = label("hlinscription", term)
        text += f'<arc id="a{number}" source="{source}" target="{target}">{inscription}</arc>\n'
    declared = label("declaration", f"<declarations>{declarations}</declarations>")
    return (
        '<pnml xmlns="http://www.pnml.org/version-2009/grammar/pnml"><net id="net" type='
        f'"http://www.pnml.org/version-2009/grammar/symmetricnet">{text}</page>{declared}'
        "</net></pnml>"
    ).encode()


def philosophers(number: int) -> bytes:
    """Return the philosophers of the Model Checking Contest."""
    members = "".join(f'<feconstant id="c{each}" name="{each}"/>' for each in range(number))
    declarations = (
        f'<variabledecl id="x" name="x">{sort("phil")}</variabledecl>'
        f'<namedsort id="phil" name="Philosopher"><cyclicenumeration>{members}</cyclicenumeration>'
        "</namedsort>"
    )
    every, x = f"<all>{sort('phil')}</all>", copies(1, variable("x"))
    right = copies(1, subterms("successor", variable("x")))
    empty = ("Catch1", "Catch2", "Eat")
    places = {
        name: (sort("phil"), "" if name in empty else every) for name in ("Think", "Fork", *empty)
    }
    arcs = [
        *(("Think", "FF1a", x), ("Fork", "FF1a", x), ("FF1a", "Catch1", x)),
        *(("Think", "FF1b", x), ("Fork", "FF1b", right), ("FF1b", "Catch2", x)),
        *(("Catch1", "FF2a", x), ("Fork", "FF2a", right), ("FF2a", "Eat", x)),
        *(("Catch2", "FF2b", x), ("Fork", "FF2b", x), ("FF2b", "Eat", x)),
        *(("Eat", "End", x), ("End", "Think", x), ("End", "Fork", subterms("add", x, right))),
    ]
    return symmetric(
        declarations, places, dict.fromkeys(("FF1a", "FF1b", "FF2a", "FF2b", "End"), ""), arcs
    )


DECLARATIONS = (
    '<namedsort id="pair" name="Pair"><productsort>'
    f"{sort('colour')}{sort('level')}</productsort></namedsort>"
    '<namedsort id="colour" name="Colour"><finiteenumeration>'
    '<feconstant id="r" name="red"/><feconstant id="g" name="green"/>'
    "</finiteenumeration></namedsort>"
    '<namedsort id="level" name="Level"><finiteintrange start="1" end="3"/></namedsort>'
    f'<variabledecl id="c" name="c">{sort("colour")}</variabledecl>'
    f'<variabledecl id="l" name="val">{sort("level")}</variabledecl>'
    f'<variabledecl id="m" name="m">{sort("level")}</variabledecl>'
)
RANGE = '<finiteintrange start="1" end="3"/>'
TOP = f'<finiteintrangeconstant value="3">{RANGE}</finiteintrangeconstant>'


def climb(condition: str) -> bytes:
    """Return a net whose pairs of colour and level rise by one level."""
    pair = subterms("tuple", variable("c"), variable("l"))
    higher = subterms("tuple", variable("c"), subterms("successor", variable("l")))
    every = subterms("tuple", f"<all>{sort('colour')}</all>", f"<all>{sort('level')}</all>")
    return symmetric(
        DECLARATIONS,
        {"at": (sort("pair"), every), "steps": ("<dot/>", copies(9, "<dotconstant/>"))},
        {"climb": condition},
        [
            ("at", "climb", copies(1, pair)),
            ("climb", "at", copies(1, higher)),
            ("steps", "climb", copies(1, "<dotconstant/>")),
        ],
    )


BELOW = subterms("lessthan", variable("l"), TOP)


@pytest.mark.parametrize(
    ("data", "markings"),
    [
        *((philosophers(number), 3**number) for number in (2, 3, 5)),
        # Of one colour, the tokens of level 1 and 2 end in 5 ways.
        (climb(BELOW), 25),
        (climb(subterms("and", BELOW, subterms("not", subterms("equality", variable("c"),
            '<useroperator declaration="g"/>')))), 5),
        # A variable that only the condition has: one transition for each of its values.
        (climb(subterms("and", BELOW, subterms("equality", variable("m"), TOP))), 25),
    ],
)  # fmt: skip
def test_symmetric_nets_have_their_markings(data: bytes, markings: int) -> None:
    document, notes = read_pnml(data, "net.pnml")
    assert document["run"] == {"choice": "bindings"} and not notes
    space = from_document(document, "net").state_space().document
    assert space["complete"] and space["states"] == markings


def test_tuples_are_compared_part_by_part() -> None:
    at, pair = sort("pair"), subterms("tuple", variable("c"), variable("l"))
    every = subterms("tuple", f"<all>{sort('colour')}</all>", f"<all>{sort('level')}</all>")
    others = subterms("subtract", every, copies(1, pair))
    declarations = DECLARATIONS.replace('start="1" end="3"', 'start="1" end="2"')
    data = (
        symmetric(
            declarations,
            {"at": (at, copies(1, subterms("tuple", '<useroperator declaration="r"/>', TOP)))}
            | {"others": (at, "")},
            {"send": subterms("equality", pair, pair)},
            [("at", "send", copies(1, pair)), ("send", "others", others)],
        )
        .replace(b'value="3"', b'value="2"')
        .replace(b'end="3"', b'end="2"')
    )
    document, _ = read_pnml(data, "net.pnml")
    space = from_document(document, "net").state_space(
        holds=['AF(tokens("others") == 3 and tokens("others", (red, 2)) == 0)']
    )
    assert space.states == 2 and space.formulas[0]["holds"]


def test_transitions_of_one_element_share_its_id_until_they_are_written(tmp_path: Path) -> None:
    file = tmp_path / "net.pnml"
    rising = subterms("greaterthan", variable("m"), variable("l"))
    file.write_bytes(climb(rising).replace(b'<place id="at">', b'<place id="at"><name><text>here'
        b'</text></name><graphics><position x="3" y="4"/></graphics>'))  # fmt: skip
    document, _ = read_pnml(file.read_bytes(), "net.pnml")
    outlines = [each["outline"] for each in document["transitions"].values()]
    assert outlines == [{"id": "climb", "label": ""}] * 3
    assert document["places"]["here"]["outline"] == {"id": "at", "at": [3, 4]}
    load(file).save(tmp_path / "again.pnml")
    nodes = fromstring((tmp_path / "again.pnml").read_bytes()).iter()
    ids = [each.get("id") for each in nodes if each.tag.endswith(("}place", "}transition"))]
    assert {"at", "steps", "climb"} < set(ids) and len(set(ids)) == len(ids) == 5


def test_the_values_of_a_free_variable_are_as_likely_as_one_transition() -> None:
    two = '<finiteintrangeconstant value="2">' + RANGE + "</finiteintrangeconstant>"
    document, _ = read_pnml(climb(subterms("greaterthanorequal", variable("m"), two)), "net.pnml")
    assert [each["weight"] for each in document["transitions"].values()] == [0.5, 0.5]
    none = subterms("lessthan", variable("m"), variable("m"))
    with_guard = subterms("and", none, subterms("lessthan", TOP, two))
    _, notes = read_pnml(climb(with_guard), "net.pnml")
    assert "1 transitions whose guard never holds" in notes


def test_members_keep_their_names_where_their_order_does_not_matter() -> None:
    data = symmetric(
        DECLARATIONS,
        {"at": (sort("colour"), copies(2, '<useroperator declaration="g"/>'))},
        {"t": ""},
        [("at", "t", copies(1, variable("c")))],
    )
    document, _ = read_pnml(data, "net.pnml")
    assert document["colours"]["Colour"] == ["red", "green"]
    assert document["places"]["at"]["initial"] == [{"token": "green", "count": 2}]


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        (b"lessthan>", b"gtp>", r"net.pnml:3: gtp of symmetric nets is not read"),
        (b"<finiteenumeration>", b"<partition>", "is no XML"),
        (b'declaration="pair"', b'declaration="pears"', "net.pnml:1: no sort has the id 'pears'"),
        (b'refvariable="c"', b'refvariable="z"', "net.pnml:4: no variable has the id 'z'"),
        (b"<dotconstant/>", b"<string/>", "net.pnml:2: string of symmetric nets is not read"),
    ],
)
def test_errors_of_symmetric_nets_have_a_line(old: bytes, new: bytes, message: str) -> None:
    data = climb(BELOW)
    assert old in data
    with pytest.raises(ValueError, match=message):
        read_pnml(data.replace(old, new), "net.pnml")


def test_ids_and_names_are_the_same_on_the_way_back(tmp_path: Path) -> None:
    file = tmp_path / "net.pnml"
    file.write_text(
        '<pnml><net id="n" type="ptnet"><page id="g">'
        '<place id="p1"><name><text>free room</text></name><initialMarking><text>2</text>'
        '</initialMarking></place><place id="t-7"/>'
        '<transition id="arc1"><name><text>free room</text></name></transition>'
        '<transition id="back"/>'
        '<arc id="x1" source="p1" target="arc1"/><arc id="x2" source="arc1" target="t-7"/>'
        '<arc id="x3" source="t-7" target="back"/><arc id="x4" source="back" target="p1"/>'
        "</page></net></pnml>",
        encoding="utf-8",
    )
    load(file).save(tmp_path / "net.toml")
    load(tmp_path / "net.toml").save(tmp_path / "again.pnml")
    root = fromstring((tmp_path / "again.pnml").read_bytes())
    space = "{http://www.pnml.org/version-2009/grammar/pnml}"
    nodes = [each for tag in ("place", "transition") for each in root.iter(space + tag)]
    names = {each.get("id"): each.findtext(f"{space}name/{space}text") for each in nodes}
    assert names == {"p1": "free room", "t-7": None, "arc1": "free room", "back": None}
    ids = [each.get("id") for each in root.iter() if each.get("id")]
    assert len(ids) == len(set(ids))
    arcs = {(each.get("source"), each.get("target")) for each in root.iter(space + "arc")}
    assert arcs == {("p1", "arc1"), ("arc1", "t-7"), ("t-7", "back"), ("back", "p1")}
