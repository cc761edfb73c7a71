"""The pages, nodes and transitions of a net document, with names resolved.

Exporters read a net from here. The document must have been checked: see `NetModel`.
"""

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from headrace._core import parse_net_expression
from headrace.net.exchange.names import words_of
from headrace.net.outline import names_of

Tree = dict[str, Any]
"""An expression: `{"column": …, "node": …}`, where `node` has one key, the kind of expression."""

PAGE_KEYS = words_of(
    "name description colours values run copies connect ports probes places stations transitions"
    " pages"
)
NODE_KEYS = words_of(
    "colour initial order sink rest conserve description outline discipline servers service class"
    " number"
)
HOLDING_KEYS = ("read", "inhibit", "reset")
TRANSITION_KEYS = words_of(
    "take read inhibit reset when let put record priority weight description outline"
)
ARC_KEYS = words_of("place token count when delay copy")


@dataclass
class Colours:
    """Enumerations with their members, and records with their fields, by name."""

    enums: dict[str, list[str]] = field(default_factory=dict)
    records: dict[str, dict[str, str]] = field(default_factory=dict)

    def contains(self, kind: str, member: str) -> bool:
        """Return true if a kind is `member`, or a record that has it inside."""
        if kind == member:
            return True
        fields = self.records.get(kind, {}).values()
        return any(self.contains(inner, member) for inner in fields)


@dataclass(eq=False)
class Node:
    """A place or station."""

    name: str
    page: "Page"
    colour: str
    table: Mapping[str, Any]
    is_station: bool

    @property
    def path(self) -> str:
        """Names of its pages and its own, such as `server/disk`; the outermost page has none."""
        return "/".join([*self.page.names, self.name])


@dataclass(eq=False)
class Transition:
    """A transition, with its document and the nodes of its arcs."""

    name: str
    page: "Page"
    table: Mapping[str, Any]
    takes: list[tuple[Node, Mapping[str, Any]]] = field(default_factory=list)
    puts: list[tuple[Node, Mapping[str, Any]]] = field(default_factory=list)
    holds: list[tuple[Node, str, Any]] = field(default_factory=list)
    """Of arcs that read, inhibit or reset: node, key and entry."""

    @property
    def path(self) -> str:
        """Names of its pages and its own."""
        return "/".join([*self.page.names, self.name])


@dataclass(eq=False)
class Page:
    """A page."""

    name: str
    parent: "Page | None"
    table: Mapping[str, Any]
    nodes: dict[str, Node] = field(default_factory=dict)
    transitions: list[Transition] = field(default_factory=list)
    pages: dict[str, "Page"] = field(default_factory=dict)

    @property
    def names(self) -> list[str]:
        """Names of the pages on the way, without the outermost."""
        return [] if self.parent is None else [*self.parent.names, self.name]

    def around(self) -> "Iterator[Page]":
        """Yield this page and those around it."""
        page: Page | None = self
        while page is not None:
            yield page
            page = page.parent

    def walk(self) -> "Iterator[Page]":
        """Yield this page and all within it."""
        yield self
        for page in self.pages.values():
            yield from page.walk()

    def has(self, name: str) -> bool:
        """Return true if an element of this page has a name."""
        ports = self.table.get("ports", {})
        if name in self.nodes or name in self.pages or name in ports:
            return True
        return any(transition.name == name for transition in self.transitions)


@dataclass
class NetStructure:
    """A net."""

    name: str
    colours: Colours
    values: dict[str, str]
    """Constants as expressions."""
    top: Page
    settings: int
    """Settings of runs."""
    others: dict[str, int]
    """Tables of pages that exporters do not know, with the number of their entries."""

    def nodes(self) -> Iterator[Node]:
        """Yield all nodes."""
        for page in self.top.walk():
            yield from page.nodes.values()

    def transitions(self) -> Iterator[Transition]:
        """Yield all transitions."""
        for page in self.top.walk():
            yield from page.transitions


def as_text(value: Any) -> str:
    """Return the text of an expression that a document has as a number or truth."""
    if isinstance(value, bool):
        return "true" if value else "false"
    return repr(value) if isinstance(value, float) else str(value)


