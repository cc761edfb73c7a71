"""Layered placement of boxes joined by links, left to right, with right-angled routes.

The method is that of Sugiyama, Tagawa and Toda (1981). Boxes stand in layers. A link that spans
several layers passes each of them in a lane of its own. Barycentre sweeps improve the order in
every layer. Heights follow from a median placement that keeps lanes straight. Links turn only
in the channels between layers, so that none runs through a box.
"""

from dataclasses import dataclass
from itertools import pairwise

from headrace.drawing.channel_routing import Run, tracks
from headrace.drawing.layer_heights import place_heights
from headrace.drawing.layer_order import reduce_crossings
from headrace.drawing.layers import SPACING, Box, Layers, Link, Piece, Point

CHANNEL_MARGIN = 14.0
TRACK = 9.0
"""Distance of two vertical runs in a channel."""


@dataclass
class Placement:
    """Routes from west to east; the positions are stored in the boxes."""

    width: float
    height: float
    routes: list[list[Point]]


def place(boxes: list[Box], links: list[Link], is_draft: bool = False) -> Placement:
    """Place boxes, whose layers are given, and route the links between them.

    A draft has the same order and more bends.
    """
    if not boxes:
        return Placement(0.0, 0.0, [])
    layers = Layers(boxes, links)
    reduce_crossings(layers)
    _attach(layers)
    return _route_all(layers, place_heights(layers, is_draft))


def _attach(layers: Layers) -> None:
    """Give every end of a link its point on the outline of its box."""
    for index, box in enumerate(layers.boxes):
        for east, pieces in enumerate((layers.west_pieces[index], layers.east_pieces[index])):
            if box.ports is not None:
                for piece in pieces:
                    layers.offset[index, piece.link, bool(east)] = box.ports[piece.link]
                continue
            every = [(_far(layers, p, bool(east)), p.link) for p in pieces]
            over = sorted(end for end in every if end[1] in box.over)
            for number, (_, link) in enumerate(over):
                # The lowest of these lines lies inside the bend of the others.
                inward = (number - (len(over) - 1) / 2) * min(7.0, 20.0 / len(over))
                x = box.over_x + (inward if east else -inward)
                layers.offset[index, link, bool(east)] = (x, SPACING * (number + 0.5))
            ends = [end for end in every if end[1] not in box.over]
            for number, (_, link) in enumerate(sorted(ends)):
                height = box.spacing * (number - (len(ends) - 1) / 2)
                x = box.side(bool(east), height)
                layers.offset[index, link, bool(east)] = (x, box.anchor + height)


def _far(layers: Layers, piece: Piece, east: bool) -> float:
    return layers.position(piece.east if east else piece.west, piece.link)


def _route_all(layers: Layers, height: float) -> Placement:
    """Set the x of every box and route the links."""
    turns: dict[tuple[int, int], float] = {}
    x = 0.0
    for number, layer in enumerate(layers.layers):
        width = max((layers.boxes[box].width for box in layer), default=0.0)
        for box in layer:
            layers.boxes[box].x = x + (width - layers.boxes[box].width) / 2
        x += width
        if number + 1 == len(layers.layers):
            break
        pieces = [p for box in layer for p in layers.east_pieces[box]]
        runs = [
            Run(layers.height(p.west, p.link, True), layers.height(p.east, p.link, False))
            for p in pieces
        ]
        numbers = tracks(runs, SPACING / 2)
        for piece, track in zip(pieces, numbers, strict=True):
            if track is not None:
                turns[piece.link, number] = x + CHANNEL_MARGIN + TRACK * track
        used = max((t + 1 for t in numbers if t is not None), default=0)
        x += 2 * CHANNEL_MARGIN + TRACK * max(used - 1, 0)
    return Placement(x, height, [_route(layers, link, turns) for link in range(len(layers.links))])


def _route(layers: Layers, link: int, turns: dict[tuple[int, int], float]) -> list[Point]:
    chain = layers.chains[link]
    start, end = layers.boxes[chain[0]], layers.boxes[chain[-1]]
    points = [
        (start.x + layers.offset[chain[0], link, True][0], layers.height(chain[0], link, True))
    ]
    for west, east in pairwise(chain):
        turn = turns.get((link, layers.boxes[west].layer))
        after = layers.height(east, link, False)
        if turn is not None:
            points += [(turn, points[-1][1]), (turn, after)]
    x = end.x + layers.offset[chain[-1], link, False][0]
    # A step too small to see is left out of the channel and would tilt the line here.
    points.append((x, layers.height(chain[-1], link, False)))
    return points
