"""The order of boxes within their layers, so that few links cross."""

from bisect import bisect_right, insort
from typing import TypeAlias

from headrace.drawing.layers import Layers

SWEEPS = 16


def reduce_crossings(layers: Layers) -> None:
    """Order every layer so that few links cross."""
    for layer in layers.layers:
        if _is_fixed(layers, layer):
            layer.sort(key=lambda box: layers.boxes[box].wanted or 0.0)
    layers.set_ranks()
    best, fewest = [list(layer) for layer in layers.layers], _crossings(layers)
    for start in (False, True):
        if start:
            layers.layers = [
                list(layer) if _is_fixed(layers, layer) else layer[::-1] for layer in best
            ]
            layers.set_ranks()
        seen: set[tuple[tuple[int, ...], ...]] = set()
        for sweep in range(SWEEPS):
            forward = sweep % 2 == 0
            span = range(len(layers.layers))
            for number in span if forward else reversed(span):
                _sort_layer(layers, number, forward)
            _swap_neighbours(layers)
            crossed = _crossings(layers)
            if crossed < fewest:
                best, fewest = [list(layer) for layer in layers.layers], crossed
            order = tuple(map(tuple, layers.layers))
            if fewest == 0 or (not forward and order in seen):
                break
            if not forward:
                seen.add(order)
        if fewest == 0:
            break
    layers.layers = best
    layers.set_ranks()


def _is_fixed(layers: Layers, layer: list[int]) -> bool:
    return all(layers.boxes[box].wanted is not None for box in layer)


def _sort_layer(layers: Layers, number: int, from_west: bool) -> None:
    def barycentre(box: int) -> float:
        pieces = layers.west_pieces[box] if from_west else layers.east_pieces[box]
        if not pieces:
            return float(layers.rank[box])
        ends = [layers.position(p.west if from_west else p.east, p.link) for p in pieces]
        return sum(ends) / len(ends)

    layer = layers.layers[number]
    if _is_fixed(layers, layer):
        return
    layer.sort(key=barycentre)
    for rank, box in enumerate(layer):
        layers.rank[box] = rank


def _swap_neighbours(layers: Layers) -> None:
    waiting = set(range(len(layers.layers)))
    for _ in range(8):
        for number, layer in enumerate(layers.layers):
            if number not in waiting:
                continue
            waiting.discard(number)
            if _is_fixed(layers, layer):
                continue
            # The other ends stand in other layers: they stay while this one changes.
            ends = [_ends(layers, box) for box in layer]
            for at in range(len(layer) - 1):
                if _more_crossings(ends[at], ends[at + 1]) > 0:
                    layer[at], layer[at + 1] = upper, lower = layer[at + 1], layer[at]
                    ends[at], ends[at + 1] = ends[at + 1], ends[at]
                    layers.rank[upper], layers.rank[lower] = at, at + 1
                    waiting.update((number - 1, number, number + 1))


Ends: TypeAlias = tuple[list[float], list[float]]
"""Ends of a box's pieces in the layers west and east of it."""


def _ends(layers: Layers, box: int) -> Ends:
    return (
        [layers.position(piece.west, piece.link) for piece in layers.west_pieces[box]],
        [layers.position(piece.east, piece.link) for piece in layers.east_pieces[box]],
    )


def _more_crossings(upper: Ends, lower: Ends) -> int:
    """Return the number of crossings that swapping two neighbours would save."""
    more = 0
    for above, below in zip(upper, lower, strict=True):
        for a in above:
            for b in below:
                more += (a > b) - (a < b)
    return more


def _crossings(layers: Layers) -> int:
    count = 0
    for layer in layers.layers:
        ends = sorted(
            (layers.position(p.west, p.link), layers.position(p.east, p.link))
            for box in layer
            for p in layers.east_pieces[box]
        )
        seen: list[float] = []
        for _, east in ends:
            count += len(seen) - bisect_right(seen, east)
            insort(seen, east)
    return count
