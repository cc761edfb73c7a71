"""The heights of boxes in layers: no overlap, and links as straight as they can be."""

from collections.abc import Set as AbstractSet
from dataclasses import dataclass

from headrace.drawing.channel_routing import STRAIGHT
from headrace.drawing.layers import Layers

SWEEPS = 16
ROUNDS = 4
"""Passes over all bends."""
LARGE = 300
"""Boxes and lanes beyond which one pass must do: the first takes out most bends."""
BEND_COST = 15.0
"""A bend is as bad as this many pixels between the heights it joins."""


def place_heights(layers: Layers, is_draft: bool = False) -> float:
    """Set the y of every box and return the total height."""
    for layer in layers.layers:
        y = 0.0
        for at, box in enumerate(layer):
            y += layers.gap(layer[at - 1], box) if at else 0.0
            layers.boxes[box].y = y
            y += layers.boxes[box].height
    span = range(len(layers.layers))
    sweeps = SWEEPS // 2 if is_draft else SWEEPS
    for sweep in range(sweeps):
        forward = sweep % 2 == 0
        for number in span if forward else reversed(span):
            both = sweep >= sweeps - 4
            _settle(layers, layers.layers[number], both or forward, both or not forward)
    if not is_draft:
        _straighten(layers)
    _close_up(layers)
    top = min(each.y for each in layers.boxes)
    for each in layers.boxes:
        each.y -= top
    return max(each.y + each.height for each in layers.boxes)


def _close_up(layers: Layers) -> None:
    """Move parts of the net that nothing joins as far up as they can go."""
    parts: list[list[int]] = []
    part_of: dict[int, int] = {}
    for index in range(len(layers.boxes)):
        if index not in part_of:
            parts.append(layers.joined(index))
            part_of |= dict.fromkeys(parts[-1], len(parts) - 1)
    top = min(box.y for box in layers.boxes)
    parts.sort(key=lambda part: min((layers.boxes[index].y, index) for index in part))
    for part in parts:
        room = float("inf")
        for index in part:
            box, at = layers.boxes[index], layers.rank[index]
            if at == 0:
                room = min(room, box.y - top)
                continue
            upper = layers.layers[box.layer][at - 1]
            if part_of[upper] != part_of[index]:
                above = layers.boxes[upper]
                lowest = above.y + above.height + layers.gap(upper, index)
                room = min(room, box.y - lowest)
        if 0 < room < float("inf"):
            for index in part:
                layers.boxes[index].y -= room


def _settle(layers: Layers, layer: list[int], look_west: bool, look_east: bool) -> None:
    """Move the boxes of a layer to the weighted median of what their links ask for.

    Order and gaps are preserved. Neighbours that would collide are joined into one block
    (pooling of adjacent violators), which is exact for this least absolute deviation.
    """
    blocks: list[tuple[list[tuple[float, float]], float, int]] = []
    below = 0.0
    starts: list[float] = []
    for at, box in enumerate(layer):
        if at:
            below += layers.gap(layer[at - 1], box) + layers.boxes[layer[at - 1]].height
        starts.append(below)
        wishes = [(y - below, w) for y, w in _wishes(layers, box, look_west, look_east)]
        blocks.append((wishes, _median(wishes), 1))
        while len(blocks) > 1 and blocks[-2][1] > blocks[-1][1]:
            lower, _, lower_size = blocks.pop()
            upper, _, upper_size = blocks.pop()
            joined = upper + lower
            blocks.append((joined, _median(joined), upper_size + lower_size))
    at = 0
    for _, y, size in blocks:
        for _ in range(size):
            layers.boxes[layer[at]].y = y + starts[at]
            at += 1


