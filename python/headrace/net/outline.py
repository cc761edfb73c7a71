"""Nets of scenarios as documents to start from.

The guards, actions and states of the built-in models are machine code, which a document cannot
have. Something that runs stands in their place. `description` notes it, and drawings show what
`outline` says.
"""

import dataclasses
import re
from collections import Counter
from collections.abc import Iterator, Mapping
from typing import Any

DISCIPLINES = {
    "FCFS": "fcfs",
    "infinite server": "infinite",
    "delay": "delay",
    "processor sharing": "sharing",
}
"""Disciplines of documents, by their names in drawings up to a comma."""
PLACEHOLDER = "1 s"
"""A time that the document does not have."""


@dataclasses.dataclass
class Skeleton:
    """The net of a scenario as a document."""

    document: dict[str, Any]
    left_out: Counter[str]
    """What could not be carried over, and how often."""

    def sentence(self) -> str:
        """Return what was left out, in one sentence."""
        parts = [f"{number:,} {label}" for label, number in sorted(self.left_out.items())]
        if not parts:
            return "nothing was left out"
        return f"left out, and noted in descriptions: {', '.join(parts)}"


@dataclasses.dataclass(eq=False)
class _Page:
    """A page of a structure, and its table in the document."""

    structure: Mapping[str, Any]
    parent: "_Page | None"
    table: dict[str, Any]
    names: set[str]
    pages: "list[_Page]"

    @property
    def name(self) -> str:
        return str(self.structure["name"])

    def around(self) -> "Iterator[_Page]":
        """Yield this page and those around it, from the inside."""
        page: _Page | None = self
        while page is not None:
            yield page
            page = page.parent

    def within(self) -> "Iterator[_Page]":
        """Yield this page and those within."""
        yield self
        for page in self.pages:
            yield from page.within()


def escaped(name: str) -> str:
    """Return a name as paths of documents have it."""
    return name.replace("/", "//")


def names_of(path: str) -> list[str]:
    """Return the names on a path of a document; a doubled slash is part of a name."""
    return [name.replace("\0", "/") for name in path.replace("//", "\0").split("/")]


def skeleton(structure: Mapping[str, Any], description: str = "") -> Skeleton:
    """Return the net of a scenario as a document.

    Parameters:
        structure: Pages, nodes and transitions, as `Scenario.structure` returns them.
    """
    return _Writer(structure["page"]).write(description)


