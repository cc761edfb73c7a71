"""Legend of a net diagram, with the symbols that the picture has."""

from collections.abc import Mapping
from xml.etree.ElementTree import Element

from headrace.drawing.net_drawing import (
    INK,
    PAPER,
    SOFT_INK,
    add,
    add_text,
    draw_edge,
    draw_shape,
    draw_tick,
    draw_tokens,
    shade,
)
from headrace.drawing.net_graph import Edge, Graph, Symbol
from headrace.drawing.net_structure import Node
from headrace.drawing.net_symbols import Line, Load, Tick, busiest, outline_height, outline_width

ROW = 34.0
TEXT_SIZE = 10.0
ARC = 40.0
EXPLAINED = {
    "place": "place: tokens wait",
    "bag": "bag: a place without order",
    "tokens": "first tokens",
    "sink": "tokens leave the net",
    "station": "station: queue and servers",
    "transition": "transition",
    "tick": "transition that only passes on",
    "store": "store, borrowed by transitions",
    "page": "closed page",
    "inhibit": "inhibitor: tokens hold the transition",
    "either": "to one of these",
    "maybe": "at most one token",
    "many": "any number of tokens",
    "signal": "signal",
    "[k]": "[k]: which copy is chosen",
    "delay": "\N{GREEK CAPITAL LETTER DELTA}t: after a delay",
    "load": "utilisation 0 to 100 %",
}


def entries(graph: Graph, load: Mapping[int, Load]) -> list[str]:
    """Return the names of the legend's entries, in a fixed order."""
    used = {symbol.kind for symbol in graph.symbols}
    for symbol in graph.symbols:
        if isinstance(symbol.item, Node):
            used |= {"sink"} if symbol.item.sink else set()
            used |= {"tokens"} if symbol.item.initial and not load else set()
            used |= {"load"} if "utilisation" in load.get(symbol.item.id, {}) else set()
        used |= {"load"} if busiest(symbol, load) is not None else set()
    for edge in graph.edges:
        used |= {edge.how, edge.kind} | ({"tick"} if edge.tick else set())
        if edge.inscription:
            continue
        used |= {"[k]"} if "[k]" in edge.label else set()
        used |= {"delay"} if edge.label.endswith("\N{GREEK CAPITAL LETTER DELTA}t") else set()
    return [entry for entry in EXPLAINED if entry in used]


def draw_legend(parent: Element, names: list[str], x: float, y: float, width: float) -> float:
    """Draw the legend in rows of at most `width`; the height it takes is returned."""
    group = add(parent, "g", data_kind="legend")
    left, top = x, y
    for name in names:
        text = Line(EXPLAINED[name], TEXT_SIZE)
        room = _icon_width(name) + 8 + text.width + 20
        if left > x and left + room > x + width:
            left, top = x, top + ROW
        icon = _icon_width(name)
        _icon(group, name, left + icon / 2, top + ROW / 2)
        start = left + icon + (8 if icon else 0)
        add_text(group, start, top + ROW / 2 + 3.5, text, fill=SOFT_INK)
        left += room
    return top + ROW - y if names else 0.0


def _icon_width(name: str) -> float:
    if name in ("place", "bag", "station", "transition", "store", "page"):
        return outline_width(name) * 0.75
    return {"sink": 21.0, "tokens": 21.0, "[k]": 0.0, "delay": 0.0, "load": 60.0}.get(name, ARC)


def _icon(group: Element, name: str, x: float, y: float) -> None:
    if name in ("place", "bag", "station", "transition", "store", "page", "sink", "tokens"):
        kind = "place" if name in ("sink", "tokens") else name
        node = Node(0, "", kind, "", "", "", name == "sink", 3 if name == "tokens" else 0)
        symbol = Symbol(kind, 0, "", node)
        symbol.width, symbol.height = outline_width(kind), outline_height(kind, 1)
        where = f"translate({x:.2f} {y:.2f}) scale(0.75)"
        inner = add(group, "g", transform=where, fill=PAPER, stroke=INK, stroke_width=1.3)
        draw_shape(inner, symbol, {})
        draw_tokens(inner, symbol)
    elif name == "load":
        for step in range(6):
            add(
                group,
                "rect",
                x=x - 30 + 10 * step,
                y=y - 6,
                width=10.0,
                height=12.0,
                fill=shade(step / 5),
                stroke=SOFT_INK,
                stroke_width=0.5,
            )
    elif name in ("inhibit", "either", "maybe", "many", "signal", "tick"):
        kind = "signal" if name == "signal" else "arc"
        label = {"maybe": "0..1", "many": "n"}.get(name, "")
        how = "one" if name in ("signal", "tick") else name
        edge = Edge(0, 0, kind, how, label, route=[(x - ARC / 2, y), (x + ARC / 2, y)])
        draw_edge(group, edge, EXPLAINED[name])
        if name == "tick":
            draw_tick(group, Tick(x - 3, y, upright=True), "")
