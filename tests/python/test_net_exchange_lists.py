"""Texts, lists and unions of files of CPN Tools, which the document has as numbers and records."""

from pathlib import Path
from xml.sax.saxutils import escape

import pytest

from headrace import RunError
from headrace.net import NetModel
from headrace.net.exchange.cpn_reader import read as read_cpn
from headrace.net.model import from_document

COLOURS = {
    "UNIT": "<unit/>",
    "INT": "<int/>",
    "BOOL": "<bool/>",
    "DATA": "<string/>",
    "NOxDATA": "<product><id>INT</id><id>DATA</id></product>",
    "PACKET": "<union><unionfield><id>Data</id><type><id>NOxDATA</id></type></unionfield>"
    "<unionfield><id>Ack</id><type><id>INT</id></type></unionfield>"
    "<unionfield><id>Reset</id></unionfield></union>",
    "Worker": "<index><ml>1</ml><ml>W</ml><id>wrk</id></index>",
    "Vote": "<enum><id>Yes</id><id>No</id></enum>",
    "WorkerxVote": "<product><id>Worker</id><id>Vote</id></product>",
    "Workers": "<list><id>Worker</id></list>",
    "Votes": "<list><id>WorkerxVote</id></list>",
    "Numbers": "<list><id>INT</id></list>",
}
VARIABLES = {
    "n": "INT", "k": "INT", "d": "DATA", "data": "DATA", "ok": "BOOL", "p": "PACKET",
    "w": "Worker", "vote": "Vote", "votes": "Votes", "workers": "Workers", "l": "Numbers",
    "q": "Numbers",
}  # fmt: skip
CODE = """
fun YesWorkers votes = List.map (fn (w, _) => w) (List.filter (fn (w, vote) => vote = Yes) votes)
fun member (x, l) = if l = [] then false else if x = hd l then true else member (x, tl l)
fun insert (x, []) = [x] | insert (x, y :: ys) = if x = y then y :: ys else x :: y :: ys
"""


def cpn(
    places: dict[str, tuple[str, str]],
    transitions: dict[str, tuple[str, list[tuple[str, str, str]]]],
    code: str = "",
) -> bytes:
    """Return a file of one page: places with colour set and marking, transitions with arcs."""
    parts = ["<ml>val W = 2;</ml>"]
    parts += [f"<color><id>{name}</id>{form}</color>" for name, form in COLOURS.items()]
    parts += [
        f"<var><type><id>{kind}</id></type><id>{name}</id></var>"
        for name, kind in VARIABLES.items()
    ]
    parts += [f"<ml>{escape(line)}</ml>" for line in CODE.strip().splitlines()]
    text = f"<globbox><block><id>b</id>{''.join(parts)}{code}</block></globbox>"
    text += '<page id="P"><pageattr name="net"/>'
    position = '<posattr x="0.0" y="0.0"/>'
    for name, (kind, initial) in places.items():
        text += (
            f'<place id="{name}">{position}<text>{name}</text><type><text>{kind}</text></type>'
            f"<initmark><text>{escape(initial)}</text></initmark></place>"
        )
    number = 0
    for name, (guard, arcs) in transitions.items():
        text += (
            f'<trans id="{name}">{position}<text>{name}</text>'
            f"<cond><text>{escape(guard)}</text></cond></trans>"
        )
        for orientation, place, inscription in arcs:
            number += 1
            text += (
                f'<arc id="A{number}" orientation="{orientation}"><transend idref="{name}"/>'
                f'<placeend idref="{place}"/>'
                f"<annot><text>{escape(inscription)}</text></annot></arc>"
            )
    return (
        f"<?xml version='1.0'?><workspaceElements><cpnet>{text}</page></cpnet></workspaceElements>"
    ).encode()


def model_of(data: bytes) -> NetModel:
    document, notes = read_cpn(data, "net.cpn")
    assert not notes
    return from_document(document, "net")


