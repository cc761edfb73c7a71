"""Symbols of a net diagram, with their sizes and texts, and marks of plain transitions on arcs."""

import math
from collections.abc import Mapping
from dataclasses import dataclass
from itertools import pairwise
from typing import TypedDict

from headrace.drawing.layers import SPACING, Point
from headrace.drawing.net_graph import SMALL_SIZE, Edge, Graph, Symbol
from headrace.drawing.net_structure import Node, Page, Transition
from headrace.drawing.text_size import ELLIPSIS, shorten, text_width

NAME_SIZE = 11.0
LONGEST_TEXT = 150.0
LONGEST_NOTE = 230.0
"""The same for guards and steps of transitions."""
RADIUS = 14.0
MOST_STEPS = 3
"""Most lines that show what a firing computes and sets."""
DOT = 2.6
"""Radius of a token."""
QUEUE = 32.0
"""Width of the queue in front of a station's servers."""
BAR = 7.0
CYLINDER = 38.0
CYLINDER_CAP = 5.0
CLOSED_PAGE = 64.0
"""Width of a closed page."""
DIAMOND = 10.0
"""Length of the mark on an arc that is one of several alternatives."""
HEAD = 8.0
"""Length of an arrowhead."""
PAD = 4.0
CORNER_ROOM = 3.0
"""Least distance of a mark from the corners of its line."""


class Load(TypedDict, total=False):
    """Utilisation of a node in a run."""

    utilisation: float
    """Share of the servers' time in use, 0 to 1."""
    mean_queue: float
    """Tokens waiting, averaged over time."""


@dataclass(frozen=True)
class Line:
    """One line of text under a symbol."""

    text: str
    size: float
    bold: bool = False

    @property
    def height(self) -> float:
        return self.size * 1.3

    @property
    def width(self) -> float:
        return text_width(self.text, self.size, self.bold)


def outline_width(kind: str) -> float:
    """Width of the symbol itself."""
    widths = {
        "station": QUEUE + 2 * RADIUS,
        "transition": BAR,
        "store": CYLINDER,
        "page": CLOSED_PAGE,
    }
    return widths.get(kind, 2 * RADIUS)


def outline_height(kind: str, lines: int, spacing: float = SPACING) -> float:
    """Height of a symbol that `lines` lines meet on its fuller side."""
    span = spacing * max(lines - 1, 0)
    if kind in ("transition", "page"):
        return max(34.0, span + 12)
    if kind == "store":
        return max(36.0, span + 4 * CYLINDER_CAP)
    return max(2 * RADIUS, span + RADIUS * 1.4)


def outline_x(symbol: Symbol, east: bool, height: float) -> float:
    """Return the distance from the centre to the outline, on one side, at a height from the
    centre."""
    if symbol.kind in ("transition", "store", "page"):
        return outline_width(symbol.kind) / 2
    if symbol.kind == "station" and east == symbol.mirrored:
        return outline_width("station") / 2
    # A circle, or two half circles with a straight piece between them.
    beyond = max(0.0, abs(height) - (symbol.height / 2 - RADIUS))
    round_part = math.sqrt(max(0.0, RADIUS**2 - beyond**2))
    return round_part + (outline_width(symbol.kind) / 2 - RADIUS)


def servers_x(station: Symbol) -> float:
    """Return the distance east of a station's centre at which its servers are."""
    return -QUEUE / 2 if station.mirrored else QUEUE / 2


def servers_top(station: Symbol, x: float) -> float:
    """Return the height of the servers' outline above a station's centre, at an x from there."""
    beside = abs(x - servers_x(station))
    return station.height / 2 - RADIUS + math.sqrt(max(0.0, RADIUS**2 - beside**2))


def caption(symbol: Symbol, load: Mapping[int, Load]) -> list[Line]:
    """The lines under a symbol."""
    item = symbol.item
    bold = isinstance(item, Page)
    lines = [Line(shorten(symbol.name, NAME_SIZE, LONGEST_TEXT), NAME_SIZE, bold)]
    notes = []
    if isinstance(item, Page) and item.copies > 1:
        notes = [f"{item.copies} copies"]
    if isinstance(item, Transition):
        notes = [
            ", ".join(guard_of(item) + ([f"priority {item.priority}"] if item.priority else [])),
            *item.steps[:MOST_STEPS],
            ELLIPSIS if len(item.steps) > MOST_STEPS else "",
            item.note,
        ]
    elif isinstance(item, Node):
        notes = [item.discipline if symbol.kind == "station" else "", item.note, item.marking]
        queue = finite(load.get(item.id, {}).get("mean_queue"))
        notes.append("" if queue is None else f"queue {queue:.3g}")
    longest = LONGEST_NOTE if isinstance(item, Transition) else LONGEST_TEXT
    return lines + [Line(shorten(note, SMALL_SIZE, longest), SMALL_SIZE) for note in notes if note]


