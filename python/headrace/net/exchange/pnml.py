"""Nets in PNML (ISO/IEC 15909-2): written without colours and times, read as `symmetric` too.

Grammar: http://www.pnml.org/version-2009/grammar/ptnet
"""

import re
from collections.abc import Mapping
from typing import Any
from xml.etree.ElementTree import Element, SubElement, indent, tostring

from headrace.net.exchange import symmetric
from headrace.net.exchange.cpn_ml import Scope
from headrace.net.exchange.cpn_net import has_empty, weights
from headrace.net.exchange.cpn_reader import read_workspace
from headrace.net.exchange.kernel_rules import obey_kernel_rules
from headrace.net.exchange.layout import Layout, Symbol, lay_out, outline_at
from headrace.net.exchange.names import PlainNames, words_of
from headrace.net.exchange.safe_xml import Source, Xml, parse_xml
from headrace.net.exchange.sheets import Arc, Place, Sheet, Shown, Transition, add_ports
from headrace.net.exchange.structure import (
    HOLDING_KEYS,
    NetStructure,
    Node,
    Page,
    as_list,
    structure_of,
    table_of,
    tree_of,
)

NAMESPACE = "http://www.pnml.org/version-2009/grammar/pnml"
TYPE = "http://www.pnml.org/version-2009/grammar/ptnet"
TYPES = (
    TYPE,
    # ProM and pm4py write place/transition nets under this name.
    "http://www.pnml.org/version-2009/grammar/pnmlcoremodel",
    "http://www.informatik.hu-berlin.de/top/pntd/ptNetb",
    "P/T net",
    "ptnet",
    "",
)
"""Names of the type in files; older tools leave it out."""

ELEMENTS = ("place", "transition", "referencePlace", "referenceTransition", "arc", "page")
"""Parts of a page that have an id."""
DRAWN = words_of(
    "name displayName nameOffsetX nameOffsetY positionX positionY markingOffsetX markingOffsetY"
    " x y width height angle colour color"
)
"""Attributes of drawings."""
ATTRIBUTES = {
    "place": {"id", "initialMarking", "capacity"},
    "transition": {"id"},
    "arc": {"id", "source", "target", "type", "weight"},
    "referencePlace": {"id", "ref"},
    "referenceTransition": {"id", "ref"},
}
"""Attributes that are read."""
DECORATION = frozenset(("name", "graphics", "toolspecific", "description", "comment"))
"""Elements that do not change the behaviour of a net."""
LABELS = {
    "place": {"initialMarking", "capacity"},
    "transition": {"orientation", "label", "rate", "timed", "infiniteServer", "priority"},
    "arc": {"inscription", "type", "arctype", "arcpath", "tagged"},
}
"""Elements that are read, or that PIPE and TINA write in every net."""
SYMMETRIC_LABELS = {
    ("place", "type"),
    ("place", "hlinitialMarking"),
    ("transition", "condition"),
    ("arc", "hlinscription"),
}
ARC_TYPES = {
    "inhibitor": "inhibit",
    "tapnInhibitor": "inhibit",
    "reset": "reset",
    "test": "read",
    "read": "read",
}
"""Types of arcs from a place, beside ordinary ones, and their keys in a document."""
WRITTEN_TYPES = {"inhibit": "inhibitor", "reset": "reset", "read": "test"}
NEUTRAL = {
    "type": ("", "normal"),
    "arctype": ("", "normal"),
    "tagged": ("", "false"),
    "timed": ("", "false"),
    "infiniteServer": ("", "false"),
    "priority": ("", "0", "1"),
}
"""Values of labels and attributes that say nothing more than their absence."""
REPEATED = frozenset(("toolspecific", "graphics", "arcpath"))
"""Elements that may occur several times."""
PARTS = frozenset(("text", "value", "graphics", "toolspecific", "name"))
"""Elements within a label."""
MOST_WEIGHT = 32
"""Most tokens that a transition takes in one firing."""
MOST_INITIAL = 10_000_000


