"""A net as a graph to be drawn: symbols on pages, joined by arcs, store lines and signals.

Pages below a depth are closed: one symbol stands for all that they hold.
"""

from dataclasses import dataclass, field

from headrace.drawing.net_structure import Node, Output, Page, Store, Transition
from headrace.drawing.text_size import shorten

SMALL_SIZE = 9.0
"""Size of labels and notes."""
LONGEST_INSCRIPTION = 190.0


@dataclass
class Symbol:
    """One thing drawn in a page."""

    kind: str
    """place, bag, station, transition, store or page (a closed one)"""
    page: int
    name: str
    item: Node | Store | Transition | Page
    x: float = 0.0
    y: float = 0.0
    width: float = 0.0
    height: float = 0.0
    mirrored: bool = False
    """Tokens come from the east and leave to the west."""


@dataclass
class Edge:
    """A line from one symbol to another; arcs and signals have an arrowhead at the end."""

    source: int
    target: int
    kind: str
    """arc, store or signal"""
    how: str = "one"
    """Kind of an arc out of a transition; "input" or "inhibit" for an arc into one."""
    label: str = ""
    """Printed at the end where the transition is."""
    inscription: str = ""
    """The whole text of the label."""
    label_at: tuple[float, float] | None = None
    """Middle of the label beside a straight line; None: it stands at the transition."""
    tick: Transition | None = None
    """A plain transition, drawn as a mark on the arc, and the page that mark belongs to."""
    tick_page: int = -1
    route: list[tuple[float, float]] = field(default_factory=list)
    page_routes: dict[int, list[tuple[float, float]]] = field(default_factory=dict)
    """The part of the route that lies in each page, seen from that page's corner."""


@dataclass
class Sheet:
    """A page to be drawn as a box."""

    page: Page
    parent: int
    depth: int
    children: list[int] = field(default_factory=list)
    symbols: list[int] = field(default_factory=list)
    x: float = 0.0
    y: float = 0.0
    width: float = 0.0
    height: float = 0.0


@dataclass
class Graph:
    """All sheets (the top page first, parents before children), symbols and edges of a net."""

    sheets: list[Sheet]
    symbols: list[Symbol]
    edges: list[Edge]

    def ancestors(self, sheet: int) -> list[int]:
        """The sheet itself, its parent, and so on up to the top page."""
        chain = [sheet]
        while chain[-1] != 0:
            chain.append(self.sheets[chain[-1]].parent)
        return chain

    def crossed(self, edge: Edge) -> tuple[list[int], int, list[int]]:
        """The sheets an edge leaves (inner first), the one it turns in, and those it enters."""
        up = self.ancestors(self.symbols[edge.source].page)
        down = self.ancestors(self.symbols[edge.target].page)
        common = next(sheet for sheet in up if sheet in down)
        return up[: up.index(common)], common, down[: down.index(common)][::-1]


@dataclass
class _Ends:
    """The symbol that each node, store and page is drawn as."""

    nodes: dict[int, int] = field(default_factory=dict)
    stores: dict[int, int] = field(default_factory=dict)
    closed: list[tuple[int, Page]] = field(default_factory=list)
    """Symbols of closed pages, and their pages."""


def build_graph(top: Page, depth: int | None = None) -> Graph:
    """The graph of a net.

    Args:
        top: the outermost page, whose depth is 0.
        depth: pages below this depth are closed. None: all are open.
    """
    graph, ends = Graph([], [], []), _Ends()
    _add_sheet(graph, ends, top, 0, 0, depth)
    for number, sheet in enumerate(graph.sheets):
        for transition in sheet.page.transitions:
            if transition.is_plain and _mark_on_arc(graph, number, transition, ends.nodes):
                continue
            _add_transition(graph, number, transition, ends)
    for here, page in ends.closed:
        for each in page.walk():
            for transition in each.transitions:
                _add_edges(graph, here, transition, ends)
    if ends.closed:
        graph.edges = _merged(graph)
    return graph


def _add_sheet(
    graph: Graph, ends: _Ends, page: Page, parent: int, level: int, depth: int | None
) -> int:
    number = len(graph.sheets)
    sheet = Sheet(page, parent, level)
    graph.sheets.append(sheet)
    for node in page.nodes:
        ends.nodes[node.id] = _add_symbol(graph, number, Symbol(node.kind, number, node.name, node))
    for store in page.stores:
        ends.stores[store.id] = _add_symbol(
            graph, number, Symbol("store", number, store.name, store)
        )
    for child in page.pages:
        if depth is not None and level >= depth:
            _close(graph, ends, number, child)
        else:
            sheet.children.append(_add_sheet(graph, ends, child, number, level + 1, depth))
    return number


