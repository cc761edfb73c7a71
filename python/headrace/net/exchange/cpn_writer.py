"""Files of CPN Tools 4, which CPN IDE reads too: format 6 of its XML."""

import re
from collections.abc import Mapping
from typing import Any
from xml.etree.ElementTree import Element, SubElement, indent, tostring

from headrace.net.exchange.cpn_colsets import Colset
from headrace.net.exchange.cpn_net import CpnNet, cpn_net
from headrace.net.exchange.layout import Layout, Symbol, lay_out
from headrace.net.exchange.sheets import Arc, Sheet, Shown, Transition
from headrace.net.exchange.structure import structure_of

HEAD = (
    '<?xml version="1.0" encoding="iso-8859-1"?>\n'
    '<!DOCTYPE workspaceElements PUBLIC "-//CPN//DTD CPNXML 1.0//EN"'
    ' "http://cpntools.org/DTD/6/cpn.dtd">\n'
)

ORIENTATIONS = {"inhibit": "Inhibitor", "reset": "Reset"}
BASES = {
    "UNIT": "unit",
    "BOOL": "bool",
    "INT": "int",
    "STRING": "string",
    "REAL": "real",
    "TIME": "time",
}


def write(document: Mapping[str, Any]) -> tuple[bytes, list[str]]:
    """Return the file of a net, and what it leaves out.

    Raises:
        ValueError: The net has parts that CPN Tools cannot express.
    """
    net = cpn_net(structure_of(document))
    root = _Writer(net).root()
    indent(root)
    # Other characters than those of the encoding become references.
    body = tostring(root, encoding="iso-8859-1").partition(b"?>\n")[2]
    return HEAD.encode("ascii") + body + b"\n", net.notes