def write(document: Mapping[str, Any]) -> tuple[bytes, list[str]]:
    """Return the place/transition net under a net, and what is left out."""
    net = structure_of(document)
    top, notes = _skeleton(net)
    root = Element("pnml", xmlns=NAMESPACE)
    of_net = SubElement(root, "net", id="net", type=TYPE)
    _name(of_net, net.name)
    _Writer(top).page(of_net, top)
    indent(root)
    data: bytes = tostring(root, encoding="utf-8", xml_declaration=True)
    return data + b"\n", notes


# --- from a net to its skeleton -------------------------------------------------------------------


def _skeleton(net: NetStructure) -> tuple[Sheet, list[str]]:
    """Return the places, transitions and weights of a net, and what they leave out."""
    count = dict.fromkeys(
        (
            "colours of places",
            "stations: they become places, without queue, servers and service",
            "folded pages: all copies share their places",
            "places in order of arrival",
            "marks rest and conserve of places",
            "patterns, guards and conditions: the net has all arcs in every firing",
            "numbers of tokens that depend on values, taken as 1",
            "values and delays",
            "priorities and weights",
            "probes and records of figures",
            "settings of runs",
        ),
        0,
    )
    (
        colours,
        stations,
        folded,
        fifo,
        marks,
        conditions,
        numbers,
        values,
        priorities,
        probes,
        runs,
    ) = count
    first, ml = weights(net)
    sheets: dict[Page, Sheet] = {}
    places: dict[Node, Place] = {}
    for page in net.top.walk():
        sheets[page] = (
            Sheet(page.name) if page.parent is None else sheets[page.parent].child(page.name)
        )
        count[folded] += page.parent is not None and "copies" in page.table
        count[probes] += len(as_list(page.table.get("probes")))
        for node in page.nodes.values():
            initial = str(first[node]) if first[node] else ""
            places[node] = sheets[page].place(node.name, "", initial)
            places[node].outline = node.table.get("outline", {})
            count[colours] += node.colour != "unit"
            count[stations] += node.is_station
            count[fifo] += node.table.get("order") == "fifo"
            count[marks] += any(node.table.get(mark) for mark in ("rest", "conserve"))
    for source in net.transitions():
        transition = sheets[source.page].transition(source.name)
        transition.outline = source.table.get("outline", {})
        count[priorities] += bool(source.table.get("priority")) + ("weight" in source.table)
        count[values] += len(as_list(source.table.get("let")))
        count[conditions] += len(as_list(source.table.get("when")))
        count[probes] += len(as_list(source.table.get("record")))
        weight: dict[tuple[Node, str], int] = {}
        for node, key, entry in [
            *((node, "take", arc) for node, arc in source.takes),
            *((node, "put", arc) for node, arc in source.puts),
            *source.holds,
        ]:
            arc = table_of(entry)
            number = 1
            try:
                value = ml.compile(tree_of(arc.get("count", 1)), Scope(), "int").value
                number = int(value)
            except (TypeError, ValueError):
                count[numbers] += 1
            before = weight.get((node, key), 0)
            # The lowest bound of several holds.
            is_least = key in ("inhibit", "reset") and before
            weight[node, key] = min(before, number) if is_least else before + number
            count[values] += "delay" in arc
            tree = tree_of(arc["token"]) if "token" in arc and key == "put" else None
            is_pattern = key == "inhibit" and "token" in arc
            count[conditions] += (
                "when" in arc or is_pattern or (tree is not None and has_empty(tree))
            )
        transition.arcs = [
            Arc(places[node], key != "put", str(number), key if key in HOLDING_KEYS else "")
            for (node, key), number in weight.items()
            if number > 0
        ]
    count[runs] = net.settings
    count |= {f"entries of {key}": number for key, number in net.others.items()}
    add_ports(sheets[net.top])
    return sheets[net.top], [f"{number} {label}" for label, number in count.items() if number]


