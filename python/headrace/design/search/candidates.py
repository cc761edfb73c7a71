"""Designs in the order of their cost: bounds first, figures next, and only then simulations.

Each entry has a lower bound of its cost. The cheapest entry is evaluated first, and everything that
a bound excludes is never evaluated. Designs whose simulation is unlikely to meet the demand wait
until no other is cheaper than the best one.
"""

import math
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Sequence
from heapq import heappop, heappush, merge, nsmallest
from itertools import pairwise
from typing import NamedTuple

import msgspec

from headrace.design.catalogue import Catalogue, DiskModel, NetworkModel
from headrace.design.enumeration import (
    MOST_NODES,
    Family,
    Filling,
    complete,
    families,
    horizon_capacity,
    metadata,
    usable,
)
from headrace.design.evaluate import evaluate
from headrace.design.evaluation import Evaluation
from headrace.design.figure import Figure, by_key
from headrace.design.headroom import WRITES, Busy, Demand, busy
from headrace.design.options import Options
from headrace.design.performance.system import ROTATION
from headrace.design.reliability.system import system_reliability
from headrace.design.search.linear_bounds import LinearBounds
from headrace.design.search.misses import throughput_field, total_miss
from headrace.design.system import Design
from headrace.design.worksheet import Worksheet

DOUBT = 0.8
"""Part of the demand that a design is expected to meet before it is simulated ahead of others
(declared)."""
EXPECTED = 0.7
"""Part of its bound that a kind of design is expected to reach before one of it is simulated
(declared)."""
DEARER = "more expensive than the chosen design"
"""Reason of designs that are left out for no requirement, among the fields of the worksheet."""
EXCLUDED = "applications"
"""Reason of designs whose file system cannot run an application."""
CAUTION = 1.25
"""Factor by which arrays of other kinds may be faster with equal resources."""
GROWTH = 1.2
"""Factor on the demand that the next larger design of a family is laid out for."""
ENOUGH = 50.0
"""Times the demand from which on a larger design gains nothing."""
SPARE_AT_FIRST, SPARE = 2.0, 1.2
"""Times the demand that a design is expected to meet if it is simulated out of turn (declared),
before any meets everything and after that."""
NEAREST, KINDS = 24, 4
"""Designs that are remembered for each set of requirements that they miss, and such sets."""
LOOK_EVERY = 500
"""Entries between two calls of the progress function."""


class Entry(NamedTuple):
    """A design whose performance is not decided yet."""

    family: Family
    network: NetworkModel
    metadata: tuple[int, DiskModel | None]
    nodes: int
    arrays: int
    bound: float
    """Upper bound of its throughput, in multiples of what the applications want."""


class Candidate(msgspec.Struct, frozen=True, kw_only=True):
    """A design that meets all requirements which need no simulation."""

    entry: Entry
    evaluation: Evaluation

    @property
    def design(self) -> Design:
        """The design."""
        return self.evaluation.design


class Speed(NamedTuple):
    """Resources of all servers of a design. Among designs of equal arrays, one with no less of each
    is no slower; none gains more than its resources, times `CAUTION` (declared)."""

    read: float
    """Bytes a second of all disks."""
    written: float
    """Bytes a second that arrays and copies leave of that."""
    random_reads: float
    random_writes: float
    """Accesses a second, likewise."""
    wire: float
    bus: float
    cores: float
    latency: float
    """Negative seconds of the network."""
    metadata: float
    """Negative seconds of an access of the metadata's disks."""

    def covers(self, other: "Speed") -> bool:
        """Return whether it has no less of any resource."""
        return all(mine >= its for mine, its in zip(self, other, strict=True))

    def times(self, factor: float) -> "Speed":
        """Return a multiple of the resources, over the same network."""
        return Speed._make((*(factor * part for part in self[:-2]), *self[-2:]))


