"""Positions of places and transitions on an exported page, from left to right."""

from dataclasses import dataclass
from typing import Any

from headrace.net.exchange.sheets import Place, Sheet, Transition

WIDTH, HEIGHT = 110.0, 46.0
"""Size of a symbol, with its texts around it."""
SPREAD_X, SPREAD_Y = 2.1, 2.2
"""Least room for inscriptions between symbols."""
WIDEST = 2.6
LETTER = 7.0
"""Width of a letter."""

Symbol = Place | Transition | Sheet
"""A place, a transition, or a page within this one: a substitution transition."""


@dataclass
class Layout:
    """Middles of symbols; y goes up."""

    at: dict[Symbol, tuple[float, float]]
    ways: dict[tuple[Symbol, Symbol], int]
    """Number of lines between a place and a transition."""


def lines(sheet: Sheet) -> list[tuple[Symbol, Symbol]]:
    """Return the arcs of a page, as source and target."""
    found: list[tuple[Symbol, Symbol]] = []
    for transition in sheet.transitions:
        for arc in transition.arcs:
            ends: tuple[Symbol, Symbol] = (arc.place, transition)
            found.append(ends if arc.inward else (transition, arc.place))
    for child in sheet.children:
        for place, shown in child.shown.items():
            if shown.socket is not None and shown.inward:
                found.append((place, child))
            if shown.socket is not None and shown.outward:
                found.append((child, place))
    return found


def lay_out(sheet: Sheet) -> Layout:
    """Return positions for the symbols of a page."""
    from headrace.report.layered_layout import place
    from headrace.report.layering import Flow, assign_layers
    from headrace.report.layers import Box, Link

    symbols: list[Symbol] = [*sheet.shown, *sheet.transitions, *sheet.children]
    number = {symbol: index for index, symbol in enumerate(symbols)}
    ways: dict[tuple[Symbol, Symbol], int] = {}
    for source, target in lines(sheet):
        ways[source, target] = ways.get((source, target), 0) + 1
    flows = [Flow(number[source], number[target]) for source, target in ways]
    layers = assign_layers(len(symbols), flows)

    def side(east: bool, _height: float) -> float:
        return WIDTH if east else 0.0

    boxes: list[Any] = [Box(WIDTH, HEIGHT, layer - 1, HEIGHT / 2, side) for layer in layers]
    links = []
    for source, target in ways:
        ends = sorted((number[source], number[target]), key=lambda it: layers[it])
        links.append(Link(*ends))
    place(boxes, links)
    texts = [arc.text for transition in sheet.transitions for arc in transition.arcs]
    longest = max((len(line) for text in texts for line in text.splitlines()), default=0)
    spread = min(max(SPREAD_X, 1.2 + longest * LETTER / WIDTH), WIDEST)
    at = {
        symbol: (round((box.x + WIDTH / 2) * spread), round(-(box.y + HEIGHT / 2) * SPREAD_Y))
        for symbol, box in zip(symbols, boxes, strict=True)
    }
    return Layout(at, ways)