def size(data: bytes) -> tuple[int, int]:
    document = model_of(data).state_space().document
    assert document["complete"]
    return document["states"], document["arcs"]


PROTOCOL = cpn(
    {
        "send": ("NOxDATA", '1`(1, "COL") ++ 1`(2, "OUR")'),
        "next": ("INT", "1"),
        "limit": ("UNIT", "2`()"),
        "A": ("PACKET", ""),
        "B": ("PACKET", ""),
        "C": ("PACKET", ""),
        "wait": ("INT", "1"),
        "received": ("DATA", '""'),
    },
    {
        "Send": (
            "",
            [
                ("BOTHDIR", "send", "(n, d)"),
                ("BOTHDIR", "next", "n"),
                ("PtoT", "limit", "()"),
                ("TtoP", "A", "Data (n, d)"),
            ],
        ),
        "Transmit": (
            "",
            [
                ("PtoT", "A", "p"),
                ("TtoP", "B", "if ok then 1`p else empty"),
                ("TtoP", "limit", "if ok then empty else 1`()"),
            ],
        ),
        "Receive": (
            "",
            [
                ("PtoT", "B", "Data (n, d)"),
                ("PtoT", "wait", "k"),
                ("TtoP", "wait", "if n = k then k + 1 else k"),
                ("PtoT", "received", "data"),
                ("TtoP", "received", "if n = k then data ^ d else data"),
                ("TtoP", "C", "if n = k then Ack (k + 1) else Ack k"),
            ],
        ),
        "Acknowledge": (
            "",
            [
                ("PtoT", "C", "Ack n"),
                ("PtoT", "next", "k"),
                ("TtoP", "next", "n"),
                ("TtoP", "limit", "()"),
            ],
        ),
    },
)
"""A protocol whose packets are a union, and whose receiver joins texts."""

COMMIT = cpn(
    {
        "idle": ("UNIT", "()"),
        "ask": ("Worker", ""),
        "free": ("Worker", "Worker.all ()"),
        "votes": ("WorkerxVote", ""),
        "collected": ("Votes", "[]"),
        "waiting": ("Workers", ""),
        "done": ("Worker", ""),
        "busy": ("Worker", ""),
    },
    {
        "Ask": ("", [("PtoT", "idle", "()"), ("TtoP", "ask", "Worker.all ()")]),
        "Vote": (
            "",
            [
                ("PtoT", "ask", "w"),
                ("PtoT", "free", "w"),
                ("TtoP", "votes", "(w, vote)"),
                ("TtoP", "busy", "if vote = Yes then 1`w else empty"),
                ("TtoP", "free", "if vote = No then 1`w else empty"),
            ],
        ),
        "Collect": (
            "",
            [
                ("PtoT", "votes", "(w, vote)"),
                ("PtoT", "collected", "votes"),
                ("TtoP", "collected", "(w, vote) :: votes"),
            ],
        ),
        "Decide": (
            "[List.length votes = W]",
            [
                ("PtoT", "collected", "votes"),
                ("TtoP", "collected", "[]"),
                ("TtoP", "waiting", "YesWorkers votes"),
            ],
        ),
        "Work": ("", [("PtoT", "busy", "w"), ("TtoP", "done", "w"), ("TtoP", "free", "w")]),
        "End": (
            "",
            [
                ("PtoT", "waiting", "workers"),
                ("PtoT", "done", "list_to_ms workers"),
                ("TtoP", "idle", "()"),
            ],
        ),
    },
)
"""Workers vote, and a list holds those that a coordinator waits for."""

CHANNEL = cpn(
    {"queue": ("Numbers", "[3, 4]"), "free": ("INT", "1`1 ++ 1`2"), "out": ("INT", "")},
    {
        "put": (
            "",
            [
                ("PtoT", "free", "n"),
                ("PtoT", "queue", "q"),
                ("TtoP", "queue", "if n = 1 then q ^^ [n] else q"),
            ],
        ),
        "take": (
            "",
            [("PtoT", "queue", "n :: q"), ("TtoP", "queue", "q"), ("TtoP", "out", "n")],
        ),
    },
)
"""A queue to which a token comes on a condition."""