class _Writer:
    def __init__(self, net: CpnNet) -> None:
        self.net = net
        self.number = 1_000_000
        self.places: dict[Shown, str] = {}
        self.pages: dict[Sheet, str] = {}
        self.substitutions: dict[Sheet, str] = {}
        self.names: dict[Sheet, str] = {}

    def root(self) -> Element:
        root = Element("workspaceElements")
        SubElement(root, "generator", tool="CPN Tools", version="4.0.1", format="6")
        cpnet = SubElement(root, "cpnet")
        self._declarations(SubElement(cpnet, "globbox"))
        taken: set[str] = set()
        for sheet in self.net.top.walk():
            self.pages[sheet] = self._id()
            self.names[sheet] = _page_name(sheet.name, taken)
            for shown in sheet.shown.values():
                self.places[shown] = self._id()
            if sheet.parent is not None:
                self.substitutions[sheet] = self._id()
        for sheet in self.net.top.walk():
            self._page(cpnet, sheet)
        instances = SubElement(cpnet, "instances")
        top = SubElement(instances, "instance", id=self._id(), page=self.pages[self.net.top])
        self._instances(top, self.net.top)
        self._options(SubElement(cpnet, "options"))
        binders = SubElement(cpnet, "binders")
        binder = SubElement(
            binders, "cpnbinder", id=self._id(), x="120", y="60", width="900", height="600"
        )
        sheets = SubElement(binder, "sheets")
        first = SubElement(
            sheets,
            "cpnsheet",
            id=self._id(),
            panx="0.000000",
            pany="0.000000",
            zoom="1.000000",
            instance=top.get("id", ""),
        )
        SubElement(SubElement(first, "zorder"), "position", value="0")
        SubElement(SubElement(binder, "zorder"), "position", value="0")
        SubElement(cpnet, "monitorblock", name="Monitors")
        SubElement(cpnet, "IndexNode", expanded="true")
        return root

    def _id(self) -> str:
        self.number += 1
        return f"ID{self.number}"

    # --- declarations -------------------------------------------------------------------------

    def _declarations(self, box: Element) -> None:
        block = self._block(box, "Standard priorities")
        for name, value in (("P_HIGH", 100), ("P_NORMAL", 1000), ("P_LOW", 10000)):
            self._ml(block, f"val {name} = {value};")
        standard = self._block(box, "Standard declarations")
        own = self._block(box, "Colour sets")
        for colset in self.net.colsets:
            self._colset(standard if colset.name in BASES else own, colset)
        if self.net.code:
            block = self._block(box, "Constants and functions")
            for line in self.net.code:
                self._ml(block, line)
        if self.net.variables:
            block = self._block(box, "Variables")
            for name, kind in self.net.variables:
                var = SubElement(block, "var", id=self._id())
                SubElement(SubElement(var, "type"), "id").text = kind
                SubElement(var, "id").text = name
                SubElement(var, "layout").text = f"var {name}: {kind};"

    def _block(self, box: Element, name: str) -> Element:
        block = SubElement(box, "block", id=self._id())
        SubElement(block, "id").text = name
        return block

    def _ml(self, block: Element, text: str) -> None:
        ml = SubElement(block, "ml", id=self._id())
        ml.text = text
        SubElement(ml, "layout").text = text

    def _colset(self, block: Element, colset: Colset) -> None:
        color = SubElement(block, "color", id=self._id())
        SubElement(color, "id").text = colset.name
        if colset.timed:
            SubElement(color, "timed")
        form = SubElement(color, "int" if colset.form == "range" else colset.form)
        parts = colset.parts
        match colset.form:
            case "enum":
                says = "with " + " | ".join(parts)
            case "record":
                says = "record " + " * ".join(f"{name}: {kind}" for name, kind in parts)
            case "product":
                says = "product " + " * ".join(parts)
            case "list":
                says = f"list {parts[0]}"
            case "alias":
                says = parts[0]
            case "range":
                bounds = [str(element).replace("-", "~") for element in parts]
                says = f"int with {bounds[0]}..{bounds[1]}"
                limits = SubElement(form, "with")
                for bound in bounds:
                    SubElement(limits, "ml").text = bound
                parts = []
            case _:
                says = colset.form
        for part in parts:
            if isinstance(part, tuple):
                labelled = SubElement(form, "recordfield")
                for name in part:
                    SubElement(labelled, "id").text = name
            else:
                SubElement(form, "id").text = part
        timed = " timed" if colset.timed else ""
        SubElement(color, "layout").text = f"colset {colset.name} = {says}{timed};"

    # --- pages --------------------------------------------------------------------------------

    def _page(self, cpnet: Element, sheet: Sheet) -> None:
        page = SubElement(cpnet, "page", id=self.pages[sheet])
        SubElement(page, "pageattr", name=self.names[sheet])
        layout = lay_out(sheet)
        for shown in sheet.shown.values():
            self._place(page, shown, layout)
        ids: dict[Symbol, str] = {}
        for transition in sheet.transitions:
            ids[transition] = self._id()
            self._transition(page, transition, ids[transition], layout)
        for child in sheet.children:
            self._substitution(page, child, layout)
        drawn: dict[tuple[Symbol, Symbol], int] = {}
        for transition in sheet.transitions:
            for arc in transition.arcs:
                place_id = self.places[sheet.shown[arc.place]]
                self._arc(page, arc, transition, (ids[transition], place_id), layout, drawn)
        for child in sheet.children:
            for place, shown in child.shown.items():
                if shown.socket is None:
                    continue
                ends = (self.substitutions[child], self.places[shown.socket])
                for names, inward in ((shown.inward, True), (shown.outward, False)):
                    if names:
                        self._arc(page, Arc(place, inward), child, ends, layout, drawn)
        SubElement(page, "constraints")

    def _graphics(
        self, parent: Element, x: float, y: float, thick: int = 0, pattern: str = "Solid"
    ) -> None:
        SubElement(parent, "posattr", x=f"{x:.6f}", y=f"{y:.6f}")
        SubElement(parent, "fillattr", colour="White", pattern=pattern, filled="false")
        SubElement(parent, "lineattr", colour="Black", thick=str(thick), type="Solid")
        SubElement(parent, "textattr", colour="Black", bold="false")

    def _text(self, parent: Element, tag: str, text: str, x: float, y: float) -> None:
        element = SubElement(parent, tag, id=self._id())
        self._graphics(element, x, y)
        SubElement(element, "text", tool="CPN Tools", version="4.0.1").text = text

    def _place(self, page: Element, shown: Shown, layout: Layout) -> None:
        place = shown.place
        x, y = layout.at[place]
        element = SubElement(page, "place", id=self.places[shown])
        self._graphics(element, x, y, 1, "")
        SubElement(element, "text").text = place.name
        SubElement(element, "ellipse", w=f"{_width(place.name):.6f}", h="40.000000")
        SubElement(element, "token", x="-10.000000", y="0.000000")
        SubElement(element, "marking", x="0.000000", y="0.000000", hidden="false")
        self._text(element, "type", place.colour, x + 55, y - 26)
        initial = place.initial if shown.socket is None else ""
        self._text(element, "initmark", initial, x + 60, y + 26 + 7 * initial.count("\n"))
        if shown.socket is not None:
            port = SubElement(element, "port", id=self._id(), type=_port_type(shown))
            self._graphics(port, x - 24, y - 24)

    def _box(self, page: Element, name: str, at: tuple[float, float], number: str) -> Element:
        element = SubElement(page, "trans", id=number, explicit="false")
        self._graphics(element, *at, 1, "")
        SubElement(element, "text").text = name
        SubElement(element, "box", w=f"{_width(name):.6f}", h="36.000000")
        return element

    def _inscriptions(self, element: Element, shown: Transition | None, x: float, y: float) -> None:
        SubElement(element, "binding", x="7.200000", y="-3.000000")
        for tag, text, dx, dy in (
            ("cond", shown.guard if shown else "", -45, 30),
            ("time", "", 55, 30),
            ("code", shown.code if shown else "", 70, -45),
            ("priority", shown.priority if shown else "", -60, -30),
        ):
            self._text(element, tag, text, x + dx, y + dy)

    def _transition(
        self, page: Element, transition: Transition, number: str, layout: Layout
    ) -> None:
        x, y = layout.at[transition]
        element = self._box(page, transition.name, (x, y), number)
        self._inscriptions(element, transition, x, y)

    def _substitution(self, page: Element, child: Sheet, layout: Layout) -> None:
        x, y = layout.at[child]
        element = self._box(page, child.name, (x, y), self.substitutions[child])
        pairs = "".join(
            f"({self.places[shown]},{self.places[shown.socket]})"
            for shown in child.shown.values()
            if shown.socket is not None
        )
        subst = SubElement(element, "subst", subpage=self.pages[child], portsock=pairs)
        info = SubElement(subst, "subpageinfo", id=self._id(), name=self.names[child])
        self._graphics(info, x, y - 30)
        self._inscriptions(element, None, x, y)

    def _arc(
        self,
        page: Element,
        arc: Arc,
        transition: Transition | Sheet,
        ends: tuple[str, str],
        layout: Layout,
        drawn: dict[tuple[Symbol, Symbol], int],
    ) -> None:
        """Draw an arc; those between the same symbols bend apart."""
        way = ORIENTATIONS.get(arc.kind, "PtoT" if arc.inward else "TtoP")
        element = SubElement(page, "arc", id=self._id(), orientation=way, order="1")
        self._graphics(element, 0, 0, 1, "")
        SubElement(element, "arrowattr", headsize="1.200000", currentcyckle="2")
        SubElement(element, "transend", idref=ends[0])
        SubElement(element, "placeend", idref=ends[1])
        (px, py), (tx, ty) = layout.at[arc.place], layout.at[transition]
        x, y = (px + tx) / 2, (py + ty) / 2
        number = drawn.get((arc.place, transition), 0)
        drawn[arc.place, transition] = number + 1
        if number:
            length = max(((tx - px) ** 2 + (ty - py) ** 2) ** 0.5, 1.0)
            away = 30.0 * (number + 1) // 2 * (1 if number % 2 else -1)
            x, y = x - away * (ty - py) / length, y + away * (tx - px) / length
            bend = SubElement(element, "bendpoint", id=self._id(), serial="1")
            self._graphics(bend, x, y)
        self._text(element, "annot", arc.text, x, y + 12)

    def _instances(self, parent: Element, sheet: Sheet) -> None:
        for child in sheet.children:
            instance = SubElement(
                parent, "instance", id=self._id(), trans=self.substitutions[child]
            )
            self._instances(instance, child)

    def _options(self, options: Element) -> None:
        for name, value in (
            ("realtimestamp", self.net.has_real_time),
            ("fair_be", False),
            ("global_fairness", False),
        ):
            option = SubElement(options, "option", name=name)
            SubElement(SubElement(option, "value"), "boolean").text = str(value).lower()
        option = SubElement(options, "option", name="outputdirectory")
        SubElement(SubElement(option, "value"), "text").text = "<same as model>"


def _width(name: str) -> float:
    return max(60.0, 8.0 * len(name) + 16.0)


def _port_type(shown: Shown) -> str:
    if shown.inward and shown.outward:
        return "I/O"
    return "In" if shown.inward else "Out"


def _page_name(name: str, taken: set[str]) -> str:
    base = re.sub(r"\W", "_", name, flags=re.ASCII) or "page"
    fresh, number = base, 1
    while fresh in taken:
        number += 1
        fresh = f"{base}{number}"
    taken.add(fresh)
    return fresh
