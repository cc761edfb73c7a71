"""Reads files of CPN Tools: part of coloured nets, see `docs/reference/net-exchange.md`."""

import re
from collections.abc import Callable
from typing import Any

from headrace.net.exchange.cpn_transitions import Table, Target, Transitions
from headrace.net.exchange.digits import alphabet_of, packed_tokens, text_bits, width
from headrace.net.exchange.kernel_rules import obey_kernel_rules
from headrace.net.exchange.layout import outline_at
from headrace.net.exchange.ml_meaning import Choices, Colour, ReadAgain
from headrace.net.exchange.ml_syntax import MlError, parse_ml
from headrace.net.exchange.ml_trees import is_random
from headrace.net.exchange.multisets import single, terms
from headrace.net.exchange.names import PlainNames
from headrace.net.exchange.safe_xml import Source, Xml, parse_xml

MOST_PAGES = 2000
"""Most instances of pages."""
DEEPEST_PAGE = 30
PORT_AND_SOCKET = r"\((\w+),(\w+)\)"
Outline = Callable[[Xml, str, int], Table]
"""Returns the outline of an element, from its name and its number among its transitions."""


def read(data: bytes, file: str) -> tuple[dict[str, Any], list[str]]:
    """Return the document of a net of CPN Tools, and what was not read.

    Raises:
        ValueError: It has parts that are not read. The message has file and line.
    """
    source = Source(file)
    return read_workspace(parse_xml(data, source), source)


def _drawn_at(element: Xml, _name: str, number: int) -> Table:
    """Return the outline of an element that CPN Tools draws at a point."""
    position = element.find("posattr")
    if position is None:
        return {}
    return outline_at(position.get("x"), position.get("y"), upwards=True, number=number)


def read_workspace(
    root: Xml, source: Source, outline: Outline = _drawn_at
) -> tuple[dict[str, Any], list[str]]:
    """Return the document of a parsed file, and what was not read."""
    choices = Choices()
    while True:
        reader = _Reader(source, choices, outline)
        try:
            result = reader.read(root)
        except ReadAgain:
            continue
        if choices.alphabet is not None or not reader.meaning.has_joined_texts:
            return result
        try:
            choices.alphabet = alphabet_of(reader.meaning.texts)
        except MlError as error:
            raise source.error(root.line, str(error)) from None


