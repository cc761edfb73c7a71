"""The structure of a net as the kernel describes it: pages, nodes, stores, transitions."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

NODE_KINDS = ("place", "bag", "station")
OUTPUT_WAYS = ("one", "either", "maybe", "many")

Position: TypeAlias = tuple[float, float] | None
"""Where the file of another tool has an element: x to the right and y down."""


class StructureError(ValueError):
    """A description that is not a net; the message says where and what was expected."""


@dataclass(frozen=True)
class Node:
    """A place, a bag (a place without order) or a station (a queue with servers)."""

    id: int
    name: str
    kind: str
    discipline: str
    colour: str
    note: str
    sink: bool
    initial: int = 0
    """First tokens in all copies."""
    marking: str = ""
    """Their values."""
    at: Position = None


@dataclass(frozen=True)
class Store:
    """A structure that stays in the net and is borrowed by transitions."""

    id: int
    name: str


@dataclass(frozen=True)
class Input:
    """`weight` tokens taken from a node, matched by the key `by` if there is one."""

    node: int
    weight: int
    by: str | None
    text: str | None = None
    """Its inscription, of a net of one's own."""


@dataclass(frozen=True)
class Output:
    """Tokens put into a node: always one, into one of several nodes, at most one, or many."""

    node: int
    how: str
    delayed: bool
    selects_copy: bool
    text: str | None = None
    """Its inscription, of a net of one's own."""


@dataclass(frozen=True)
class Transition:
    """A rule that takes no time: takes tokens, borrows stores, puts tokens."""

    name: str
    priority: int
    guarded: bool
    inputs: tuple[Input, ...]
    outputs: tuple[Output, ...]
    stores: tuple[int, ...]
    signals: tuple[int, ...]
    observed_nodes: tuple[int, ...]
    observed_stores: tuple[int, ...]
    note: str = ""
    guard: str = ""
    steps: tuple[str, ...] = ()
    """What a firing computes and sets."""
    is_inscribed: bool = False
    """Of a net of one's own, whose transitions all have symbols."""
    at: Position = None

    @property
    def is_plain(self) -> bool:
        """True if the transition only moves a token on, so that a mark on the arc is enough."""
        if len(self.inputs) != 1 or len(self.outputs) != 1:
            return False
        taken, put = self.inputs[0], self.outputs[0]
        return (
            not (self.stores or self.signals or self.guarded or self.priority or self.note)
            and not self.is_inscribed
            and not (self.observed_nodes or self.observed_stores)
            and taken.node != put.node
            and (taken.weight, taken.by) == (1, None)
            and (put.how, put.delayed, put.selects_copy) == ("one", False, False)
        )


@dataclass(frozen=True)
class Page:
    """A named piece of net; `copies` of it are folded into one."""

    name: str
    path: str
    copies: int
    nodes: tuple[Node, ...]
    stores: tuple[Store, ...]
    transitions: tuple[Transition, ...]
    pages: "tuple[Page, ...]"

    def walk(self) -> "Iterator[Page]":
        """This page and every page below it, parents first."""
        yield self
        for page in self.pages:
            yield from page.walk()


def read_structure(structure: Mapping[str, Any]) -> Page:
    """The top page of a structure.

    Raises:
        StructureError: if a field is missing or of the wrong kind, or an id is used twice.
            Also if a transition names a node or store that no page has.
    """
    page = _page(_field(structure, "page", "the structure"), "the structure")
    nodes: dict[int, str] = {}
    stores: dict[int, str] = {}
    for each in page.walk():
        for node in each.nodes:
            _claim(nodes, node.id, "node", f"{each.path}/{node.name}")
        for store in each.stores:
            _claim(stores, store.id, "store", f"{each.path}/{store.name}")
    for each in page.walk():
        for transition in each.transitions:
            where = f"{each.path}/{transition.name}"
            reached = [i.node for i in transition.inputs] + [o.node for o in transition.outputs]
            for id in (*reached, *transition.signals, *transition.observed_nodes):
                if id not in nodes:
                    raise StructureError(f"{where}: there is no node with id {id} in any page")
            for id in (*transition.stores, *transition.observed_stores):
                if id not in stores:
                    raise StructureError(f"{where}: there is no store with id {id} in any page")
    return page


def _claim(taken: dict[int, str], id: int, kind: str, path: str) -> None:
    if id in taken:
        raise StructureError(f"{path}: {kind} id {id} is already that of {taken[id]}")
    taken[id] = path