# --- writing --------------------------------------------------------------------------------------


def _name(parent: Element, name: str) -> None:
    if not name:
        return
    # XML has no control characters.
    text = "".join(character if character.isprintable() else " " for character in name)
    SubElement(SubElement(parent, "name"), "text").text = text


class _Writer:
    def __init__(self, top: Sheet) -> None:
        self.number = 0
        self.places: dict[Shown, str] = {}
        self.taken = {
            str(symbol.outline.get("id")) for sheet in top.walk() for symbol in _symbols(sheet)
        }
        self.unused = set(self.taken)
        """Ids that no element has yet; several transitions can have one."""

    def _id(self, kind: str, symbol: Place | Transition | None = None) -> str:
        """Return the id that an element had in its file, or a new one."""
        if symbol is not None and symbol.outline.get("id") in self.unused:
            self.unused.remove(symbol.outline["id"])
            return str(symbol.outline["id"])
        self.number += 1
        while f"{kind}{self.number}" in self.taken:
            self.number += 1
        return f"{kind}{self.number}"

    def page(self, parent: Element, sheet: Sheet) -> None:
        page = SubElement(parent, "page", id=self._id("page"))
        _name(page, sheet.name)
        layout = lay_out(sheet)
        for shown in sheet.shown.values():
            self._place(page, shown, layout)
        for transition in sheet.transitions:
            number = self._id("t", transition)
            element = SubElement(page, "transition", id=number)
            _name(element, transition.outline.get("label", transition.name))
            _position(element, transition, layout)
            for arc in transition.arcs:
                place = self.places[sheet.shown[arc.place]]
                ends = (place, number) if arc.inward else (number, place)
                drawn = SubElement(page, "arc", id=self._id("arc"), source=ends[0], target=ends[1])
                if arc.kind:
                    SubElement(drawn, "type", value=WRITTEN_TYPES[arc.kind])
                if arc.kind == "inhibit":
                    # TAPAAL reads the attribute only.
                    drawn.set("type", "inhibitor")
                if arc.text != "1":
                    SubElement(SubElement(drawn, "inscription"), "text").text = arc.text
        for child in sheet.children:
            self.page(page, child)

    def _place(self, page: Element, shown: Shown, layout: Layout) -> None:
        self.places[shown] = self._id("p", shown.place if shown.socket is None else None)
        if shown.socket is not None:
            element = SubElement(
                page, "referencePlace", id=self.places[shown], ref=self.places[shown.socket]
            )
        else:
            element = SubElement(page, "place", id=self.places[shown])
        _name(element, shown.place.outline.get("label", shown.place.name))
        _position(element, shown.place, layout)
        if shown.socket is None and shown.place.initial:
            marking = SubElement(element, "initialMarking")
            SubElement(marking, "text").text = shown.place.initial


def _symbols(sheet: Sheet) -> list[Place | Transition]:
    return [*sheet.places, *sheet.transitions]


def _position(element: Element, symbol: Symbol, layout: Layout) -> None:
    x, y = layout.at[symbol]
    SubElement(SubElement(element, "graphics"), "position", x=f"{x}", y=f"{-y}")


# --- reading --------------------------------------------------------------------------------------


def read(data: bytes, file: str) -> tuple[dict[str, Any], list[str]]:
    """Return the document of a place/transition net, and what was left out.

    Raises:
        ValueError: It is no such net. The message has file and line.
    """
    return _Reader(Source(file)).read(data)