MEMBERS = cpn(
    {"list": ("Numbers", "[2]"), "free": ("INT", "1`1 ++ 1`2 ++ 1`5"), "out": ("INT", "")},
    {
        "add": (
            "[not (member (n, l))]",
            [("PtoT", "free", "n"), ("PtoT", "list", "l"), ("TtoP", "list", "insert (n, l)")],
        ),
        "drop": (
            "[n = 5]",
            [("PtoT", "list", "n :: l"), ("TtoP", "list", "l")],
        ),
        "give": (
            "[l <> [], length l > 1]",
            [("PtoT", "list", "l"), ("TtoP", "list", "tl l"), ("TtoP", "out", "hd l")],
        ),
    },
)
"""Functions that call themselves, on a list."""


@pytest.mark.parametrize(
    ("data", "states"),
    [(PROTOCOL, (45, 91)), (COMMIT, (72, 138)), (CHANNEL, (14, 23)), (MEMBERS, (13, 17))],
)
def test_another_program_finds_the_same_markings(
    data: bytes, states: tuple[int, int], tmp_path: Path
) -> None:
    assert size(data) == states
    cpncheck = pytest.importorskip("cpncheck", reason="needs the Python package cpncheck")
    file = tmp_path / "net.cpn"
    file.write_bytes(data)
    space = cpncheck.build_state_space(cpncheck.ColouredNet(cpncheck.CPNNet(str(file))))
    assert (space.n_nodes, space.n_arcs) == states


def test_a_joined_text_has_its_parts_as_digits() -> None:
    model = model_of(PROTOCOL)
    document, _ = read_cpn(PROTOCOL, "net.cpn")
    assert document["description"].endswith("base 8: 1 'COL', 2 'OUR'")
    # COL is the digit 1, OUR the digit 2.
    assert model.state_space(reach='tokens("received", 10) == 1').document["reached"]
    assert not model.state_space(reach='tokens("received", 17) == 1').document["reached"]


def test_texts_that_begin_with_another_are_not_joined() -> None:
    with pytest.raises(ValueError, match="net.cpn:1: .*begins with another: 'COLOUR', 'COL'"):
        read_cpn(PROTOCOL.replace(b"OUR", b"COLOUR"), "net.cpn")


def growing(kind: str, initial: str, inscription: str) -> bytes:
    arcs = [("PtoT", "x", "l"), ("TtoP", "x", inscription), ("BOTHDIR", "number", "n")]
    return cpn({"x": (kind, initial), "number": ("INT", "3")}, {"grow": ("", arcs)})


def test_a_list_that_is_too_long_or_large_ends_the_run() -> None:
    """Lists have at most nine elements of 7 bits."""
    with pytest.raises(RunError, match="grow"):
        model_of(growing("Numbers", "[]", "n :: l")).run(until=1.0)
    with pytest.raises(RunError, match="grow"):
        model_of(growing("Numbers", "[124]", "[n + hd l]")).run(until=1.0)


REFERENCE = "<globref><id>most</id><ml>3</ml></globref>"
COUNT = (
    {"x": ("INT", "0")},
    {"count": ("[n < !most]", [("PtoT", "x", "n"), ("TtoP", "x", "n + 1")])},
)


def test_references_keep_their_first_value() -> None:
    assert size(cpn(*COUNT, code=REFERENCE)) == (4, 3)
    data = cpn(*COUNT, code=REFERENCE).replace(
        b"</trans>", b"<code><text>action (most := 9);</text></code></trans>"
    )
    with pytest.raises(ValueError, match="net.cpn:1: assignments to references are not read"):
        read_cpn(data, "net.cpn")
