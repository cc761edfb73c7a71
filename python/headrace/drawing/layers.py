"""Boxes in layers and the pieces of links between them, before and while they are placed."""

from collections.abc import Callable
from dataclasses import dataclass
from itertools import pairwise

from headrace.drawing.channel_routing import STRAIGHT

SPACING = 12.0
"""Distance of two parallel lines, and of the points where they meet one box, in pixels."""
BOX_GAP = 16.0

Point = tuple[float, float]


@dataclass
class Box:
    """Something with a size that links attach to, on its west (left) and east (right) side."""

    width: float
    height: float
    layer: int
    anchor: float
    """Height below the top about which the links attach, unless `ports` fixes them."""
    side: Callable[[bool, float], float]
    """The x of the outline, from the left: (on the east side?, height from the anchor)."""
    ports: dict[int, Point] | None = None
    """Fixed points at which links attach: link → (x, y) from the top left corner."""
    lane: bool = False
    spacing: float = SPACING
    """Distance of the points where links attach."""
    over: tuple[int, ...] = ()
    """Links that leave from the top and then turn to a side, above all others there."""
    over_x: float = 0.0
    """About which x from the left they leave; they turn away from the middle of the box."""
    wanted: float | None = None
    """Place in the layer, used when all boxes of that layer have one."""
    x: float = 0.0
    y: float = 0.0


@dataclass(frozen=True)
class Link:
    """A line between two boxes, the first in a layer before (west of) the second's."""

    west: int
    east: int
    importance: float = 1.0
    """Weight of a straight line."""


@dataclass(frozen=True)
class Piece:
    """The part of a link between two neighbouring layers."""

    link: int
    west: int
    east: int


class Layers:
    """Boxes in layers, ordered and placed step by step."""

    def __init__(self, boxes: list[Box], links: list[Link]) -> None:
        """The links go from box to box by their numbers in `boxes`."""
        self.boxes = list(boxes)
        self.links = links
        self.layers: list[list[int]] = [[] for _ in range(1 + max(b.layer for b in boxes))]
        self.pieces: list[Piece] = []
        self.chains: list[list[int]] = []
        for index, box in enumerate(boxes):
            self.layers[box.layer].append(index)
        for number, link in enumerate(links):
            self._thread(number, link.west, link.east)
        self.west_pieces: list[list[Piece]] = [[] for _ in self.boxes]
        self.east_pieces: list[list[Piece]] = [[] for _ in self.boxes]
        for piece in self.pieces:
            self.east_pieces[piece.west].append(piece)
            self.west_pieces[piece.east].append(piece)
        self.rank = [0] * len(self.boxes)
        self.offset: dict[tuple[int, int, bool], Point] = {}
        self._groups: dict[int, frozenset[int]] = {}

    def _thread(self, link: int, west: int, east: int) -> None:
        chain = [west]
        for layer in range(self.boxes[west].layer + 1, self.boxes[east].layer):
            lane = Box(0, 0, layer, 0, lambda _east, _height: 0.0, lane=True)
            self.layers[layer].append(len(self.boxes))
            chain.append(len(self.boxes))
            self.boxes.append(lane)
        chain.append(east)
        self.chains.append(chain)
        self.pieces += [Piece(link, a, b) for a, b in pairwise(chain)]

    def set_ranks(self) -> None:
        """Note where in its layer each box stands, after `layers` has changed."""
        for layer in self.layers:
            for rank, box in enumerate(layer):
                self.rank[box] = rank

    def position(self, box: int, link: int) -> float:
        """Return the place, counted in boxes from the top, at which a link meets a box."""
        ports = self.boxes[box].ports
        if ports is None:
            return self.rank[box] - (0.1 if link in self.boxes[box].over else 0.0)
        return self.rank[box] + 0.9 * ports[link][1] / max(self.boxes[box].height, 1.0)

    def gap(self, upper: int, lower: int) -> float:
        """The least distance between two neighbours in a layer."""
        lanes = (self.boxes[upper].height == 0) + (self.boxes[lower].height == 0)
        return (BOX_GAP, SPACING, SPACING)[lanes]

    def height(self, box: int, link: int, east: bool) -> float:
        """The height at which a link leaves or meets a box."""
        if self.boxes[box].lane:
            return self.boxes[box].y
        return self.boxes[box].y + self.offset[box, link, east][1]

    def step(self, piece: Piece) -> float:
        """Return the rise or fall of a piece in its channel."""
        # Two inlined calls of `height`: a drawing needs them some million times.
        west, east = self.boxes[piece.west], self.boxes[piece.east]
        start = west.y if west.lane else west.y + self.offset[piece.west, piece.link, True][1]
        end = east.y if east.lane else east.y + self.offset[piece.east, piece.link, False][1]
        return end - start

    def weight(self, piece: Piece) -> float:
        """Return the weight of a straight piece."""
        # Long links are kept straighter than short ones, as Gansner et al. (1993) do.
        lanes = self.boxes[piece.west].lane + self.boxes[piece.east].lane
        return self.links[piece.link].importance * (1.0, 2.0, 8.0)[lanes]

    def straight_group(self, start: int) -> frozenset[int]:
        """The boxes that straight pieces tie to one box, and that box.

        Groups are saved until `forget_groups`: a drawing asks for them far more often than boxes
        move.
        """
        group = self._groups.get(start)
        if group is None:
            group = frozenset(self.joined(start, only_straight=True))
            self._groups |= dict.fromkeys(group, group)
        return group

    def forget_groups(self) -> None:
        """Drop the saved groups, after boxes have moved."""
        self._groups.clear()

    def joined(self, start: int, only_straight: bool = False) -> list[int]:
        """The boxes that pieces tie to one box, and that box."""
        group, queue = {start}, [start]
        for box in queue:
            for piece in self.west_pieces[box] + self.east_pieces[box]:
                other = piece.west if piece.east == box else piece.east
                if other in group or (only_straight and abs(self.step(piece)) >= STRAIGHT):
                    continue
                group.add(other)
                queue.append(other)
        return queue
