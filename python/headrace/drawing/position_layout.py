"""Layout of a net of one page by the coordinates of its file: straight arcs, stretched texts."""

import math
from collections.abc import Mapping
from itertools import combinations, pairwise

from headrace.drawing.layers import Point
from headrace.drawing.net_graph import SMALL_SIZE, Edge, Graph, Symbol
from headrace.drawing.net_structure import Node, Transition
from headrace.drawing.net_symbols import (
    BAR,
    PAD,
    RADIUS,
    Load,
    caption,
    outline_height,
    outline_width,
)
from headrace.drawing.page_layout import MARGIN, TITLE_HEIGHT, TITLE_SIZE, title
from headrace.drawing.text_size import text_width

GAP = 14.0
"""Free space between symbols with their texts."""
LEAST_STRETCH, MOST_STRETCH = 0.4, 4.0
APART = 5.0
"""Distance of each of two opposite arcs from the line between their ends."""
MOST_COMPARED = 400
"""Most symbols whose distances are compared; more are drawn at the file's scale."""

Box = tuple[float, float, float, float]
"""Left, top, right, bottom."""


def has_positions(graph: Graph) -> bool:
    """Return true for a net of one page whose symbols all have coordinates."""
    items = [symbol.item for symbol in graph.symbols]
    placed = (isinstance(item, Node | Transition) and item.at is not None for item in items)
    return len(graph.sheets) == 1 and bool(items) and all(placed)


def lay_out_by_positions(graph: Graph, load: Mapping[int, Load]) -> None:
    """Place all symbols where the file has them, and join them by straight arcs."""
    symbols, sheet = graph.symbols, graph.sheets[0]
    sizes = [_size(symbol, load) for symbol in symbols]
    at = [_position(symbol) for symbol in symbols]
    stretch = _stretch(at, sizes)
    left = min(x * stretch - width / 2 for (x, _), (width, _) in zip(at, sizes, strict=True))
    heights = (symbol.height for symbol in symbols)
    top = min(y * stretch - height / 2 for (_, y), height in zip(at, heights, strict=True))
    for symbol, (x, y) in zip(symbols, at, strict=True):
        symbol.x = sheet.x + MARGIN + x * stretch - left
        symbol.y = sheet.y + TITLE_HEIGHT + MARGIN + y * stretch - top
    boxes = []
    for symbol, (width, height) in zip(symbols, sizes, strict=True):
        upper = symbol.y - symbol.height / 2
        boxes.append((symbol.x - width / 2, upper, symbol.x + width / 2, upper + height))
    ends = {(edge.source, edge.target) for edge in graph.edges}
    for edge in graph.edges:
        is_double = (edge.target, edge.source) in ends
        _join(edge, symbols[edge.source], symbols[edge.target], APART if is_double else 0.0)
    for edge in graph.edges:
        if edge.label:
            boxes.append(_put_label(graph, edge, boxes))
    heading = text_width(title(sheet.page.name, sheet.page.copies), TITLE_SIZE, bold=True) + 24
    right, low = (max(box[side] for box in boxes) for side in (2, 3))
    sheet.width = max(heading, right - sheet.x + MARGIN)
    sheet.height = low - sheet.y + MARGIN


def _position(symbol: Symbol) -> Point:
    assert isinstance(symbol.item, Node | Transition)
    assert symbol.item.at is not None
    return symbol.item.at


def _size(symbol: Symbol, load: Mapping[int, Load]) -> tuple[float, float]:
    """Return width and height of a symbol with its texts."""
    symbol.width, symbol.height = outline_width(symbol.kind), outline_height(symbol.kind, 1)
    lines = caption(symbol, load)
    width = max(symbol.width, *(line.width for line in lines))
    return width, symbol.height + PAD + sum(line.height for line in lines)