class Frontier:
    """The designs that are open, the cheapest first."""

    def __init__(
        self,
        worksheet: Worksheet,
        catalogue: Catalogue,
        options: Options,
        demand: Sequence[Demand],
    ) -> None:
        self._worksheet, self._catalogue, self._options = worksheet, catalogue, options
        self._demand = demand
        self._linear = LinearBounds(worksheet, catalogue, options)
        self._first = worksheet.capacity.first_purchase
        self._horizon = horizon_capacity(worksheet)
        self._wants = any(one.throughput or one.operations for one in worksheet.applications)
        self._reached: dict[tuple[str, str, str], float] = {}
        """Best part of the bound that simulations reach."""
        self._failed: defaultdict[tuple[object, ...], list[Speed]] = defaultdict(list)
        self._array_loss: dict[tuple[DiskModel, Filling], float] = {}
        """Least probability that one array loses data."""
        self._impossible: set[str] = set()
        self._heap: list[tuple[float, int, Entry, Evaluation | None]] = []
        self._doubtful: list[tuple[float, int, Entry, Evaluation | None]] = []
        self._near: defaultdict[tuple[str, ...], list[tuple[float, int, Entry]]] = defaultdict(list)
        """Designs that miss requirements by the least, by the fields that they miss."""
        self._remembered = 0
        self._tried: set[int] = set()
        self._is_closing = False
        self.enumerated = 0
        self.is_complete = False
        """Whether every family was enumerated."""
        self.discarded: Counter[str] = Counter()

    def fill(self, on_progress: Callable[[int], None], is_over: Callable[[], bool]) -> None:
        """Enumerate the least design of each family, and discard what a bound excludes.

        Args:
            on_progress: Called now and then with the designs enumerated; it may raise to stop.
            is_over: Whether the time for it is spent.
        """
        progress = 0
        for family in families(self._catalogue, self._options):
            work = self._work(family)
            tried = metadata(family.file_system, self._catalogue, self._options)
            networks = self._catalogue.networks
            missed = self._linear.missed(self._linear.least(family, self._first, self._horizon))
            if missed:
                # One of them stands for all among the nearest misses.
                is_near = _product(missed) < self._farthest(tuple(field for field, _ in missed))
                left_out = len(tried) * len(networks) - is_near
                self.enumerated += left_out
                self.discarded[missed[0][0]] += left_out
                tried, networks = tried[:1], networks[:is_near]
            for network in networks:
                size = self._size(family, network, 1.0, work)
                for servers in tried:
                    self._add(family, network, servers, size, work)
            progress += len(tried) * len(networks)
            if progress >= LOOK_EVERY:
                progress = 0
                on_progress(self.enumerated)
            if is_over():
                return
        self.is_complete = True

    def lower_bound(self, best: float) -> float:
        """Return the least cost that an open design can have, or `best` if that is less."""
        open_costs = [heap[0][0] for heap in (self._heap, self._doubtful) if heap]
        return min([best, *open_costs])

    def take(
        self, count: int, limit: float, is_over: Callable[[], bool], likely: Sequence[Candidate]
    ) -> list[Candidate]:
        """Return some of the cheapest open candidates below a cost; none if there is none.

        Candidates that another one of them covers wait for its simulation.

        Args:
            count: Candidates at most, the likely ones among them.
            limit: Cost of the best design; from the first one on, doubtful designs have their turn.
            is_over: Whether the time is spent.
            likely: Candidates that are simulated with them.
        """
        taken = [*likely]
        waiting = []
        while len(taken) < count and not is_over():
            item = None
            if limit == math.inf or self._is_closing:
                item = self._next(limit)
            if item is None:
                if self._is_closing or (taken and limit == math.inf):
                    break
                self._is_closing = True
                self._heap = list(merge(sorted(self._heap), sorted(self._doubtful)))
                self._doubtful = []
                continue
            cost, number, candidate = item
            kind, speed = _kind(candidate.entry)
            others = [_kind(one.entry) for one in taken]
            if any(other == kind and its.covers(speed) for other, its in others):
                waiting.append((cost, number, candidate.entry, candidate.evaluation))
            else:
                taken.append(candidate)
        for entry in waiting:
            heappush(self._heap, entry)
        return taken

    def take_likely(self, count: int, limit: float, is_over: Callable[[], bool]) -> list[Candidate]:
        """Return the cheapest open candidates below a cost that are expected to have throughput to
        spare: one that meets everything lowers the limit early."""
        spare = SPARE if limit < math.inf else SPARE_AT_FIRST
        likely = [
            one
            for one in self._heap
            if one[0] < limit
            and self._expected(one[2]) >= spare
            and one[1] not in self._tried
            and one[2].family.file_system not in self._impossible
        ]
        taken: list[Candidate] = []
        kinds = set()
        for _, number, entry, evaluation in sorted(likely):
            if len(taken) == count or is_over():
                break
            self._tried.add(number)
            kind, _ = _kind(entry)
            if kind in kinds or self._is_covered(entry):
                continue
            candidate = self._candidate(entry, to_the_end=False)
            if not evaluation and cost_of(candidate.evaluation) >= limit:
                continue
            if candidate.evaluation.is_feasible:
                kinds.add(kind)
                taken.append(candidate)
        return taken

    def fail(self, candidate: Candidate, satisfaction: float, is_slow: bool = True) -> None:
        """Record that a simulated candidate misses the demand, and open the next larger one.

        Args:
            candidate: The candidate.
            satisfaction: Least part of a requirement that any application got.
            is_slow: Whether a simulation showed that, and none failed.
        """
        kind, speed = _kind(candidate.entry)
        factor = 1 / max(satisfaction * CAUTION, 1e-3) if is_slow else 1.0
        self._failed[kind].append(speed.times(factor))
        family = candidate.entry.family
        own = family.disk, family.filling.array, family.copies
        self._failed[*kind, *own].append(speed.times(max(1.0, factor)))
        key, reached = _class(candidate.entry), satisfaction / candidate.entry.bound
        self._reached[key] = max(self._reached.get(key, 0.0), reached)
        step = GROWTH if self._is_closing or not satisfaction else max(GROWTH, 1 / satisfaction)
        self._enlarge(candidate.entry, step)

    def reopen(self, candidates: Iterable[Candidate]) -> None:
        """Open candidates again that no simulation has decided."""
        for one in candidates:
            self._remembered += 1
            item = cost_of(one.evaluation), -self._remembered, one.entry, one.evaluation
            heappush(self._heap, item)

    def exclude(self, file_system: str) -> None:
        """Discard all designs of a file system that cannot run the applications."""
        self._impossible.add(file_system)

    def can_run(self, file_system: str) -> bool:
        """Return whether a file system was not excluded."""
        return file_system not in self._impossible

    def beyond(self, limit: float, factors: Sequence[float], count: int) -> list[Candidate]:
        """Return candidates that cost more: of each range of costs the fastest and the safest.

        Args:
            limit: Cost of the chosen design.
            factors: Ends of the ranges, as multiples of the limit.
            count: Candidates that are evaluated in a range, at most.
        """
        dearer = sorted(self._heap)
        chosen: dict[Design, Candidate] = {}
        for least, most in pairwise(factors):
            part = [one for one in dearer if least * limit <= one[0] < most * limit]
            part.sort(key=lambda one: -self._expected(one[2]))
            feasible = [
                candidate
                for _, _, entry, _ in part[:count]
                if self._expected(entry) >= DOUBT and not self._is_covered(entry)
                if (candidate := self._candidate(entry)).evaluation.is_feasible
            ]
            if feasible:
                safest = min(feasible, key=lambda one: loss_of(one.evaluation))
                chosen |= {one.design: one for one in (feasible[0], safest)}
        return list(chosen.values())

    def nearest(self) -> list[Evaluation]:
        """Return evaluated designs that miss the fewest requirements, by the least."""
        kinds = sorted(self._near, key=len)[:KINDS]
        near = [entry for kind in kinds for *_, entry in self._near[kind]]
        ranked = []
        for number, entry in enumerate(near):
            evaluation = self._candidate(entry).evaluation
            missed, miss, cost = nearness(evaluation, self._worksheet)
            is_slow = self._wants and (self._expected(entry) < SPARE or self._is_covered(entry))
            ranked.append((missed + is_slow, miss, cost, number, evaluation))
        return [evaluation for *_, evaluation in sorted(ranked, key=lambda one: one[:4])]

    def count_left(self, limit: float) -> None:
        """Count the designs that are more expensive than the chosen one as discarded."""
        left = sum(one[0] >= limit for one in (*self._heap, *self._doubtful))
        self.discarded[DEARER] += left

    def _work(self, family: Family) -> Busy:
        return busy(family.design(family.least, 1), self._demand)

    def _size(
        self, family: Family, network: NetworkModel, aim: float, work: Busy
    ) -> tuple[int, int] | None:
        """Return the least servers and arrays that hold the data and whose bound has `aim` times
        the demand; None if there is no such number."""
        least, most, disks = family.least, family.filling.most, family.filling.array.disks
        each = usable(family, least, 1) / least
        full = usable(family, least, most) / least
        if each <= 0:
            return None
        bus = family.housing.node.bus_rate or math.inf
        wire = work.wire / network.bandwidth
        seconds = aim * max(wire, work.bus / bus, work.disk / (disks * most))
        nodes = max(least, _whole(self._horizon / full), _whole(seconds))
        nodes = family.whole_sets(nodes)
        if nodes > (1 if family.file_system == "nfs" else MOST_NODES):
            return None
        arrays = max(
            1, _whole(self._first / (nodes * each)), _whole(aim * work.disk / disks / nodes)
        )
        # A file system's reserve may grow with its size.
        grows = full < each * most * (1 - 1e-9)
        while grows and arrays < most and usable(family, nodes, arrays) < self._first * (1 - 1e-9):
            arrays += 1
        return nodes, min(arrays, most)

    def _add(
        self,
        family: Family,
        network: NetworkModel,
        servers: tuple[int, DiskModel | None],
        size: tuple[int, int] | None,
        work: Busy,
    ) -> None:
        """Open the design of a family with servers and arrays, unless a bound excludes it."""
        self.enumerated += 1
        if size is None:
            self.discarded[throughput_field(self._worksheet)] += 1
            return
        entry = Entry(family, network, servers, *size, _bound(family, network, *size, work))
        amounts = self._linear.amounts(entry.nodes, entry.arrays, family, network, servers)
        missed = [*self._linear.missed(amounts), *self._loss(family, entry)]
        if missed:
            self.discarded[missed[0][0]] += 1
            self._remember(entry, tuple(field for field, _ in missed), _product(missed))
        else:
            heappush(self._heap, (self._linear.cost(amounts), self.enumerated, entry, None))

    def _loss(self, family: Family, entry: Entry) -> list[tuple[str, float]]:
        """Return the ratio between the least and the accepted probability of a loss, if above 1."""
        limit = self._worksheet.recovery.loss_probability
        if limit is None or family.copies > 1 or family.code is not None:
            return []
        key = family.disk, family.filling
        if key not in self._array_loss:
            figures = system_reliability(family.design(1, 1), self._worksheet, is_idle=True)
            self._array_loss[key] = by_key(figures)["loss-probability"].value
        none = math.log1p(-min(self._array_loss[key], 1 - 1e-16)) * entry.nodes * entry.arrays
        ratio = -math.expm1(none) / max(limit, 1e-300)
        return [("recovery.loss_probability", ratio)] if ratio > 1 + 1e-6 else []

    def _enlarge(self, entry: Entry, step: float) -> None:
        """Open the design of a family whose bound is a multiple of an entry's."""
        family, network, servers, nodes, arrays, bound = entry
        if bound >= ENOUGH or not self._wants:
            return
        work = self._work(family)
        size = self._size(family, network, bound * step, work)
        if size is not None and size <= (nodes, arrays):
            size = None
        self._add(family, network, servers, size, work)

    def _remember(self, entry: Entry, missed: tuple[str, ...], miss: float) -> None:
        """Remember a design that misses requirements; one that may miss the throughput too."""
        if self._wants and self._expected(entry) < SPARE:
            missed = (*missed, throughput_field(self._worksheet))
        if miss >= self._farthest(missed):
            return
        self._remembered += 1
        self._near[missed] = nsmallest(
            NEAREST, [*self._near[missed], (miss, self._remembered, entry)]
        )

    def _farthest(self, missed: tuple[str, ...]) -> float:
        near = self._near[missed]
        return near[-1][0] if len(near) == NEAREST else math.inf

    def _expected(self, entry: Entry) -> float:
        """Return the part of the demand that a design is expected to meet."""
        return self._reached.get(_class(entry), EXPECTED) * entry.bound

    def _design(self, entry: Entry) -> Design:
        plain = entry.family.design(entry.nodes, entry.arrays)
        return complete(plain, entry.network, entry.metadata, self._options)

    def _candidate(self, entry: Entry, *, to_the_end: bool = True) -> Candidate:
        design = self._design(entry)
        evaluation = evaluate(design, self._worksheet, self._catalogue, to_the_end=to_the_end)
        return Candidate(entry=entry, evaluation=evaluation)

    def _is_covered(self, entry: Entry) -> bool:
        kind, speed = _kind(entry)
        family = entry.family
        own = family.disk, family.filling.array, family.copies
        failed = (*self._failed[kind], *self._failed[*kind, *own])
        return any(other.covers(speed) for other in failed)

    def _next(self, limit: float) -> tuple[float, int, Candidate] | None:
        """Return the cheapest open candidate below a cost, with its figures."""
        while self._heap and self._heap[0][0] < limit:
            cost, number, entry, evaluation = heappop(self._heap)
            if entry.family.file_system in self._impossible:
                self.discarded[EXCLUDED] += 1
                continue
            if self._is_covered(entry):
                self.discarded[throughput_field(self._worksheet)] += 1
                self._enlarge(entry, GROWTH)
                continue
            if evaluation is not None:
                return cost, number, Candidate(entry=entry, evaluation=evaluation)
            if not self._is_closing and self._wants and (part := self._expected(entry)) < DOUBT:
                heappush(self._doubtful, (cost, number, entry, None))
                self._enlarge(entry, max(GROWTH, DOUBT / max(part, 1e-3)))
                continue
            candidate = self._candidate(entry, to_the_end=False)
            missed = candidate.evaluation.violations
            if missed:
                self.discarded[missed[0].field] += 1
                miss = total_miss(candidate.evaluation, self._worksheet)
                self._remember(entry, tuple(one.field for one in missed), miss)
                continue
            heappush(
                self._heap,
                (max(cost, cost_of(candidate.evaluation)), number, entry, candidate.evaluation),
            )
        return None


