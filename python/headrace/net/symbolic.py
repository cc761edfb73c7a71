"""State spaces as decision diagrams: sets of markings instead of single ones.

The tokens of each place are a binary number; the variables of places that transitions join are
near each other. Transitions fire on all known markings at once, until there is no new one. The
diagrams are those of OxiDD (Husung et al., TACAS 2024).
"""

import time
from collections.abc import Callable, Mapping, Sequence
from itertools import pairwise, zip_longest
from typing import Any

import numpy as np
from oxidd.bdd import BDDFunction, BDDManager
from oxidd.util import DDMemoryError
from scipy.sparse import csr_array
from scipy.sparse.csgraph import reverse_cuthill_mckee

from headrace._core import RunError
from headrace.net.conditions import Sum, evaluated

MOST_NODES = 1 << 26
"""Nodes of all diagrams together, of 16 bytes each."""
MOST_CACHED = 1 << 20
MOST_BITS = 16
"""Bits of a place's number of tokens: with more it is taken for unbounded."""
Document = dict[str, Any]


class TooFewBits(Exception):
    """A place gets more tokens than its bits count."""

    def __init__(self, place: int) -> None:
        super().__init__(place)
        self.place = place


def explore(
    net: Mapping[str, Any],
    progress: Callable[[float], object] | None = None,
    reach: str | None = None,
) -> Document:
    """Return what is known of all markings of a net of places and transitions.

    Parameters:
        net: What `_core.NetModel.plain` returns.
        progress: Called with the number of markings.
        reach: A condition on markings whose number is wanted, and one of them.

    Raises:
        RunError: A place has no bound, or the diagrams are too large.
        NoSum: The condition is more than comparisons of sums of tokens.
    """
    begun = time.perf_counter()
    most = max((place["initial"] for place in net["places"]), default=0)
    bits = [max(1, most.bit_length())] * len(net["places"])
    while True:
        try:
            document = MarkingSet(net, bits, progress).document(reach)
        except TooFewBits as more:
            bits[more.place] += 1
            if bits[more.place] > MOST_BITS:
                path = net["places"][more.place]["path"]
                raise RunError(
                    f"{path} has {2**MOST_BITS:,} tokens or no bound: decision diagrams need"
                    " bounded places; --state-space shows firings that add tokens for ever"
                ) from None
        except DDMemoryError:
            raise RunError(
                f"the decision diagrams need more than {MOST_NODES:,} nodes; --state-space"
                " explores markings one by one"
            ) from None
        else:
            return document | {"seconds": time.perf_counter() - begun}