def _stretch(at: list[Point], sizes: list[tuple[float, float]]) -> float:
    """Return the least scale at which no two symbols touch."""
    least = LEAST_STRETCH
    for a, b in combinations(range(len(at)), 2) if len(at) <= MOST_COMPARED else ():
        wide = (sizes[a][0] + sizes[b][0]) / 2 + GAP
        upper = a if at[a][1] <= at[b][1] else b
        high = sizes[upper][1] + GAP
        across, down = abs(at[a][0] - at[b][0]), abs(at[a][1] - at[b][1])
        needed = [
            room / distance for room, distance in ((wide, across), (high, down)) if distance > 0
        ]
        least = max(least, min(needed, default=0.0))
    return min(least, MOST_STRETCH) if len(at) <= MOST_COMPARED else 1.0


def _join(edge: Edge, source: Symbol, target: Symbol, apart: float) -> None:
    """Draw a straight line between two outlines, to the right of the line of their middles."""
    across, down = target.x - source.x, target.y - source.y
    length = math.hypot(across, down) or 1.0
    way = (across / length, down / length)
    start, end = _reach(source, way), _reach(target, way)
    if start + end + 4 > length:
        start, end = 0.0, 0.0
    aside = (-way[1] * apart, way[0] * apart)
    edge.route = [
        (source.x + way[0] * start + aside[0], source.y + way[1] * start + aside[1]),
        (target.x - way[0] * end + aside[0], target.y - way[1] * end + aside[1]),
    ]
    edge.page_routes = {0: list(edge.route)}


def _reach(symbol: Symbol, way: Point) -> float:
    """Return the distance from a symbol's middle to its outline in a direction."""
    if symbol.kind in ("place", "bag"):
        return RADIUS
    width = BAR if symbol.kind == "transition" else symbol.width
    sides = ((width / 2, abs(way[0])), (symbol.height / 2, abs(way[1])))
    return min(half / part for half, part in sides if part > 1e-9)


def _put_label(graph: Graph, edge: Edge, boxes: list[Box]) -> Box:
    """Place a label beside its arc, where it covers least; return its box."""
    (ax, ay), (bx, by) = edge.route
    wide, high = text_width(edge.label, SMALL_SIZE) + 4, SMALL_SIZE * 1.3
    length = math.hypot(bx - ax, by - ay) or 1.0
    over, beside = abs(bx - ax) / length, abs(by - ay) / length
    away = over * high / 2 + beside * wide / 2 + 2
    normal = (-(by - ay) / length * away, (bx - ax) / length * away)
    best: tuple[float, Box] | None = None
    for part in (0.5, 0.4, 0.6, 0.3, 0.7):
        for side in (1, -1):
            x = ax + (bx - ax) * part + side * normal[0]
            y = ay + (by - ay) * part + side * normal[1]
            box = (x - wide / 2, y - high / 2, x + wide / 2, y + high / 2)
            cost = sum(10.0 * _is_over(box, other) for other in boxes) + abs(part - 0.5)
            if len(graph.edges) <= MOST_COMPARED:
                lines = (pair for other in graph.edges for pair in pairwise(other.route))
                cost += sum(_crosses(box, a, b) for a, b in lines)
            if best is None or cost < best[0]:
                best, edge.label_at = (cost, box), (x, y + SMALL_SIZE * 0.35)
    assert best is not None
    return best[1]


def _is_over(a: Box, b: Box) -> bool:
    return a[0] < b[2] and b[0] < a[2] and a[1] < b[3] and b[1] < a[3]


def _crosses(box: Box, a: Point, b: Point) -> bool:
    """Return true if a line passes through a box."""
    low, high = 0.0, 1.0
    for side in (0, 1):
        step = b[side] - a[side]
        if abs(step) < 1e-9:
            if not box[side] < a[side] < box[side + 2]:
                return False
            continue
        ends = sorted((edge - a[side]) / step for edge in (box[side], box[side + 2]))
        low, high = max(low, ends[0]), min(high, ends[1])
    return low < high