def guard_of(transition: Transition) -> list[str]:
    """Return the guard of a transition. Patterns, which are guards too, stand at the arcs."""
    if transition.is_inscribed:
        return [transition.guard] if transition.guard else []
    return ["guarded"] if transition.guarded else []


def busiest(symbol: Symbol, load: Mapping[int, Load]) -> float | None:
    """Utilisation of the busiest station in a closed page; None if none is known."""
    if not isinstance(symbol.item, Page):
        return None
    nodes = (node for page in symbol.item.walk() for node in page.nodes)
    values = (finite(load.get(node.id, {}).get("utilisation")) for node in nodes)
    return max((each for each in values if each is not None), default=None)


def tooltip(symbol: Symbol, path: str, load: Mapping[int, Load]) -> str:
    """All that is known of a symbol, for those who point at it."""
    item = symbol.item
    lines = [f"{symbol.kind} {path}/{symbol.name}"]
    if isinstance(item, Page):
        inside = [len(page.nodes) for page in item.walk()]
        lines += [f"{item.copies} copies"] if item.copies > 1 else []
        lines += [f"closed: {sum(inside)} places and stations inside"]
        busy = busiest(symbol, load)
        lines += [] if busy is None else [f"busiest station inside: {100 * busy:.3g} %"]
    if isinstance(item, Node):
        lines += [f"discipline: {item.discipline}"] if item.discipline else []
        lines += [f"colour: {item.colour}"] if item.colour else []
        lines += ["tokens leave the net here"] if item.sink else []
        lines += [item.note] if item.note else []
        lines += [f"first tokens: {item.marking or item.initial}"] if item.initial else []
        figures = load.get(item.id, {})
        busy, queue = (finite(figures.get("utilisation")), finite(figures.get("mean_queue")))
        lines += [] if busy is None else [f"utilisation: {100 * busy:.3g} %"]
        lines += [] if queue is None else [f"mean queue: {queue:.4g}"]
    if isinstance(item, Transition):
        lines += guard_of(item)
        lines += [f"priority: {item.priority}"] if item.priority else []
        lines += [*item.steps, *([item.note] if item.note else [])]
    return "; ".join(lines)


def label_room(edges: list[Edge]) -> float:
    """The width to keep free beside a transition for what stands at its ends of these arcs."""
    return max((_room(edge) for edge in edges), default=0.0)


def _room(edge: Edge) -> float:
    text = text_width(edge.label, SMALL_SIZE) + 8 if edge.label else 0.0
    mark = (
        DIAMOND
        if edge.how == "either"
        else HEAD
        if edge.how in ("input", "inhibit") and text
        else 0.0
    )
    return text + mark


def finite(value: float | None) -> float | None:
    """The value, unless it is missing or not a number."""
    return value if value is not None and math.isfinite(value) else None


@dataclass(frozen=True)
class Tick:
    """A mark across a line."""

    x: float
    y: float
    upright: bool
    """Across a horizontal line."""


def tick_of(graph: Graph, edge: Edge) -> Tick:
    """The mark of a plain transition: in its page, clear of crossing lines if possible."""
    sheet = graph.sheets[edge.tick_page]
    route = [(x + sheet.x, y + sheet.y) for x, y in edge.page_routes[edge.tick_page]]
    pieces = []
    for a, b in pairwise(route):
        length = abs(a[0] - b[0]) + abs(a[1] - b[1])
        if length < 0.1:
            continue
        end = CORNER_ROOM + (HEAD if b == edge.route[-1] else 0.0)
        usable = max(0.0, length - CORNER_ROOM - end)
        flat = abs(a[1] - b[1]) < 0.1
        # A mark on a level stretch reads better than one on a longer upright one.
        pieces.append((-usable * (3 if flat else 1), a, b, CORNER_ROOM / length, usable / length))
    spots = [
        Tick(a[0] + (b[0] - a[0]) * part, a[1] + (b[1] - a[1]) * part, abs(a[1] - b[1]) < 0.1)
        for _, a, b, start, share in sorted(pieces)
        for part in (start + share * at for at in (0.5, 0.35, 0.65, 0.2, 0.8))
    ]
    lines = [(a, b) for other in graph.edges if other is not edge for a, b in pairwise(other.route)]
    clear = (tick for tick in spots if not any(_touches(tick, a, b) for a, b in lines))
    return next(clear, spots[0])


def _touches(tick: Tick, a: Point, b: Point) -> bool:
    wide, high = (5.0, 6.5) if tick.upright else (6.5, 5.0)
    return (
        min(a[0], b[0]) - wide < tick.x < max(a[0], b[0]) + wide
        and min(a[1], b[1]) - high < tick.y < max(a[1], b[1]) + high
    )