class MarkingSet:
    """The markings that a net reaches, with some bits for each place."""

    def __init__(
        self,
        net: Mapping[str, Any],
        bits: Sequence[int],
        progress: Callable[[float], object] | None,
    ) -> None:
        self._net, self._bits = net, bits
        self._manager = BDDManager(MOST_NODES, MOST_CACHED, 1)
        self._number = sum(bits)
        variables = iter(self._manager.add_vars(self._number))
        # By place, the bit of the lowest value first; the highest is nearest to the root.
        self._variables: list[list[int]] = [[] for _ in bits]
        for place in _order(net):
            self._variables[place] = [next(variables) for _ in range(bits[place])][::-1]
        self._bit = [[self._manager.var(at) for at in of_place] for of_place in self._variables]
        self._enabled = [self._condition(each) for each in net["rules"]]
        self._markings = self._manager.true()
        for place, entry in enumerate(net["places"]):
            self._markings &= self._equal(place, entry["initial"])
        self._fire_all(progress)

    def _fire_all(self, progress: Callable[[float], object] | None) -> None:
        fire = [self._firing(at) for at in range(len(self._enabled))]
        # Those that change the lowest variables first: their diagrams are small.
        touched = [_touched(each) for each in self._net["rules"]]
        top = [min((self._variables[p][-1] for p in each), default=0) for each in touched]
        order = sorted(range(len(fire)), key=lambda at: -top[at])
        while True:
            before = self._markings
            for at in order:
                while (more := self._markings | fire[at](self._markings)) != self._markings:
                    self._markings = more
            if progress is not None:
                progress(self._markings.sat_count_float(self._number))
            if before == self._markings:
                return

    def _at_least(self, place: int, tokens: int) -> BDDFunction:
        if tokens >= 1 << self._bits[place]:
            return self._manager.false()
        enough = self._manager.true()
        for at, bit in enumerate(self._bit[place] if tokens > 0 else ()):
            enough = bit & enough if tokens >> at & 1 else bit | enough
        return enough

    def _equal(self, place: int, tokens: int) -> BDDFunction:
        if tokens >= 1 << self._bits[place]:
            raise TooFewBits(place)
        equal = self._manager.true()
        for at, bit in enumerate(self._bit[place]):
            equal &= bit if tokens >> at & 1 else ~bit
        return equal

    def _plus(self, place: int, tokens: int) -> list[tuple[int, BDDFunction]]:
        """Return the bits of a place's tokens and some more, without the carry, by variable."""
        total = self._sum(self._bit[place], self._constant(tokens))
        return list(zip(self._variables[place], total, strict=False))

    def _place(self, name: str) -> int:
        paths = [entry["path"] for entry in self._net["places"]]
        if len(set(paths)) < len(paths):
            raise RunError("conditions of decision diagrams need pages without copies")
        ends = [at for at, path in enumerate(paths) if name == path or path.endswith(f"/{name}")]
        return min(ends, key=lambda at: len(paths[at]))

    def _compared(self, total: Sum, sign: str) -> BDDFunction:
        """Return where a sum and 0 compare so."""
        places = total.weights.items()
        left = self._weighted({place: by for place, by in places if by > 0}, total.constant)
        right = self._weighted({place: -by for place, by in places if by < 0}, -total.constant)
        width = max(len(left), len(right))
        left, right = (
            each + [self._manager.false()] * (width - len(each)) for each in (left, right)
        )
        less = more = self._manager.false()
        for one, other in zip(left, right, strict=True):
            same = ~(one ^ other)
            less, more = ~one & other | same & less, one & ~other | same & more
        return {
            "<": less,
            ">": more,
            "<=": ~more,
            ">=": ~less,
            "!=": less | more,
            "==": ~(less | more),
        }[sign]

    def _weighted(self, weights: Mapping[int, int], constant: int) -> list[BDDFunction]:
        """Return the bits of a sum of tokens, each times a positive number, and of a constant."""
        total = self._constant(max(0, constant))
        for place, weight in weights.items():
            for shift in range(weight.bit_length()):
                if weight >> shift & 1:
                    shifted = [self._manager.false()] * shift + self._bit[place]
                    total = self._sum(total, shifted)
        return total

    def _constant(self, number: int) -> list[BDDFunction]:
        none, all_ = self._manager.false(), self._manager.true()
        return [all_ if bit == "1" else none for bit in reversed(f"{number:b}")]

    def _sum(self, one: list[BDDFunction], other: list[BDDFunction]) -> list[BDDFunction]:
        carry, bits = self._manager.false(), []
        for left, right in zip_longest(one, other, fillvalue=self._manager.false()):
            bits.append(left ^ right ^ carry)
            carry = left & right | carry & (left ^ right)
        return [*bits, carry]

    def _condition(self, rule: Mapping[str, Any]) -> BDDFunction:
        enabled = self._manager.true()
        for each in rule["conditions"]:
            enough = self._at_least(each["place"], each["count"])
            enabled &= enough if each["at_least"] else ~enough
        return enabled

    def _firing(self, at: int) -> Callable[[BDDFunction], BDDFunction]:
        """Return what gives the markings after a rule has fired in some."""
        rule, enabled = self._net["rules"][at], self._enabled[at]
        too_many, before, after = [], [], self._manager.true()
        for place, change in rule["changes"]:
            size = 1 << self._bits[place]
            before += self._plus(place, -change % size)
            if change > 0:
                too_many.append((place, self._at_least(place, max(0, size - change))))
                after &= self._at_least(place, change)
            else:
                after &= ~self._at_least(place, size + change)
        emptied = self._manager.true()
        for place, tokens in rule["resets"]:
            for bit in self._bit[place]:
                emptied &= bit
            after &= self._equal(place, tokens)
        substitution = BDDFunction.make_substitution(before)

        def fire(markings: BDDFunction) -> BDDFunction:
            fired = markings & enabled
            for place, over in too_many:
                if (fired & over).satisfiable():
                    raise TooFewBits(place)
            if rule["resets"]:
                fired = fired.exists(emptied)
            return fired.substitute(substitution) & after

        return fire

    def _extreme(self, place: int, most: bool) -> int:
        some, tokens = self._markings, 0
        for at in reversed(range(self._bits[place])):
            bit = self._bit[place][at]
            wanted = some & (bit if most else ~bit)
            has_bit = wanted.satisfiable() == most
            some = some & (bit if has_bit else ~bit)
            tokens |= has_bit << at
        return tokens

    def document(self, reach: str | None = None) -> Document:
        """Return the figures as a JSON document, with those of the markings of a condition."""
        having = self._markings
        if reach is not None:
            truth = {True: self._manager.true(), False: self._manager.false()}
            having &= evaluated(reach, self._place, self._compared, truth.__getitem__)
        places, dead = self._net["places"], self._markings
        stands = self._manager.false()
        arcs = [0] * len(self._net["transitions"])
        for rule, enabled in zip(self._net["rules"], self._enabled, strict=True):
            arcs[rule["transition"]] += (self._markings & enabled).sat_count(self._number)
            dead &= ~enabled
        for place, entry in enumerate(places):
            if not entry["may_remain"]:
                stands |= self._at_least(place, 1)
        deadlocks = dead & stands
        example = deadlocks if deadlocks.satisfiable() else dead
        return {
            "states": self._markings.sat_count(self._number),
            "arcs": sum(arcs),
            "complete": True,
            "nodes": self._markings.node_count(),
            "bounds": self._bounds(),
            "dead": dead.sat_count(self._number),
            "deadlocks": deadlocks.sat_count(self._number),
            "deadlock": self._example(example),
            "components": None,
            "transitions": [
                {"path": path, "arcs": number, "dead": number == 0, "live": None}
                for path, number in zip(self._net["transitions"], arcs, strict=True)
            ],
            "reached": None if reach is None else self._example(having),
            "having": None if reach is None else having.sat_count(self._number),
            "formulas": [],
        }

    def _bounds(self) -> list[Mapping[str, object]]:
        """Return the fewest and most tokens of each place, over its copies."""
        ends: dict[str, list[int]] = {}
        for place, entry in enumerate(self._net["places"]):
            extremes = [self._extreme(place, False), self._extreme(place, True)]
            ends.setdefault(entry["path"], []).extend(extremes)
        return [
            {"path": path, "least": min(tokens), "most": max(tokens)}
            for path, tokens in ends.items()
        ]

    def _example(self, markings: BDDFunction) -> Document | None:
        cube = markings.pick_cube()
        if cube is None:
            return None
        tokens = [
            sum(1 << at for at, variable in enumerate(of_place) if cube[variable])
            for of_place in self._variables
        ]
        names = (entry["path"] for entry in self._net["places"])
        some = [
            (name, [f"{number} tokens" if number > 1 else "1 token"])
            for name, number in zip(names, tokens, strict=True)
            if number
        ]
        return {"firings": None, "marking": some}


def _touched(rule: Mapping[str, Any]) -> list[int]:
    conditions = (each["place"] for each in rule["conditions"])
    changes = (place for place, _ in (*rule["changes"], *rule["resets"]))
    return sorted({*conditions, *changes})


def _order(net: Mapping[str, Any]) -> Sequence[int]:
    """Return the places so that those of each transition are near each other."""
    size = len(net["places"])
    joined = [each for each in map(_touched, net["rules"]) if each]
    # Neighbours only: a transition with many places would join each with all others.
    ends = [pair for each in joined for pair in pairwise(each)]
    ones = np.ones(2 * len(ends))
    rows, columns = np.array([*ends, *((b, a) for a, b in ends)]).reshape(-1, 2).T
    graph = csr_array((ones, (rows, columns)), shape=(size, size))
    orders: list[list[int]] = [
        list(range(size)),
        reverse_cuthill_mckee(graph, symmetric_mode=True).tolist(),
    ]

    def spans(order: Sequence[int]) -> int:
        rank = np.empty(size, dtype=int)
        rank[order] = np.arange(size)
        return sum(int(np.ptp(rank[each])) for each in joined)

    return min(orders, key=spans)