def nearness(evaluation: Evaluation, worksheet: Worksheet) -> tuple[int, float, float]:
    """Return how near a design comes to the requirements: how many it misses, and by how much."""
    return len(evaluation.violations), total_miss(evaluation, worksheet), cost_of(evaluation)


def cost_of(evaluation: Evaluation) -> float:
    """Return the total cost over the years, or else the purchase; infinite if both are unknown."""
    return _first_value(evaluation.cost, "total-cost", "purchase")


def loss_of(evaluation: Evaluation) -> float:
    """Return the probability of a data loss; infinite if it was not computed."""
    return _first_value(evaluation.reliability, "loss-probability")


def _first_value(figures: Sequence[Figure], *keys: str) -> float:
    """Return the value of the first of the keys that has a figure; infinite if none has."""
    keyed = by_key(figures)
    return next((keyed[key].value for key in keys if key in keyed), math.inf)


def _bound(family: Family, network: NetworkModel, nodes: int, arrays: int, work: Busy) -> float:
    """Return the upper bound of the throughput, in multiples of the demand, as `headroom` does."""
    busiest = max(
        work.disk / (family.filling.array.disks * arrays),
        work.wire / network.bandwidth,
        work.bus / (family.housing.node.bus_rate or math.inf),
    )
    return nodes / busiest if busiest > 0 else math.inf


