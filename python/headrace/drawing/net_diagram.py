"""A hierarchical queueing Petri net as a picture.

Places are circles, stations a queue with its servers, transitions bars, stores cylinders, and
pages boxes, piled up when they are folded. Tokens flow from left to right where they can.
"""

from collections.abc import Iterable, Iterator, Mapping
from typing import Any, Literal
from xml.etree.ElementTree import Element, tostring

from headrace.drawing.net_drawing import (
    PAPER,
    add,
    draw_edge,
    draw_sheet,
    draw_symbol,
    draw_tick,
    number,
)
from headrace.drawing.net_graph import Edge, Graph, build_graph
from headrace.drawing.net_legend import draw_legend, entries
from headrace.drawing.net_structure import StructureError, read_structure
from headrace.drawing.net_symbols import Load, tick_of
from headrace.drawing.page_layout import shadow
from headrace.drawing.port_order import lay_out_with_ports
from headrace.drawing.position_layout import has_positions, lay_out_by_positions
from headrace.drawing.text_size import printable
from headrace.late_imports import imports_of

__all__ = ["Load", "StructureError", "arrange", "dot", "draw", "image"]

EDGE_OF_PICTURE = 12.0
NARROWEST = 480.0
"""Width of the smallest picture, which leaves the legend room for two entries in a row."""
FONTS = "Helvetica, Arial, 'DejaVu Sans', sans-serif"
PAGE_OF_PICTURE = b"""
#set page(width: auto, height: auto, margin: 0pt)
#image(bytes(sys.inputs.svg), format: "svg")
"""
PIXELS_PER_INCH = 144


def draw(
    structure: Mapping[str, Any],
    load: Mapping[int, Load] | None = None,
    depth: int | None = None,
    *,
    has_tokens: bool = True,
) -> str:
    """The net as the text of an SVG picture.

    Args:
        structure: the net's pages, nodes, stores and transitions: `{"page": {…}}`.
        load: how busy each node was, by node id. Stations are shaded by it.
        depth: pages below this depth are drawn closed, as one symbol each; 0 is the outermost
            page. None: all are open.
        has_tokens: whether the first tokens are drawn, where no load is.

    Raises:
        StructureError: if the structure is not that of a net.
    """
    figures = load or {}
    graph = arrange(structure, figures, depth)
    top = graph.sheets[0]
    behind = shadow(top.page.copies)
    width = max(top.width + behind, NARROWEST) + 2 * EDGE_OF_PICTURE
    svg = Element("svg", {"xmlns": "http://www.w3.org/2000/svg", "role": "img"})
    svg.set("font-family", FONTS)
    add(svg, "title", printable(f"net {top.page.name}"))
    paper = add(svg, "rect", x=0, y=0, width=width, fill=PAPER)
    _draw_net(add(svg, "g"), graph, figures, has_tokens and not figures)
    below = 2 * EDGE_OF_PICTURE + top.height + behind
    below += draw_legend(
        svg, entries(graph, figures), EDGE_OF_PICTURE, below, width - 2 * EDGE_OF_PICTURE
    )
    height = below + EDGE_OF_PICTURE / 2
    paper.set("height", number(height))
    for name, value in (("width", width), ("height", height)):
        svg.set(name, number(value))
    svg.set("viewBox", f"0 0 {number(width)} {number(height)}")
    return tostring(svg, encoding="unicode") + "\n"


def arrange(
    structure: Mapping[str, Any], load: Mapping[int, Load] | None = None, depth: int | None = None
) -> Graph:
    """The graph of a net with everything in its place; arguments as those of `draw`.

    Raises:
        StructureError: if the structure is not that of a net.
    """
    graph = build_graph(read_structure(structure), depth)
    graph.sheets[0].x = graph.sheets[0].y = EDGE_OF_PICTURE
    if has_positions(graph):
        lay_out_by_positions(graph, load or {})
    else:
        lay_out_with_ports(graph, load or {})
    return graph


def _draw_net(svg: Element, graph: Graph, load: Mapping[int, Load], has_tokens: bool) -> None:
    for sheet in graph.sheets:
        draw_sheet(svg, sheet)
    for edge in graph.edges:
        names = [graph.symbols[at].name for at in (edge.source, edge.target)]
        joint = " \N{EN DASH} " if edge.kind == "store" else " \N{RIGHTWARDS ARROW} "
        text = edge.inscription or edge.label
        label = f" ({text})" if text else ""
        draw_edge(svg, edge, f"{edge.kind} {joint.join(names)}{label}", _ends(graph, edge))
    for symbol in graph.symbols:
        draw_symbol(svg, symbol, graph.sheets[symbol.page].page.path, load, has_tokens)
    for edge in graph.edges:
        if edge.tick is not None:
            path = graph.sheets[edge.tick_page].page.path
            draw_tick(svg, tick_of(graph, edge), edge.tick.name, path)


