"""Assignment of things to the layers of their page: flow from left to right, short lines."""

from collections.abc import Sequence
from dataclasses import dataclass

REVERSAL_COST = 0.4
"""An arc against the reading direction is as bad as this many layers of extra length."""
TURN_COST = 2.5
"""The same for a thing where tokens that came one way can only go back the other."""
PRECEDENCE_COST = 0.2
"""The same for a line whose ends are not in the order in which a walk from the start, along
the arcs, finds them."""
START_COST = 3.0
"""The same for each layer before the one where the reader is to begin."""
SEARCHED = 24
"""Largest number of things on a page for which the reading order is also improved by trial."""


@dataclass(frozen=True)
class Flow:
    """A line in a page between two of its things; None is the border of the page."""

    source: int | None
    target: int | None
    east: bool = False
    """For a line to the border: true if it is the east (right) border."""
    weight: float = 1.0
    directed: bool = True


def assign_layers(count: int, flows: Sequence[Flow]) -> list[int]:
    """The layer, from 1 on, of each of `count` things; no line joins two in one layer.

    Several orders of reading are tried: straight on, folded into a loop, between the borders.
    The one with the shortest lines and the fewest against the reading direction is taken.
    """
    best: list[int] = []
    least = float("inf")
    orders = _orders(count, flows)
    first = {thing: at for at, thing in enumerate(orders[0])}
    for order in orders:
        layers, cost = _try(count, flows, order, first)
        if count <= SEARCHED:
            layers, cost = _search(count, flows, order, first, layers, cost)
        if cost < least - 1e-9:
            best, least = layers, cost
    _spread_loose(best, flows)
    return best


def _try(
    count: int, flows: Sequence[Flow], order: list[int], first: dict[int, int]
) -> tuple[list[int], float]:
    """The layers for an order of reading, and what they cost."""
    layers = _layers(count, flows, order)
    last = max(layers, default=0) + 1
    cost = sum(f.weight * _length(f, layers, last) for f in flows)
    ways: list[set[str]] = [set() for _ in range(count)]
    for flow in flows:
        if not flow.directed:
            continue
        border = last if flow.east else 0
        source = border if flow.source is None else layers[flow.source]
        target = border if flow.target is None else layers[flow.target]
        eastward = source < target
        if flow.source is not None:
            ways[flow.source].add("goes east" if eastward else "goes west")
        if flow.target is not None:
            ways[flow.target].add("comes east" if eastward else "comes west")
        if flow.source is not None and flow.target is not None:
            cost += 0.0 if eastward else REVERSAL_COST
            expected = first[flow.source] < first[flow.target]
            cost += 0.0 if eastward == expected else PRECEDENCE_COST
    if first and not any(_is_border(flow, east=False) for flow in flows):
        cost += START_COST * layers[next(iter(first))]
    for way in ways:
        turns_back = {"comes east", "goes west"} <= way and "goes east" not in way
        turns_on = {"comes west", "goes east"} <= way and "goes west" not in way
        cost += TURN_COST * (turns_back + turns_on)
    return layers, cost


def _search(
    count: int,
    flows: Sequence[Flow],
    order: list[int],
    first: dict[int, int],
    layers: list[int],
    cost: float,
) -> tuple[list[int], float]:
    """Move single things in the order of reading, as long as that makes it cheaper."""
    beside: list[set[int]] = [set() for _ in range(count)]
    for flow in flows:
        if flow.source is not None and flow.target is not None:
            beside[flow.source].add(flow.target)
            beside[flow.target].add(flow.source)
    for _ in range(3):
        before = cost
        for thing in list(order):
            rest = [other for other in order if other != thing]
            # Layers follow from which neighbours are in front.
            behind = (at for at, other in enumerate(rest, 1) if other in beside[thing])
            for at in (0, *behind):
                moved = [*rest[:at], thing, *rest[at:]]
                result, price = _try(count, flows, moved, first)
                if price < cost - 1e-9:
                    order, layers, cost = moved, result, price
        if cost == before:
            break
    return layers, cost


def _length(flow: Flow, layers: list[int], last: int) -> int:
    border = last if flow.east else 0
    source = border if flow.source is None else layers[flow.source]
    target = border if flow.target is None else layers[flow.target]
    return abs(source - target)


def _orders(count: int, flows: Sequence[Flow]) -> list[list[int]]:
    """Candidate orders of reading."""
    after: list[list[int]] = [[] for _ in range(count)]
    beside: list[list[int]] = [[] for _ in range(count)]
    entered = [False] * count
    starts: list[int] = []
    for flow in flows:
        if flow.source is None or flow.target is None:
            if flow.source is None and flow.target is not None and not flow.east:
                starts.append(flow.target)
            continue
        beside[flow.source].append(flow.target)
        beside[flow.target].append(flow.source)
        if flow.directed:
            after[flow.source].append(flow.target)
            entered[flow.target] = True
    starts += [thing for thing in range(count) if not entered[thing]]
    starts += list(range(count))
    starts.sort(key=lambda thing: not after[thing])
    straight = _with_undirected(_depth_first(starts, after), flows)
    place_in = {thing: at for at, thing in enumerate(straight)}

    west = {f.target if f.source is None else f.source for f in flows if _is_border(f, False)}
    east = {f.target if f.source is None else f.source for f in flows if _is_border(f, True)}
    from_west = _distances({t for t in west if t is not None}, beside)
    from_east = _distances({t for t in east if t is not None}, beside)
    from_start = _distances(set(starts[:1]), beside)

    def between(thing: int) -> tuple[float, int]:
        near, far = from_west.get(thing), from_east.get(thing)
        if near is None and far is None:
            return (float(from_start.get(thing, 0)), place_in[thing])
        if near is None or far is None:
            return (float(-(far or 0)) if near is None else float(near), place_in[thing])
        return ((near + 1) / (near + far + 2), place_in[thing])

    return [straight, sorted(straight, key=between)]


