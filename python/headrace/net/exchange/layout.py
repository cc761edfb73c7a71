"""Positions of places and transitions on an exported page, from left to right."""

from dataclasses import dataclass
from typing import Any

from headrace.net.exchange.sheets import Place, Sheet, Transition

WIDTH, HEIGHT = 110.0, 46.0
"""Size of a symbol, with its texts around it."""
SPREAD_X, SPREAD_Y = 2.1, 2.2
"""Least room for inscriptions between symbols."""
WIDEST = 2.6
MOST_LAYERED = 120
"""Most symbols on a page for which crossings are searched; more would take seconds."""
LETTER = 7.0
"""Width of a letter."""

FURTHEST = 1e6
"""Largest coordinate that is read."""

Symbol = Place | Transition | Sheet
"""A place, a transition, or a page within this one: a substitution transition."""


@dataclass
class Layout:
    """Middles of symbols; y goes up."""

    at: dict[Symbol, tuple[float, float]]


def outline_at(x: str, y: str, *, upwards: bool = False, number: int = 0) -> dict[str, Any]:
    """Return the outline of an element that another tool draws at a point.

    Parameters:
        upwards: True if the tool's y goes up.
        number: Of several elements for one of the tool, the number of this one; they stand in a
            column.
    """
    try:
        at = [float(x), float(y) * (-1 if upwards else 1) + number * HEIGHT * SPREAD_Y]
    except ValueError:
        return {}
    return {"outline": {"at": at}} if all(abs(each) < FURTHEST for each in at) else {}


def lines(sheet: Sheet) -> list[tuple[Symbol, Symbol]]:
    """Return the arcs of a page, as source and target."""
    edges: list[tuple[Symbol, Symbol]] = []
    for transition in sheet.transitions:
        for arc in transition.arcs:
            ends: tuple[Symbol, Symbol] = (arc.place, transition)
            edges.append(ends if arc.inward else (transition, arc.place))
    for child in sheet.children:
        for place, shown in child.shown.items():
            if shown.socket is not None and shown.inward:
                edges.append((place, child))
            if shown.socket is not None and shown.outward:
                edges.append((child, place))
    return edges


def lay_out(sheet: Sheet) -> Layout:
    """Return positions for the symbols of a page."""
    symbols: list[Symbol] = [*sheet.shown, *sheet.transitions, *sheet.children]
    number = {symbol: index for index, symbol in enumerate(symbols)}
    links = [(number[source], number[target]) for source, target in dict.fromkeys(lines(sheet))]
    arrange = _layered if len(symbols) <= MOST_LAYERED else _spread
    corners = arrange(len(symbols), links)
    texts = [arc.text for transition in sheet.transitions for arc in transition.arcs]
    longest = max((len(line) for text in texts for line in text.splitlines()), default=0)
    spread = min(max(SPREAD_X, 1.2 + longest * LETTER / WIDTH), WIDEST)
    at: dict[Symbol, tuple[float, float]] = {
        symbol: (round((x + WIDTH / 2) * spread), round(-(y + HEIGHT / 2) * SPREAD_Y))
        for symbol, (x, y) in zip(symbols, corners, strict=True)
    }
    return Layout(at)


def _layered(count: int, links: list[tuple[int, int]]) -> list[tuple[float, float]]:
    """Return corners of symbols with few crossings, as diagrams of nets have them."""
    from headrace.drawing.layered_layout import place
    from headrace.drawing.layering import Flow, assign_layers
    from headrace.drawing.layers import Box, Link

    layers = assign_layers(count, [Flow(source, target) for source, target in links])

    def side(east: bool, _height: float) -> float:
        return WIDTH if east else 0.0

    boxes = [Box(WIDTH, HEIGHT, layer - 1, HEIGHT / 2, side) for layer in layers]
    ends = (sorted(link, key=lambda node: layers[node]) for link in links)
    place(boxes, [Link(west, east) for west, east in ends])
    return [(box.x, box.y) for box in boxes]


def _spread(count: int, links: list[tuple[int, int]]) -> list[tuple[float, float]]:
    """Return corners of many symbols: columns by their distance from the first."""
    near: list[list[int]] = [[] for _ in range(count)]
    for a, b in links:
        near[a].append(b)
        near[b].append(a)
    column: dict[int, int] = {}
    row: dict[int, int] = {}
    height: dict[int, int] = {}
    for start in range(count):
        waiting = [] if start in column else [start]
        column.setdefault(start, 0)
        for at in waiting:
            row[at] = height.get(column[at], 0)
            height[column[at]] = row[at] + 1
            for other in near[at]:
                if other not in column:
                    column[other] = column[at] + 1
                    waiting.append(other)
    return [(column[index] * WIDTH, row[index] * HEIGHT) for index in range(count)]