class _Reader:
    def __init__(self, source: Source) -> None:
        self.source = source
        self.nodes: dict[str, Xml] = {}
        self.left_out: dict[str, int] = {}
        self.is_symmetric = False

    def read(self, data: bytes) -> tuple[dict[str, Any], list[str]]:
        root = parse_xml(data, self.source)
        if root.tag != "pnml":
            raise self.source.error(root.line, f"expected the element pnml, not {root.tag}")
        nets = root.all("net")
        if len(nets) != 1:
            raise self.source.error(root.line, f"expected one net, not {len(nets)}")
        (net,) = nets
        kind = net.get("type")
        self.is_symmetric = kind in symmetric.TYPES
        if kind not in TYPES and not self.is_symmetric:
            raise self.source.error(
                net.line, f"expected a place/transition net ({TYPE}) or a symmetric net, not {kind}"
            )
        for beside in root.children:
            if beside is not net:
                self._beside(beside)
        pages = [net]
        for page in pages:
            pages += page.all("page")
        for page in pages:
            self._ids(page)
        if self.is_symmetric:
            workspace = symmetric.SymmetricNet(self.source, net, pages).workspace(self._ends)
            coloured, more = read_workspace(
                workspace,
                self.source,
                lambda node, name, number: _kept(self.nodes[node.get("id")], name, number),
            )
            coloured["name"] = net.text_at("name", "text") or net.get("id") or "net"
            return coloured, self._notes(pages) + more
        places: dict[str, dict[str, Any]] = {}
        names: dict[Xml, str] = {}
        taken = PlainNames()
        for page in pages:
            for place in page.all("place"):
                name = taken.new(place.text_at("name", "text"), place.get("id"))
                names[place] = name
                initial = self._number(place, "initialMarking", 0)
                if self._number(place, "capacity", 0):
                    raise self.source.error(
                        place.line,
                        f"places with a capacity are not read: write the free room of {name} as a"
                        " second place, which transitions take from as they put tokens here",
                    )
                places[name] = ({"initial": initial} if initial else {}) | _kept(place, name)
        transitions: dict[str, dict[str, Any]] = {}
        for page in pages:
            for transition in page.all("transition"):
                name = taken.new(transition.text_at("name", "text"), transition.get("id"))
                names[transition] = name
                transitions[name] = _kept(transition, name)
        arcs: dict[tuple[str, str, str], list[int]] = {}
        for page in pages:
            for arc in page.all("arc"):
                key = self._arc(arc, names)
                weight = self._number(arc, "inscription", self._of_attribute(arc, "weight", 1))
                if not weight and key[1] not in ("take", "put"):
                    raise self.source.error(arc.line, "expected a weight of 1 or more")
                arcs.setdefault(key, []).append(weight)
                if key[1] in ("take", "read") and _joined(key[1], arcs[key]) > MOST_WEIGHT:
                    raise self.source.error(
                        arc.line, f"expected at most {MOST_WEIGHT} tokens taken by a transition"
                    )
        for (node, way, place_name), weights_of in arcs.items():
            weight = _joined(way, weights_of)
            if weight:
                is_bare = weight == 1 or way == "reset"
                entry = place_name if is_bare else {"place": place_name, "count": weight}
                transitions[node].setdefault(way, []).append(entry)
        document: dict[str, Any] = {
            "name": net.text_at("name", "text") or net.get("id") or "net",
            "run": {"choice": "random"},
            "places": places,
            "transitions": transitions,
        }
        return document, self._notes(pages) + obey_kernel_rules(document)

    def _notes(self, pages: list[Xml]) -> list[str]:
        notes = [f"{number} {label}" for label, number in self.left_out.items()]
        if len(pages) > 2:
            notes.append(f"{len(pages) - 1} pages, whose elements are now on one")
        return notes

    def _ids(self, page: Xml) -> None:
        for child in page.children:
            if child.tag in ELEMENTS:
                number = child.get("id")
                if not number:
                    raise self.source.error(child.line, f"the {child.tag} has no id")
                if number in self.nodes:
                    raise self.source.error(child.line, f"two elements have the id {number}")
                self.nodes[number] = child
                if child.tag != "page":
                    self._check(child)
            elif not (self.is_symmetric and child.tag == "declaration"):
                self._beside(child)

    def _count(self, label: str) -> None:
        self.left_out[label] = self.left_out.get(label, 0) + 1

    def _check(self, element: Xml) -> None:
        """Refuse what is not known to leave the meaning of a place, transition or arc alone."""
        who = f"{element.tag} {element.get('id')}"
        for name, value in element.attributes.items():
            known = ATTRIBUTES[element.tag] | DRAWN
            # Of the namespace xml, such as xml:lang.
            if name not in known and not name.startswith("http://www.w3.org/XML/1998/namespace "):
                raise self._refused(element, who, f"the attribute {name.split()[-1]}", value)
        counts: dict[str, int] = {}
        for child in element.children:
            counts[child.tag] = counts.get(child.tag, 0) + 1
            if child.tag == "toolspecific":
                self._tool(element, who, child)
            elif self.is_symmetric and (element.tag, child.tag) in SYMMETRIC_LABELS:
                pass
            elif child.tag not in self._labels(element):
                raise self._refused(child, who, f"the element {child.tag}", _value(child))
            elif child.tag in NEUTRAL and not self._is_known(element, child.tag, _value(child)):
                self._refuse_type(element, child.tag, _value(child))
            elif child.tag in ("rate", "label"):
                self._count(f"{child.tag}s of transitions")
            if counts[child.tag] > 1 and child.tag not in REPEATED:
                raise self.source.error(
                    child.line, f"{who}: two elements {child.tag}: expected one"
                )
            if child.tag in ("initialMarking", "inscription", "capacity"):
                for part in child.children:
                    if part.tag not in PARTS:
                        raise self._refused(part, who, f"the element {part.tag}", _value(part))
        if not self._is_known(element, "type", element.get("type")):
            self._refuse_type(element, "type", element.get("type"))

    def _is_known(self, element: Xml, label: str, value: str) -> bool:
        """Return true if a label changes nothing, or is the type of an arc that is read."""
        of_arc = element.tag == "arc" and label in ("type", "arctype")
        is_read = of_arc and value in ARC_TYPES and not self.is_symmetric
        return value in NEUTRAL[label] or is_read

    def _labels(self, element: Xml) -> set[str] | frozenset[str]:
        """Return the elements that may be within another."""
        labels = DECORATION | LABELS.get(element.tag, set())
        return labels - {"initialMarking", "inscription"} if self.is_symmetric else labels

    def _refuse_type(self, element: Xml, label: str, value: str) -> None:
        if element.tag == "arc" and label != "tagged":
            raise self.source.error(
                element.line,
                f"arcs of the type {value[:40]} are not read: expected an ordinary arc"
                + ("" if self.is_symmetric else f", or one of {', '.join(ARC_TYPES)}"),
            )
        who = f"{element.tag} {element.get('id')}"
        raise self._refused(element, who, f"the element {label}", value)

    def _refused(self, at: Xml, who: str, label: str, value: str) -> ValueError:
        shown = f" {value[:40]!r}" if value else ""
        return self.source.error(
            at.line,
            f"{who}: {label}{shown} is not read, and may change the meaning: expected an ordinary"
            " place/transition net",
        )

    def _tool(self, element: Xml, who: str, part: Xml) -> None:
        self._count("parts for one tool only")
        words = " ".join(
            word for one in part.walk() for word in (one.tag, one.text, *one.attributes.values())
        )
        if element.tag == "arc" and re.search("inhibit|reset", words, re.IGNORECASE):
            raise self._refused(part, who, "the element toolspecific", "inhibitor or reset arc")

    def _beside(self, element: Xml) -> None:
        """Count an element that is beside the net's own; refuse it if it has a part of the net."""
        if element.tag == "toolspecific":
            self._count("parts for one tool only")
            return
        if element.tag in DECORATION:
            return
        for inner in element.walk():
            is_arc = "source" in inner.attributes and "target" in inner.attributes
            if is_arc or (inner.tag in ELEMENTS and "id" in inner.attributes):
                raise self.source.error(
                    inner.line,
                    f"{inner.tag} {inner.get('id')}: elements within {element.tag} are not read,"
                    " and may change the meaning: expected an ordinary place/transition net",
                )
        self._count(f"elements {element.tag}")

    def _number(self, element: Xml, label: str, otherwise: int) -> int:
        child = element.find(label)
        if child is None:
            return self._of_attribute(element, label, otherwise)
        text = child.text_at("text") or child.text_at("value")
        # Some tools name the only colour, too.
        return self._whole(child, text.removeprefix("Default,").strip(), otherwise)

    def _of_attribute(self, element: Xml, name: str, otherwise: int) -> int:
        return self._whole(element, element.get(name).strip(), otherwise)

    def _whole(self, at: Xml, text: str, otherwise: int) -> int:
        if not text:
            return otherwise
        digits = text.lstrip("0") or "0"
        is_number = text.isascii() and text.isdigit() and len(digits) < 9
        if not is_number or int(digits) > MOST_INITIAL:
            raise self.source.error(
                at.line, f"expected a whole number from 0 to {MOST_INITIAL}, not {text[:40]!r}"
            )
        return int(digits)

    def _node(self, arc: Xml, key: str) -> Xml:
        """Return the place or transition at an end of an arc."""
        number = arc.get(key)
        for _ in range(100):
            node = self.nodes.get(number)
            if node is None:
                raise self.source.error(arc.line, f"{key}: no element has the id {number!r}")
            if not node.tag.startswith("reference"):
                return node
            number = node.get("ref")
        raise self.source.error(arc.line, f"{key}: references lead in a circle")

    def _arc(self, arc: Xml, names: dict[Xml, str]) -> tuple[str, str, str]:
        """Return transition, key and place of an arc."""
        source, target = self._ends(arc)
        kinds = {arc.get("type")} | {
            _value(child) for child in arc.children if child.tag in ("type", "arctype")
        }
        (way, *others) = sorted(kinds & ARC_TYPES.keys()) or ["take"]
        if others or (way != "take" and source.tag != "place"):
            raise self.source.error(
                arc.line, f"expected one type, and an arc from a place, for the type {way}"
            )
        if source.tag == "place":
            return names[target], ARC_TYPES.get(way, "take"), names[source]
        return names[source], "put", names[target]

    def _ends(self, arc: Xml) -> tuple[Xml, Xml]:
        """Return the nodes of an arc between a place and a transition."""
        source, target = self._node(arc, "source"), self._node(arc, "target")
        if {source.tag, target.tag} == {"place", "transition"}:
            return source, target
        raise self.source.error(
            arc.line,
            f"expected an arc between a place and a transition, not {source.tag} and {target.tag}",
        )


def _joined(way: str, numbers: list[int]) -> int:
    """Return the weight of one arc for several between a place and a transition."""
    # Each of those that hold is a condition of its own.
    return {"inhibit": min, "read": max, "reset": max}.get(way, sum)(numbers)


def _kept(element: Xml, name: str, number: int = 0) -> dict[str, Any]:
    """Return the outline that keeps an element's id and name, and its position in the tool's
    drawing, which is an element or attributes."""
    position = element.find("graphics", "position")
    drawn = outline_at(element.get("positionX"), element.get("positionY"))
    if position is not None:
        drawn = outline_at(position.get("x"), position.get("y"), number=number)
    label = element.text_at("name", "text")
    known = {"id": element.get("id")} | ({"label": label} if label != name else {})
    return {"outline": known | drawn.get("outline", {})}


def _value(element: Xml) -> str:
    """Return the value of a label, as an attribute or as text."""
    return (
        element.get("value")
        or element.text_at("text")
        or element.text_at("value")
        or element.text.strip()
    )