def _page(raw: Any, parent: str) -> Page:
    name = str(_field(raw, "name", f"a page of {parent}"))
    path = str(raw.get("path", name))
    copies = _integer(raw.get("copies", 1), f"{path}: copies")
    if copies < 1:
        raise StructureError(f"{path}: copies = {copies}: expected 1 or more")
    return Page(
        name,
        path,
        copies,
        tuple(_node(each, path) for each in _list(raw, "nodes", path)),
        tuple(_store(each, path) for each in _list(raw, "stores", path)),
        tuple(_transition(each, path) for each in _list(raw, "transitions", path)),
        tuple(_page(each, path) for each in _list(raw, "pages", path)),
    )


def _node(raw: Any, page: str) -> Node:
    name = str(_field(raw, "name", f"a node of {page}"))
    where = f"{page}/{name}"
    return Node(
        _integer(_field(raw, "id", where), f"{where}: id"),
        name,
        _choice(raw.get("kind", "place"), NODE_KINDS, f"{where}: kind"),
        str(raw.get("discipline") or ""),
        str(raw.get("colour") or ""),
        str(raw.get("note") or ""),
        bool(raw.get("sink", False)),
        _integer(raw.get("initial", 0), f"{where}: initial"),
        str(raw.get("marking") or ""),
        _position(raw, where),
    )


def _store(raw: Any, page: str) -> Store:
    name = str(_field(raw, "name", f"a store of {page}"))
    return Store(_integer(_field(raw, "id", f"{page}/{name}"), f"{page}/{name}: id"), name)


def _transition(raw: Any, page: str) -> Transition:
    name = str(_field(raw, "name", f"a transition of {page}"))
    where = f"{page}/{name}"

    def ids(key: str) -> tuple[int, ...]:
        return tuple(_integer(each, f"{where}: {key}") for each in _list(raw, key, where))

    return Transition(
        name,
        _integer(raw.get("priority", 0), f"{where}: priority"),
        bool(raw.get("guarded", False)),
        tuple(_input(each, where) for each in _list(raw, "inputs", where)),
        tuple(_output(each, where) for each in _list(raw, "outputs", where)),
        ids("stores"),
        ids("signals"),
        ids("observed_nodes"),
        ids("observed_stores"),
        str(raw.get("note") or ""),
        str(raw.get("guard") or ""),
        tuple(map(str, _list(raw, "steps", where))),
        bool(raw.get("is_inscribed", False)),
        _position(raw, where),
    )


def _input(raw: Any, where: str) -> Input:
    node = _integer(_field(raw, "node", f"an input of {where}"), f"an input of {where}: node")
    by = raw.get("by")
    weight = _integer(raw.get("weight", 1), f"an input of {where}: weight")
    return Input(node, weight, None if by is None else str(by), raw.get("text"))


def _output(raw: Any, where: str) -> Output:
    return Output(
        _integer(_field(raw, "node", f"an output of {where}"), f"an output of {where}: node"),
        _choice(raw.get("how", "one"), OUTPUT_WAYS, f"an output of {where}: how"),
        bool(raw.get("delayed", False)),
        bool(raw.get("selects_copy", False)),
        raw.get("text"),
    )


def _position(raw: Mapping[str, Any], where: str) -> Position:
    at = _list(raw, "at", where)
    if at and not (len(at) == 2 and all(isinstance(each, int | float) for each in at)):
        raise StructureError(f"{where}: at: expected [x, y], found {at!r}")
    return (float(at[0]), float(at[1])) if at else None


def _field(raw: Any, name: str, where: str) -> Any:
    if not isinstance(raw, Mapping):
        raise StructureError(f"{where}: expected a table of fields, found {raw!r}")
    if name not in raw:
        raise StructureError(f"{where}: the field {name!r} is missing")
    return raw[name]


def _list(raw: Mapping[str, Any], name: str, where: str) -> Sequence[Any]:
    value = raw.get(name) or []
    if not isinstance(value, list | tuple):
        raise StructureError(f"{where}: {name}: expected a list, found {value!r}")
    return value


def _integer(value: Any, where: str) -> int:
    if not isinstance(value, int) or isinstance(value, bool):
        raise StructureError(f"{where}: expected a whole number, found {value!r}")
    return value


def _choice(value: Any, choices: tuple[str, ...], where: str) -> str:
    if value not in choices:
        raise StructureError(f"{where}: expected one of {', '.join(choices)}, found {value!r}")
    return str(value)