class _Writer:
    def __init__(self, top: Mapping[str, Any]) -> None:
        self.left_out: Counter[str] = Counter()
        self.colours: dict[str, dict[str, str]] = {}
        self.top = self._page(top, None)
        pages = list(self.top.within())
        self.nodes = {
            node["id"]: (page, node) for page in pages for node in page.structure["nodes"]
        }
        self.paths = {
            id: f"{page.structure['path']}/{node['name']}"
            for id, (page, node) in self.nodes.items()
        }
        self.stores = {
            store["id"]: f"{page.structure['path']}/{store['name']}"
            for page in pages
            for store in page.structure["stores"]
        }
        transitions = [t for page in pages for t in page.structure["transitions"]]
        self.taken = {i["node"] for t in transitions for i in t["inputs"] if i["by"] is None}

    def write(self, description: str) -> Skeleton:
        """Return the document."""
        for page in self.top.within():
            for node in page.structure["nodes"]:
                key = "stations" if node["kind"] == "station" else "places"
                table = self._station(node) if key == "stations" else self._place(node)
                page.table.setdefault(key, {})[node["name"]] = table
            for port in page.structure.get("ports", ()):
                self._port(page, port)
            for transition in page.structure["transitions"]:
                table = self._transition(page, transition)
                page.table.setdefault("transitions", {})[transition["name"]] = table
            page.table["outline"] = self._order(page)
        head: dict[str, Any] = {"name": self.top.name}
        left_out = self.left_out
        noted = Skeleton({}, left_out).sentence()
        head["description"] = f"{description}{': ' if description else ''}{noted}"
        if self.colours:
            head["colours"] = self.colours
        return Skeleton(head | _ordered(self.top.table), left_out)

    def _page(self, structure: Mapping[str, Any], parent: "_Page | None") -> _Page:
        folded = structure.get("folded")
        table: dict[str, Any] = {"copies": structure["copies"]} if folded else {}
        keys = ("nodes", "transitions", "pages", "ports")
        names = {element["name"] for key in keys for element in structure.get(key, ())}
        page = _Page(structure, parent, table, names, [])
        if parent is not None:
            parent.table.setdefault("pages", {})[page.name] = table
        page.pages = [self._page(inner, page) for inner in structure["pages"]]
        return page

    def _order(self, page: _Page) -> dict[str, Any]:
        outline: dict[str, Any] = {"nodes": [node["name"] for node in page.structure["nodes"]]}
        if stores := [store["name"] for store in page.structure["stores"]]:
            outline["stores"] = stores
            self.left_out["stores"] += len(stores)
        return outline

    def _colour(self, node: Mapping[str, Any]) -> tuple[str | None, dict[str, Any]]:
        """Return the name of a node's colour in the document, and how drawings show it."""
        own = node["colour"]
        if own == "()":
            return None, {"colour": own}
        name = re.sub(r"\W", "_", own)
        self.colours.setdefault(name, {})
        return name, ({} if name == own else {"colour": own})

    def _node(self, node: Mapping[str, Any]) -> tuple[dict[str, Any], dict[str, Any], list[str]]:
        """Return a node's table, its outline and what is left out of it."""
        colour, outline = self._colour(node)
        table: dict[str, Any] = {} if colour is None else {"colour": colour}
        notes = ["fields of its colour"] if colour is not None else []
        initial = node.get("initial", 0)
        if initial:
            each, rest = divmod(initial, node["copies"])
            number = f"if copy() < {rest} then {each + 1} else {each}" if rest else str(each)
            token = {} if colour is None else {"token": f"{colour}()"}
            table["initial"] = [token | {"count": number}]
        if node.get("rest"):
            table["rest"] = True
        if node["sink"]:
            table["sink"] = True
        elif node["id"] not in self.taken:
            # Transitions take from it by slot, which documents cannot.
            table["sink"] = True
            outline["sink"] = False
            notes.append("transitions that take tokens by slot")
            self.left_out["places whose tokens are taken by slot"] += 1
        return table, outline, notes

    def _place(self, node: Mapping[str, Any]) -> dict[str, Any]:
        table, outline, notes = self._node(node)
        if node["kind"] == "place":
            table = {"order": "fifo"} | table
        return _noted(table, outline, notes)

    def _station(self, node: Mapping[str, Any]) -> dict[str, Any]:
        table, outline, notes = self._node(node)
        shown = node["discipline"]
        barrier = re.fullmatch(r"barrier of (\d+)", shown)
        if barrier:
            return _noted(
                table | {"discipline": "barrier", "number": int(barrier[1])}, outline, notes
            )
        discipline = DISCIPLINES.get(shown.partition(",")[0])
        if discipline is None:
            outline["discipline"] = shown
            notes.append(f"discipline {shown}")
            self.left_out["disciplines"] += 1
        servers = node["servers"]
        table["discipline"] = discipline or ("infinite" if servers is None else "fcfs")
        if servers is not None and table["discipline"] in ("fcfs", "sharing"):
            table["servers"] = servers
        service = node.get("service")
        if service is None or (service == 0 and discipline is None):
            notes.append("service time")
            self.left_out["service times"] += 1
            table["service"] = PLACEHOLDER
        else:
            table["service"] = service
        return _noted(table, outline, notes)

    def _port(self, page: _Page, port: Mapping[str, Any]) -> None:
        ports = page.table.setdefault("ports", {})
        if page.parent is None or len(port["nodes"]) != 1:
            self.left_out["ports into several pages"] += 1
            return
        target = port["nodes"][0]
        inside = self.nodes[target][0] in page.within()
        if port["direction"] == "in" and inside:
            ports[port["name"]] = {"direction": "in", "place": self._down(page, target)}
        elif port["direction"] == "out" and not inside:
            ports[port["name"]] = {"direction": "out"}
            connect = page.table.setdefault("connect", {})
            connect[port["name"]] = self._name(page.parent, target)
        else:
            self.left_out["ports that lead back"] += 1

    def _down(self, page: _Page, node: int) -> str:
        """Return the path of a node within a page, through ports."""
        group, structure = self.nodes[node]
        if group is page:
            return escaped(structure["name"])
        (inner,) = [inner for inner in page.pages if group in inner.within()]
        ports = inner.structure.get("ports", ())
        for port in ports:
            if port["direction"] == "in" and port["nodes"] == [node]:
                return f"{escaped(inner.name)}/{escaped(port['name'])}"
        return f"{escaped(inner.name)}/{self._down(inner, node)}"

    def _name(self, page: _Page, node: int) -> str:
        """Return what transitions of a page call a node."""
        group = self.nodes[node][0]
        if group in page.within():
            return self._down(page, node)
        for port in page.structure.get("ports", ()):
            if port["direction"] == "out" and port["nodes"] == [node]:
                return escaped(port["name"])
        around = list(page.around())
        (shared,) = [at for at in around if group in at.within()][:1]
        path = self._down(shared, node)
        if not any(names_of(path)[0] in inner.names for inner in around[: around.index(shared)]):
            return path
        # The name is that of another element here: a port leads out.
        assert page.parent is not None
        name = f"to {self.paths[node].removeprefix(self.top.name + '/')}".replace("/", " ")
        if name not in page.names:
            page.names.add(name)
            page.table.setdefault("ports", {})[name] = {"direction": "out"}
            page.table.setdefault("connect", {})[name] = self._name(page.parent, node)
        return escaped(name)

    def _copies(self, page: _Page, node: int) -> list[str]:
        """Return a choice for each folded page on the way to a node."""
        around = list(page.around())
        way = [at for at in self.nodes[node][0].around() if at not in around]
        return [
            f"below({at.structure['copies']})" for at in reversed(way) if at.table.get("copies")
        ]

    def _transition(self, page: _Page, transition: Mapping[str, Any]) -> dict[str, Any]:
        table: dict[str, Any] = {}
        outline: dict[str, Any] = {}
        notes: Counter[str] = Counter()
        if transition["priority"]:
            table["priority"] = transition["priority"]
        take = []
        for arc in transition["inputs"]:
            if arc["by"] is not None:
                outline.setdefault("slots", []).append(self.paths[arc["node"]])
                notes["tokens taken by slot"] += 1
                continue
            entry: dict[str, Any] = {"place": self._name(page, arc["node"])}
            if arc["weight"] > 1:
                entry["count"] = arc["weight"]
            take.append(entry)
        table["take"] = take
        if transition["guarded"]:
            table["when"] = "true"
            notes["guards"] += 1
        groups: dict[int, list[dict[str, Any]]] = {}
        put = []
        for arc in transition["outputs"]:
            entry = self._put(page, arc, notes)
            put.append(entry)
            if arc["how"] == "either":
                groups.setdefault(arc["group"], []).append(entry)
        for number, entries in enumerate(groups.values()):
            name = "way" if number == 0 else f"way_{number + 1}"
            table.setdefault("let", []).append(f"{name} = below({len(entries)})")
            for case, entry in enumerate(entries):
                entry["when"] = f"{name} == {case}"
            notes["choices between outputs"] += 1
        table["put"] = put
        if _has_repeated(transition["outputs"]):
            outline["outputs"] = [
                {
                    "node": self.paths[arc["node"]],
                    "how": arc["how"],
                    "delayed": arc["delayed"],
                    "selects_copy": arc["selects_copy"],
                }
                for arc in transition["outputs"]
            ]
        for key, paths in (
            ("signals", self.paths),
            ("observed_nodes", self.paths),
            ("stores", self.stores),
            ("observed_stores", self.stores),
        ):
            if ids := transition.get(key):
                outline[key] = [paths[id] for id in ids]
                notes["uses of stores" if "stores" in key else "reports to stations"] += len(ids)
        notes["actions"] += 1
        self.left_out.update(notes)
        return _noted(table, outline, list(notes))

    def _put(self, page: _Page, arc: Mapping[str, Any], notes: Counter[str]) -> dict[str, Any]:
        entry: dict[str, Any] = {"place": self._name(page, arc["node"])}
        colour, _ = self._colour(self.nodes[arc["node"]][1])
        if colour is not None:
            entry["token"] = f"{colour}()"
        if arc["how"] == "maybe":
            entry["when"] = "bernoulli(0.5)"
            notes["conditions of outputs"] += 1
        elif arc["how"] == "many":
            entry["count"] = "discrete(0, 1)"
            notes["numbers of tokens"] += 1
        if arc["delayed"]:
            entry["delay"] = PLACEHOLDER
            notes["delays"] += 1
        if copies := self._copies(page, arc["node"]):
            entry["copy"] = copies
            notes["choices of copies"] += 1
        if arc.get("of_union"):
            notes["arcs into one of several pages"] += 1
        return entry