def as_list(value: Any) -> list[Any]:
    """Return the entries of a list; one value is the only entry."""
    if value is None:
        return []
    return list(value) if isinstance(value, list | tuple) else [value]


def tree_of(value: Any) -> Tree:
    """Return the tree of an expression of a document."""
    tree: Tree = json.loads(parse_net_expression(as_text(value)))
    return tree


def node_of(tree: Tree) -> tuple[str, Any]:
    """Return the kind of an expression, and its parts."""
    ((kind, parts),) = tree["node"].items()
    return kind, parts


def table_of(arc: Any) -> Mapping[str, Any]:
    """Return the table of an arc that a document may have as the name of a place."""
    return {"place": arc} if isinstance(arc, str) else arc


def structure_of(document: Mapping[str, Any]) -> NetStructure:
    """Return the structure of a document that has been checked."""
    colours = Colours()
    for name, declared in document.get("colours", {}).items():
        if not isinstance(declared, Mapping | list | tuple):
            raise ValueError(f"colours.{name}: {declared!r} has no translation")
        if isinstance(declared, Mapping):
            colours.records[name] = {key: str(text).strip() for key, text in declared.items()}
        else:
            colours.enums[name] = [str(member) for member in declared]
    values = {name: as_text(value) for name, value in document.get("values", {}).items()}
    top = _page(str(document.get("name", "net")), None, document)
    for page in top.walk():
        for transition in page.transitions:
            for key, arcs in (("take", transition.takes), ("put", transition.puts)):
                for arc in as_list(transition.table.get(key)):
                    table = table_of(arc)
                    _check(f"{key} of transition {transition.path}", table, ARC_KEYS)
                    arcs.append((_resolve(page, str(table["place"])), table))
            for key in HOLDING_KEYS:
                for arc in as_list(transition.table.get(key)):
                    table = table_of(arc)
                    _check(f"{key} of transition {transition.path}", table, ARC_KEYS)
                    transition.holds.append((_resolve(page, str(table["place"])), key, arc))
    others: dict[str, int] = {}
    for page in top.walk():
        for key, entries in page.table.items():
            if key not in PAGE_KEYS:
                number = len(entries) if isinstance(entries, Mapping | list | tuple) else 1
                others[key] = others.get(key, 0) + number
    # Other tools choose at random, too.
    run = document.get("run", {})
    settings = len(run) - (run.get("choice") in ("random", "bindings"))
    return NetStructure(top.name, colours, values, top, settings, others)


def _check(label: str, table: Mapping[str, Any], known: frozenset[str]) -> None:
    """Refuse keys whose meaning is not known here: to leave them out could change the net."""
    for key in table:
        if key not in known:
            raise ValueError(f"{label}: {key} has no translation")


def _page(name: str, parent: Page | None, table: Mapping[str, Any]) -> Page:
    page = Page(name, parent, table)
    for key, is_station in (("places", False), ("stations", True)):
        for node, weight in table.get(key, {}).items():
            _check(f"{key} {node}", weight, NODE_KEYS)
            colour = str(weight.get("colour", "unit")).strip()
            page.nodes[node] = Node(node, page, colour, weight, is_station)
    for transition, entries in table.get("transitions", {}).items():
        _check(f"transition {transition}", entries, TRANSITION_KEYS)
        page.transitions.append(Transition(transition, page, entries))
    for inner, entries in table.get("pages", {}).items():
        page.pages[inner] = _page(inner, page, entries)
    return page


def _resolve(page: Page, text: str) -> Node:
    """Return the node behind a name in a page or one around it."""
    first = names_of(text)[0]
    for scope in page.around():
        if scope.has(first):
            return _follow(scope, text)
    raise ValueError(f"nothing in {page.name} or around it is called {first!r}")


def _follow(page: Page, text: str) -> Node:
    *pages, last = names_of(text)
    for name in pages:
        page = page.pages[name]
    if last in page.nodes:
        return page.nodes[last]
    port = page.table["ports"][last]
    if "place" in port:
        return _follow(page, port["place"])
    assert page.parent is not None
    return _resolve(page.parent, page.table["connect"][last])