class _Reader(Transitions):
    def __init__(self, source: Source, choices: Choices, outline: Outline) -> None:
        super().__init__(source, choices)
        self.outline = outline
        self.pages: dict[str, Xml] = {}
        self.fusion: dict[str, Target] = {}
        self.fused: dict[str, str] = {}
        self.instances = 0

    def read(self, root: Xml) -> tuple[dict[str, Any], list[str]]:
        if root.tag != "workspaceElements":
            raise self.source.error(
                root.line, f"expected the element workspaceElements, not {root.tag}"
            )
        net = root.find("cpnet")
        if net is None:
            raise self.source.error(root.line, "expected the element cpnet")
        for option in (entry for options in net.all("options") for entry in options.all("option")):
            if option.get("name") == "realtimestamp":
                self.meaning.has_real_time = option.text_at("value", "boolean") == "true"
        for box in net.all("globbox"):
            self.declared.read(box)
        for page in net.all("page"):
            if page.get("id") in self.pages:
                raise self.source.error(page.line, f"two pages have the id {page.get('id')!r}")
            self.pages[page.get("id")] = page
        self._check_references(net)
        for monitors in net.all("monitorblock"):
            self.count("monitors", sum(element.tag == "monitor" for element in monitors.walk()))
        document = self.document(net)
        if self.meaning.has_read_reference:
            self._check_assignments(net)
        notes = [f"{number} {label}" for label, number in self.left_out.items()]
        return document, [*self.declared.notes(), *notes, *obey_kernel_rules(document)]

    def _check_assignments(self, net: Xml) -> None:
        """Refuse references that something which is not read can change."""
        for part in (
            element
            for tag in ("page", "monitorblock")
            for block in net.all(tag)
            for element in block.walk()
        ):
            action = part.text_at("text") if part.tag == "code" else part.text
            if ":=" in part.text or (part.tag == "code" and action and "output" not in action):
                raise self.source.error(
                    part.line, "assignments to references are not read: expected constants"
                )

    # --- references ---------------------------------------------------------------------------

    def _check_references(self, net: Xml) -> None:
        """Refuse references to elements that the file does not have: what they join is unknown."""
        every: dict[str, Xml] = {}
        for page in self.pages.values():
            for one in (*page.all("place"), *page.all("trans")):
                if one.get("id") in every:
                    raise self.source.error(one.line, f"two elements have the id {one.get('id')!r}")
                every[one.get("id")] = one
            for named, tag, end in (
                ("transition", "trans", "transend"),
                ("place", "place", "placeend"),
            ):
                known = {node.get("id") for node in page.all(tag)}
                for arc in page.all("arc"):
                    self._check_end(arc, arc.find(end), known, f"{named} of this arc")
        places = {key for key, node in every.items() if node.tag == "place"}
        self._check_fusions(net, places)
        instances: set[str] = set()
        for part in (element for block in net.all("instances") for element in block.walk()):
            if part.tag != "instance":
                continue
            instances.add(part.get("id"))
            for key, known in (("page", set(self.pages)), ("trans", set(every))):
                if key in part.attributes and part.get(key) not in known:
                    named = {"page": "page", "trans": "transition"}[key]
                    raise self._leads_nowhere(part, f"{named} of this instance", part.get(key))
        for part in (element for block in net.all("monitorblock") for element in block.walk()):
            if part.tag != "node":
                continue
            if part.get("idref") not in every:
                raise self._leads_nowhere(part, "node of this monitor", part.get("idref"))
            instance = part.get("pageinstanceidref")
            if instance and instances and instance not in instances:
                raise self._leads_nowhere(part, "page instance of this monitor", instance)

    def _check_end(self, at: Xml, end: Xml | None, known: set[str], label: str) -> None:
        key = "" if end is None else end.get("idref")
        if key not in known:
            raise self._leads_nowhere(at, label, key)

    def _check_fusions(self, net: Xml, places: set[str]) -> None:
        members: dict[str, str] = {}
        for fusion in net.all("fusion"):
            for one in fusion.all("fusion_elm"):
                key = one.get("idref")
                if key not in places:
                    raise self._leads_nowhere(one, f"place of fusion set {fusion.get('name')}", key)
                if members.setdefault(key, fusion.get("name")) != fusion.get("name"):
                    raise self.source.error(one.line, f"the place {key!r} is in two fusion sets")
        for page in self.pages.values():
            for place in page.all("place"):
                info = place.find("fusioninfo")
                if info is not None and place.get("id") not in members:
                    name = place.text_at("text")
                    raise self.source.error(
                        info.line,
                        f"place {name}: no fusion set {info.get('name')!r} of the file has it",
                    )

    def _leads_nowhere(self, at: Xml, label: str, key: str) -> ValueError:
        problem = f"is missing: no such element has the id {key!r}" if key else "is not named"
        return self.source.error(
            at.line, f"the {label} {problem}; repair the file in the tool that wrote it"
        )

    # --- pages --------------------------------------------------------------------------------

    def document(self, net: Xml) -> dict[str, Any]:
        tops = self._tops(net)
        document: dict[str, Any] = {}
        taken = PlainNames()
        self._fusions(net, document, taken)
        if len(tops) == 1:
            document["name"] = _page_name(tops[0]) or "net"
            self.page(tops[0], document, {}, taken, 0)
        else:
            document["name"] = "net"
            for page in tops:
                name = taken.new(_page_name(page), "page")
                table = document.setdefault("pages", {}).setdefault(name, {})
                self.page(page, table, {}, PlainNames(set(taken.taken)), 0)
        # CPN Tools chooses among transitions and their bindings at random.
        head = {"name": document.pop("name"), "run": {"choice": "bindings"}}
        alphabet = self.meaning.choices.alphabet
        if alphabet is not None:
            digits = ", ".join(f"{number} {text!r}" for number, text in enumerate(alphabet, 1))
            base = 1 << text_bits(alphabet)
            head["description"] = f"Texts are whole numbers; digits in base {base}: {digits}"
        if self.declared.colours:
            head["colours"] = self.declared.colours
        if self.declared.values:
            head["values"] = self.declared.values
        return head | document

    def _tops(self, net: Xml) -> list[Xml]:
        inner = {
            subst.get("subpage")
            for page in self.pages.values()
            for transition in page.all("trans")
            for subst in transition.all("subst")
        }
        listed = []
        for instance in (one for all_ in net.all("instances") for one in all_.all("instance")):
            listed.append(instance.get("page"))
            if listed[-1] not in self.pages:
                raise self._leads_nowhere(instance, "page of this instance", listed[-1])
        numbers = listed or [number for number in self.pages if number not in inner]
        self.count("pages without an instance", len(set(self.pages) - set(numbers) - inner))
        if not numbers:
            raise self.source.error(net.line, "expected a page that is not within another")
        return [self.pages[number] for number in dict.fromkeys(numbers)]

    def _fusions(self, net: Xml, document: dict[str, Any], taken: PlainNames) -> None:
        places = {one.get("id"): one for page in self.pages.values() for one in page.all("place")}
        for fusion in net.all("fusion"):
            members = [places[element.get("idref")] for element in fusion.all("fusion_elm")]
            if not members:
                continue
            name = taken.new(fusion.get("name"), "fusion")
            marked = [set_ for set_ in members if set_.text_at("initmark", "text")]
            table, colour = self.place(marked[0] if marked else members[0])
            document.setdefault("places", {})[name] = table
            self.fusion[fusion.get("id")] = Target(name, colour, table)
            for member in members:
                self.fused[member.get("id")] = fusion.get("id")

    def page(
        self,
        page: Xml,
        table: dict[str, Any],
        ports: dict[str, Target],
        taken: PlainNames,
        depth: int,
    ) -> None:
        """Read an instance of a page into a table."""
        self.instances += 1
        if self.instances > MOST_PAGES or depth > DEEPEST_PAGE:
            raise self.source.error(page.line, f"expected at most {MOST_PAGES} instances of pages")
        self.count("texts beside the net", len(page.all("Aux")))
        for constraints in page.all("constraints"):
            if constraints.children:
                raise self.source.error(constraints.line, "declarative constraints are not read")
        targets: dict[str, Target] = {}
        for place in page.all("place"):
            key = place.get("id")
            if key in ports:
                targets[key] = ports[key]
            elif key in self.fused:
                targets[key] = self.fusion[self.fused[key]]
            else:
                name = taken.new(place.text_at("text"), "place")
                path, colour = self.place(place)
                table.setdefault("places", {})[name] = path
                path |= self.outline(place, name, 0)
                targets[key] = Target(name, colour, path)
        named = [(one, taken.new(one.text_at("text"), "transition")) for one in page.all("trans")]
        arcs: dict[str, list[Xml]] = {}
        for arc in page.all("arc"):
            end = arc.find("transend")
            arcs.setdefault(end.get("idref") if end is not None else "", []).append(arc)
        for transition, name in named:
            subst = transition.find("subst")
            if subst is not None:
                self._subpage(subst, name, table, targets, taken, depth)
                continue
            cases = self.transitions(transition, arcs.get(transition.get("id"), []), targets)
            self.count("transitions whose guard never holds", not cases)
            for number, case in enumerate(cases):
                own = taken.new(name, "transition") if number else name
                drawn = self.outline(transition, own, number)
                if len(cases) > 1:
                    drawn.setdefault("outline", {})["id"] = transition.get("id")
                table.setdefault("transitions", {})[own] = case | drawn

    def _subpage(
        self,
        subst: Xml,
        name: str,
        table: dict[str, Any],
        targets: dict[str, Target],
        taken: PlainNames,
        depth: int,
    ) -> None:
        page = self.pages.get(subst.get("subpage"))
        if page is None:
            raise self.source.error(subst.line, "this substitution transition has no page")
        ports = {}
        known = {place.get("id") for place in page.all("place")}
        pairs = "".join(subst.get("portsock").split())
        if not re.fullmatch(rf"({PORT_AND_SOCKET},?)*", pairs):
            raise self.source.error(
                subst.line, f"portsock: expected pairs such as (ID1,ID2), not {pairs[:40]!r}"
            )
        for port, socket in re.findall(PORT_AND_SOCKET, pairs):
            if socket not in targets:
                raise self.source.error(subst.line, f"the socket {socket} is not on this page")
            if port not in known:
                raise self.source.error(
                    subst.line, f"the port {port} is not on the page {_page_name(page)}"
                )
            ports[port] = targets[socket]
        inner: dict[str, Any] = {}
        table.setdefault("pages", {})[name] = inner
        self.page(page, inner, ports, PlainNames(set(taken.taken)), depth + 1)

    # --- places -------------------------------------------------------------------------------

    def place(self, place: Xml) -> tuple[dict[str, Any], Colour]:
        """Return the table and colour of a place."""
        kind = place.text_at("type", "text") or place.text_at("type", "id")
        colour = self.meaning.colours.get(kind)
        name = " ".join(place.text_at("text").split())
        if colour is None and not kind:
            # Nets without colours.
            colour = Colour("unit")
        if colour is None:
            raise self.source.error(place.line, f"place {name}: no colour set is called {kind!r}")
        if not colour.kind:
            raise self.source.error(
                place.line, f"place {name}: the colour set {kind} is not read: {colour.why}"
            )
        table: dict[str, Any] = {} if colour.kind == "unit" else {"colour": colour.kind}
        if colour.is_list:
            table["order"] = "fifo"
        if colour.element is not None and not colour.is_list:
            base = 1 << width(colour.element)
            table["description"] = f"Lists; digits in base {base}, the first element is the last"
        text = place.text_at("initmark", "text")
        if colour.is_list and not text:
            self.meaning.choices.code(colour.own)
        if text:
            line = place.find("initmark")
            initial = self.within(line or place, f"place {name}", self._initial, text, colour)
            if initial:
                table["initial"] = initial
        return table, colour

    def _initial(self, text: str, colour: Colour) -> Any:
        number = text.strip()
        if colour.kind == "unit" and number.isascii() and number.isdigit():
            return int(number[:9])
        tokens: list[Any] = []
        tree = self.meaning.expand(parse_ml(text))
        if colour.is_list:
            tree = single(tree)
            if tree[0] != "list":
                self.meaning.choices.code(colour.own)
        elif colour.element is not None:
            tree = packed_tokens(self.meaning, tree, colour.element)
        expanded = terms(self.meaning, tree)
        for term in expanded:
            if term.conditions or is_random(term.token):
                raise MlError("an initial marking with conditions or chance is not read")
            if term.delay is not None and term.delay not in (
                ("int", 0),
                ("real", 0.0),
                ("list", [("int", 0)]),
                ("list", []),
            ):
                raise MlError("first tokens with another time than 0 are not read")
            count = self.meaning.text(term.count, {})
            token = self.meaning.text(term.token, {}, colour.kind)
            if count == "1" and colour.kind != "unit":
                tokens.append(token)
            elif count != "0":
                entry = {} if colour.kind == "unit" else {"token": token}
                tokens.append(entry | {"count": int(count) if count.isdigit() else count})
        counts = [part["count"] for part in tokens if isinstance(part, dict)]
        if colour.kind == "unit" and all(isinstance(value, int) for value in counts):
            return sum(counts)
        return tokens


def _page_name(page: Xml) -> str:
    attributes = page.find("pageattr")
    return attributes.get("name") if attributes is not None else ""