def _close(graph: Graph, ends: _Ends, sheet: int, page: Page) -> None:
    here = _add_symbol(graph, sheet, Symbol("page", sheet, page.name, page))
    ends.closed.append((here, page))
    for each in page.walk():
        ends.nodes |= {node.id: here for node in each.nodes}
        ends.stores |= {store.id: here for store in each.stores}


def _merged(graph: Graph) -> list[Edge]:
    """Return the edges outside closed pages. A closed page has one edge of a kind to a symbol."""
    closed = {i for i, symbol in enumerate(graph.symbols) if symbol.kind == "page"}
    seen: set[tuple[int, int, str]] = set()
    edges = []
    for edge in graph.edges:
        if edge.source in closed or edge.target in closed:
            key = (edge.source, edge.target, edge.kind)
            if edge.source == edge.target or key in seen:
                continue
            seen.add(key)
            edge.how, edge.label, edge.inscription, edge.tick = "one", "", "", None
        edges.append(edge)
    return edges


def _add_symbol(graph: Graph, sheet: int, symbol: Symbol) -> int:
    graph.symbols.append(symbol)
    graph.sheets[sheet].symbols.append(len(graph.symbols) - 1)
    return len(graph.symbols) - 1


def _mark_on_arc(graph: Graph, sheet: int, transition: Transition, nodes: dict[int, int]) -> bool:
    """Draw a plain transition as a mark on an arc, if that arc passes through its page."""
    source, target = nodes[transition.inputs[0].node], nodes[transition.outputs[0].node]
    edge = Edge(source, target, "arc", tick=transition, tick_page=sheet)
    leaves, common, enters = graph.crossed(edge)
    if sheet not in (*leaves, common, *enters):
        return False
    graph.edges.append(edge)
    return True


def _add_transition(graph: Graph, sheet: int, transition: Transition, ends: _Ends) -> None:
    here = _add_symbol(graph, sheet, Symbol("transition", sheet, transition.name, transition))
    _add_edges(graph, here, transition, ends)


def _add_edges(graph: Graph, here: int, transition: Transition, ends: _Ends) -> None:
    """Join a transition's symbol, or that of a closed page around it, to all that it uses."""
    nodes, stores = ends.nodes, ends.stores
    for taken in transition.inputs:
        words = [str(taken.weight)] if taken.weight != 1 else []
        how = "inhibit" if taken.by == "inhibit" else "input"
        if taken.by in ("read", "reset"):
            words.append(taken.by)
        elif taken.by not in (None, how):
            words.append(f"by {_short(taken.by)}")
        edge = Edge(nodes[taken.node], here, "arc", how, " ".join(words))
        is_holding = taken.by in ("inhibit", "read", "reset")
        graph.edges.append(edge if is_holding else _inscribed(edge, taken.text))
    for put in transition.outputs:
        edge = Edge(here, nodes[put.node], "arc", put.how, output_label(put))
        graph.edges.append(_inscribed(edge, put.text))
    graph.edges += [Edge(stores[store], here, "store") for store in transition.stores]
    graph.edges += [Edge(here, nodes[node], "signal") for node in transition.signals]
    graph.edges += [Edge(nodes[node], here, "signal") for node in transition.observed_nodes]
    graph.edges += [Edge(stores[store], here, "store") for store in transition.observed_stores]


def _inscribed(edge: Edge, text: str | None) -> Edge:
    """Return an arc with an inscription, which says more than signs for kinds of arcs."""
    if text is not None:
        edge.how = edge.how if edge.how in ("input", "inhibit", "either") else "one"
        edge.inscription = text
        edge.label = shorten(text, SMALL_SIZE, LONGEST_INSCRIPTION)
    return edge


def output_label(put: Output) -> str:
    """Return the label at the start of an arc out of a transition."""
    parts = {"maybe": ["0..1"], "many": ["n"]}.get(put.how, [])
    parts += ["[k]"] if put.selects_copy else []
    parts += ["\N{GREEK CAPITAL LETTER DELTA}t"] if put.delayed else []
    return " ".join(parts)


def _short(text: str, longest: int = 12) -> str:
    return text if len(text) <= longest else text[: longest - 1] + "\N{HORIZONTAL ELLIPSIS}"