def _wishes(layers: Layers, box: int, west: bool, east: bool) -> list[tuple[float, float]]:
    wishes = []
    for pieces, side in ((layers.west_pieces[box], False), (layers.east_pieces[box], True)):
        for piece in pieces if (east if side else west) else ():
            other = piece.east if side else piece.west
            there = layers.height(other, piece.link, not side)
            here = layers.height(box, piece.link, side) - layers.boxes[box].y
            wishes.append((there - here, layers.weight(piece)))
    return wishes or [(layers.boxes[box].y, 0.01)]


def _median(wishes: list[tuple[float, float]]) -> float:
    ordered = sorted(wishes)
    half, passed = sum(w for _, w in ordered) / 2, 0.0
    for value, weight in ordered:
        passed += weight
        if passed >= half - 1e-9:
            return value
    return ordered[-1][0]


@dataclass(frozen=True)
class _Joint:
    """A piece as its box sees it, with all that stays while boxes move up and down."""

    other: int
    step: float
    """Step of the piece if both boxes were at one height."""
    weight: float


Joints = list[list[_Joint]]
"""Pieces at each box."""


def _joints(layers: Layers) -> Joints:
    """Return the pieces at each box, as seen from its height."""
    joints: Joints = [[] for _ in layers.boxes]
    for piece in layers.pieces:
        step = layers.step(piece) - layers.boxes[piece.east].y + layers.boxes[piece.west].y
        weight = layers.weight(piece)
        joints[piece.east].append(_Joint(piece.west, step, weight))
        joints[piece.west].append(_Joint(piece.east, -step, weight))
    return joints


def _straighten(layers: Layers) -> None:
    """Move groups of boxes that hang together on straight lines, to take out bends.

    The median placement moves one layer at a time and so keeps small steps that only go away
    when a whole row moves.
    """
    layers.forget_groups()
    joints = _joints(layers)
    for _ in range(ROUNDS if len(layers.boxes) <= LARGE else 1):
        bends = [(abs(layers.step(p)), at) for at, p in enumerate(layers.pieces)]
        changed = False
        for _, at in sorted(bend for bend in bends if bend[0] > STRAIGHT):
            piece = layers.pieces[at]
            step = layers.step(piece)
            for start, shift in ((piece.east, -step), (piece.west, step)):
                group = layers.straight_group(start)
                alone = {start}
                if abs(step) > STRAIGHT and any(
                    _shift(layers, joints, each, shift)
                    for each in (alone, group)
                    if each is alone or each != alone
                ):
                    changed = True
                    break
        if not changed:
            break


def _shift(layers: Layers, joints: Joints, group: AbstractSet[int], by: float) -> bool:
    """Move boxes up or down, and those in their way, if that makes the bends cheaper."""
    group = _with_pushed(layers, group, by)
    boxes, change = layers.boxes, 0.0
    # Drawings of large nets come here some million times.
    for index in group:
        y = boxes[index].y
        for joint in joints[index]:
            if joint.other not in group:
                step = y - boxes[joint.other].y + joint.step
                before, after = abs(step), abs(step + by)
                bends = (after > STRAIGHT) - (before > STRAIGHT)
                change += joint.weight * (after - before + BEND_COST * bends)
    if change >= -0.001:
        return False
    for index in group:
        boxes[index].y += by
    layers.forget_groups()
    return True


def _with_pushed(layers: Layers, group: AbstractSet[int], by: float) -> set[int]:
    """The boxes and all that must move along to keep the gaps."""
    moving, queue = set(group), list(group)
    boxes, side, far = layers.boxes, 1 if by > 0 else -1, abs(by) - 0.001
    for index in queue:
        box = boxes[index]
        layer = layers.layers[box.layer]
        at = layers.rank[index] + side
        if not 0 <= at < len(layer) or layer[at] in moving:
            continue
        above, below = (box, boxes[layer[at]]) if side > 0 else (boxes[layer[at]], box)
        if below.y - above.y - above.height - layers.gap(index, layer[at]) < far:
            more = layers.straight_group(layer[at]) - moving
            moving |= more
            queue += more
    return moving
