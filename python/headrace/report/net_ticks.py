"""Positions of the marks of plain transitions on their arcs."""

from dataclasses import dataclass
from itertools import pairwise

from headrace.report.layers import Point
from headrace.report.net_graph import Edge, Graph
from headrace.report.net_symbols import HEAD

CORNER_ROOM = 3.0


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
        Tick(
            a[0] + (b[0] - a[0]) * part,
            a[1] + (b[1] - a[1]) * part,
            abs(a[1] - b[1]) < 0.1,
        )
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