def _class(entry: Entry) -> tuple[str, str, str]:
    """Return what decides the part of the bound that designs reach: file system, class of disks,
    kind of array."""
    family = entry.family
    return family.file_system, family.disk.disk_class, family.filling.array.kind


def _product(missed: Sequence[tuple[str, float]]) -> float:
    """Return the logarithm of the product of the ratios by which requirements are missed."""
    return sum(math.log(ratio) for _, ratio in missed)


def _whole(number: float) -> int:
    return math.ceil(number * (1 - 1e-9))


def _kind(entry: Entry) -> tuple[tuple[object, ...], Speed]:
    """Return what designs must share to be compared, and the resources to compare."""
    family, network, (_, metadata_disk) = entry.family, entry.network, entry.metadata
    node, array, disk = family.housing.node, family.filling.array, family.disk
    disks, code = entry.nodes * entry.arrays * array.disks, family.code
    copies = family.copies if code is None else (code.data + code.parity) / code.data
    accesses = disks / max(disk.access_time, 1e-9)
    return (
        (family.file_system, disk.disk_class in ROTATION, code),
        Speed(
            disks * disk.read_rate,
            disks * disk.write_rate * array.efficiency / copies,
            accesses,
            accesses / (copies * WRITES.get(array.kind, 1)),
            entry.nodes * network.bandwidth,
            entry.nodes * (node.bus_rate or math.inf),
            entry.nodes * node.cores,
            -network.latency,
            -metadata_disk.access_time if metadata_disk else 0.0,
        ),
    )