def _has_repeated(outputs: list[dict[str, Any]]) -> bool:
    """Return true if two arcs that no choice excludes lead to one node, which is then one arc."""
    groups: dict[int, list[int | None]] = {}
    for arc in outputs:
        groups.setdefault(arc["node"], []).append(arc.get("group"))
    return any(len(set_) > 1 and (None in set_ or len(set(set_)) > 1) for set_ in groups.values())


def _noted(table: dict[str, Any], outline: dict[str, Any], notes: list[str]) -> dict[str, Any]:
    if notes:
        table["description"] = f"left out: {', '.join(notes)}"
    if outline:
        table["outline"] = outline
    return table


KEYS = ("copies", "outline", "connect", "ports", "places", "stations", "transitions", "pages")


def _ordered(table: dict[str, Any]) -> dict[str, Any]:
    """Return the table of a page with its keys in the usual order."""
    settings = {key: table[key] for key in KEYS if table.get(key)}
    if "pages" in settings:
        settings["pages"] = {name: _ordered(page) for name, page in settings["pages"].items()}
    return settings


def draw_outline(page: dict[str, Any], document: Mapping[str, Any]) -> None:
    """Add to a structure what the outlines in its document say.

    Raises:
        ValueError: An outline names an element that is not there, or has another form.
    """
    try:
        _Drawer(page).page(page, document)
    except (AttributeError, KeyError, TypeError) as error:
        raise ValueError(
            f"outline: expected tables as headrace net writes them: {type(error).__name__} {error}"
        ) from None