def _ends(graph: Graph, edge: Edge) -> dict[str, str]:
    """Return attributes that name the ends of an arc, for the player."""
    if edge.kind != "arc":
        return {}
    ends = {}
    for key, at in (("data_source", edge.source), ("data_target", edge.target)):
        symbol = graph.symbols[at]
        path = graph.sheets[symbol.page].page.path
        of_node = symbol.kind != "transition"
        name = f"n{getattr(symbol.item, 'id', '')}" if of_node else f"t{path}/{symbol.name}"
        ends[key] = printable(name)
    if edge.tick is not None:
        path = graph.sheets[edge.tick_page].page.path
        ends["data_tick"] = printable(f"t{path}/{edge.tick.name}")
    return ends


def load_of(structure: Mapping[str, Any], stations: Iterable[Mapping[str, Any]]) -> dict[int, Load]:
    """The load of each station, by the number of its node."""
    loads = {
        station["station"]: Load(utilisation=station["utilisation"], mean_queue=station["queue"])
        for station in stations
        if station["servers"] is not None
    }
    nodes = {}
    pages = [structure["page"]]
    for page in pages:
        pages += page["pages"]
        for node in page["nodes"]:
            load = loads.get(f"{page['path']}/{node['name']}")
            if node["kind"] == "station" and load is not None:
                nodes[node["id"]] = load
    return nodes


def image(svg: str, format: Literal["png", "pdf"]) -> bytes:
    """Return an SVG picture as PNG or PDF."""
    with imports_of("pdf"):
        import typst

    inputs = {"svg": svg}
    return typst.compile(
        PAGE_OF_PICTURE, format=format, sys_inputs=inputs, timestamp=0, ppi=PIXELS_PER_INCH
    )


DOT_ENDS = {"inhibit": "arrowhead=odot", "read": "dir=none", "reset": "arrowhead=normalnormal"}
"""Ends of arcs that take no token, or all, in DOT."""


def dot(structure: Mapping[str, Any]) -> str:
    """Return a net in the language of Graphviz: pages are clusters."""
    arcs: list[str] = []
    page = _dot_page(structure["page"], arcs)
    return "\n".join(["digraph net {", "  rankdir=LR;", *page, *arcs, "}", ""])


def _dot_page(page: Mapping[str, Any], arcs: list[str]) -> Iterator[str]:
    """Yield the nodes of a page; add its arcs, which would draw nodes of other pages into it."""
    copies = f" \N{MULTIPLICATION SIGN} {page['copies']}" if page["copies"] > 1 else ""
    yield f"  subgraph {_quoted('cluster ' + page['path'])} {{"
    yield f"  label={_quoted(page['name'] + copies)};"
    for node in page["nodes"]:
        shape = "box, style=rounded" if node["kind"] == "station" else "ellipse"
        yield f"  n{node['id']} [label={_quoted(node['name'])}, shape={shape}];"
    for store in page["stores"]:
        yield f"  s{store['id']} [label={_quoted(store['name'])}, shape=cylinder];"
    for transition in page["transitions"]:
        own = _quoted(f"{page['path']}/{transition['name']}")
        yield f"  {own} [label={_quoted(transition['name'])}, shape=box];"
        for arc in transition["inputs"]:
            ends = DOT_ENDS.get(arc.get("by"), "")
            label = f"label={arc['weight']} " if arc["weight"] != 1 else ""
            looks = f" [{label}{ends}]" if label or ends else ""
            arcs.append(f"  n{arc['node']} -> {own}{looks};")
        for arc in transition["outputs"]:
            label = f" [label={_quoted(arc['how'])}]" if arc["how"] != "one" else ""
            arcs.append(f"  {own} -> n{arc['node']}{label};")
        for store in transition["stores"]:
            arcs.append(f"  {own} -> s{store} [dir=none, style=dashed];")
        for node in transition["signals"]:
            arcs.append(f"  {own} -> n{node} [style=dashed];")
    for inner in page["pages"]:
        yield from _dot_page(inner, arcs)
    yield "  }"


def _quoted(text: str) -> str:
    escaped = printable(text).replace("\\", "\\\\").replace('"', '\\"')
    return f'"{escaped}"'