def _is_border(flow: Flow, east: bool) -> bool:
    return (flow.source is None or flow.target is None) and flow.east == east


def _depth_first(starts: list[int], after: list[list[int]]) -> list[int]:
    """All things, each before those reached from it, but for the arcs that close a cycle.

    Things found from the first start stand in front of those found only from later ones.
    """
    order: list[int] = []
    seen: set[int] = set()
    for start in starts:
        if start in seen:
            continue
        done: list[int] = []
        seen.add(start)
        stack = [(start, iter(reversed(after[start])))]
        while stack:
            thing, rest = stack[-1]
            following = next((other for other in rest if other not in seen), None)
            if following is None:
                done.append(thing)
                stack.pop()
            else:
                seen.add(following)
                stack.append((following, iter(reversed(after[following]))))
        # An arc from a later start into what is found already must not count as a cycle.
        reached = {other for thing in done for other in after[thing]} - set(done)
        at = min((order.index(other) for other in reached if other in order), default=None)
        at = len(order) if at is None else max(at, 1)
        order[at:at] = done[::-1]
    return order


def _with_undirected(order: list[int], flows: Sequence[Flow]) -> list[int]:
    """The order with everything that only has undirected lines put behind its first user."""
    directed = {t for f in flows if f.directed for t in (f.source, f.target)}
    users: dict[int, list[int]] = {}
    for flow in flows:
        if not flow.directed and flow.source is not None and flow.target is not None:
            users.setdefault(flow.source, []).append(flow.target)
            users.setdefault(flow.target, []).append(flow.source)
    result = [thing for thing in order if thing in directed or thing not in users]
    for thing in order:
        if thing not in directed and thing in users:
            places = [result.index(user) for user in users[thing] if user in result]
            result.insert(min(places) + 1 if places else len(result), thing)
    return result


def _distances(starts: set[int], beside: list[list[int]]) -> dict[int, int]:
    layers = dict.fromkeys(sorted(starts), 0)
    queue = list(layers)
    for thing in queue:
        for other in beside[thing]:
            if other not in layers:
                layers[other] = layers[thing] + 1
                queue.append(other)
    return layers


def _layers(count: int, flows: Sequence[Flow], order: list[int]) -> list[int]:
    """Longest-path layers for an order, then everything drawn towards its neighbours."""
    place_in = {thing: at for at, thing in enumerate(order)}
    before: list[list[tuple[int, float]]] = [[] for _ in range(count)]
    behind: list[list[tuple[int, float]]] = [[] for _ in range(count)]
    borders: list[list[Flow]] = [[] for _ in range(count)]
    for flow in flows:
        if flow.source is None or flow.target is None:
            thing = flow.target if flow.source is None else flow.source
            if thing is not None:
                borders[thing].append(flow)
            continue
        first, second = sorted((flow.source, flow.target), key=lambda t: place_in[t])
        before[second].append((first, flow.weight))
        behind[first].append((second, flow.weight))
    layers = [1] * count
    for thing in order:
        layers[thing] = max((layers[other] + 1 for other, _ in before[thing]), default=1)
    waiting, last = [True] * count, 0
    for _ in range(2 * count):
        changed = False
        if last != max(layers, default=0) + 1:
            waiting, last = [True] * count, max(layers, default=0) + 1
        for thing in order:
            if not waiting[thing]:
                continue
            waiting[thing] = False
            low = max((layers[other] + 1 for other, _ in before[thing]), default=1)
            high = min((layers[other] - 1 for other, _ in behind[thing]), default=last - 1)
            if low == high == layers[thing]:
                continue
            near = [(layers[other], weight) for other, weight in before[thing] + behind[thing]]
            near += [(last if f.east else 0, f.weight) for f in borders[thing]]
            if not near:
                continue

            def pull(at: int, near: list[tuple[int, float]] = near) -> float:
                return sum(weight * abs(at - layer) for layer, weight in near)

            # The sum of distances is least at a neighbour, or at an end of the range.
            spots = {low, high, *(layer for layer, _ in near if low < layer < high)}
            best = min(spots, key=lambda at: (round(pull(at), 6), at))
            if pull(best) < pull(layers[thing]) - 1e-9:
                layers[thing], changed = best, True
                for other, _ in before[thing] + behind[thing]:
                    waiting[other] = True
        if not changed:
            break
    number = {layer: at for at, layer in enumerate(sorted(set(layers)), start=1)}
    return [number[layer] for layer in layers]


def _spread_loose(layers: list[int], flows: Sequence[Flow]) -> None:
    """Things without lines are set out in a block instead of one tall column."""
    joined = {t for f in flows for t in (f.source, f.target)}
    loose = [thing for thing in range(len(layers)) if thing not in joined]
    rows = max(2, round(len(loose) ** 0.5))
    for number, thing in enumerate(loose):
        layers[thing] = 1 + number // rows