class _Drawer:
    def __init__(self, top: Mapping[str, Any]) -> None:
        self.nodes: dict[str, int] = {}
        self.stores: dict[str, int] = {}
        self._find(top)

    def _find(self, page: Mapping[str, Any]) -> None:
        for node in page["nodes"]:
            self.nodes[f"{page['path']}/{node['name']}"] = node["id"]
        for store in page["stores"]:
            self.stores[f"{page['path']}/{store['name']}"] = store["id"]
        for inner in page["pages"]:
            self._find(inner)

    def page(self, page: dict[str, Any], table: Mapping[str, Any]) -> None:
        """Add what is in a page and those within."""
        self._stores(page, table)
        self._elements(page, table)

    def _stores(self, page: dict[str, Any], table: Mapping[str, Any]) -> None:
        for name in _outline(table, page["path"]).get("stores", ()):
            id = 1 + max(self.stores.values(), default=-1)
            self.stores[f"{page['path']}/{name}"] = id
            page["stores"].append({"id": id, "name": name})
        for inner in page["pages"]:
            self._stores(inner, table["pages"][inner["name"]])

    def _elements(self, page: dict[str, Any], table: Mapping[str, Any]) -> None:
        path = page["path"]
        for node in page["nodes"]:
            stations = table.get("stations" if node["kind"] == "station" else "places", {})
            shown = _outline(stations[node["name"]], f"{path}/{node['name']}")
            node.update(
                {key: shown[key] for key in ("colour", "discipline", "sink") if key in shown}
            )
        for transition in page["transitions"]:
            where = f"{path}/{transition['name']}"
            shown = _outline(table["transitions"][transition["name"]], where)
            slots = self._ids(shown, "slots", self.nodes, where)
            transition["inputs"] += [{"node": id, "weight": 1, "by": "slot"} for id in slots]
            if arcs := shown.get("outputs"):
                ends = {"outputs": [arc["node"] for arc in arcs]}
                ids = self._ids(ends, "outputs", self.nodes, where)
                transition["outputs"] = [
                    arc | {"node": id} for arc, id in zip(arcs, ids, strict=True)
                ]
            for key, known in (
                ("signals", self.nodes),
                ("observed_nodes", self.nodes),
                ("stores", self.stores),
                ("observed_stores", self.stores),
            ):
                if ids := self._ids(shown, key, known, where):
                    transition[key] = [*transition.get(key, ()), *ids]
        order = {name: at for at, name in enumerate(_outline(table, path).get("nodes", ()))}
        page["nodes"].sort(key=lambda node: order.get(node["name"], len(order)))
        for inner in page["pages"]:
            self._elements(inner, table["pages"][inner["name"]])

    def _ids(
        self, shown: Mapping[str, Any], key: str, known: Mapping[str, int], where: str
    ) -> list[int]:
        wrong = [path for path in shown.get(key, ()) if path not in known]
        if wrong:
            raise ValueError(f"{where}: outline.{key}: there is no {wrong[0]!r}")
        return [known[path] for path in shown.get(key, ())]


def _outline(table: Any, where: str) -> Mapping[str, Any]:
    outline = table.get("outline", {}) if isinstance(table, Mapping) else {}
    if not isinstance(outline, Mapping):
        raise ValueError(f"{where}: outline: expected a table, not {outline!r}")
    return outline
