"""Designs in the order of their cost: bounds first, figures next, and only then simulations.

Each entry has a lower bound of its cost. The cheapest entry is evaluated first, and everything that
a bound excludes is never evaluated. Designs whose simulation is unlikely to meet the demand wait
until no other is cheaper than the best one.
"""

import copy
import math
from collections import Counter, defaultdict
from collections.abc import Callable, Container, Iterable, Iterator, Sequence
from heapq import heapify, heappop, heappush, merge, nsmallest
from itertools import pairwise, zip_longest
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
from headrace.design.search.linear_bounds import Amounts, LinearBounds
from headrace.design.search.misses import miss_ratios, throughput_field
from headrace.design.system import Design
from headrace.design.worksheet import Worksheet

DOUBT = 0.8
"""Part of the demand that a design is expected to meet before it is simulated ahead of others
(declared)."""
EXPECTED = 0.7
"""Part of its bound that a kind of design is expected to reach before one of it is simulated
(declared)."""
SURE = 1 - 1e-6
"""Bound of its throughput below which a design misses the demand, rounding aside."""
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
NEAREST = 24
"""Designs of a kind that are remembered for each set of requirements that they miss."""
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


Rank = tuple[int, float, float]
"""Missed requirements, the logarithm of the product of their ratios, and the cost."""
Near = tuple[Rank, int, Entry]
"""A design that misses requirements, with a lower bound of its rank and a number."""


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
        self._worksheet, self._catalogue, self.options = worksheet, catalogue, options
        self._demand = demand
        self._linear = LinearBounds(worksheet, catalogue, options)
        self._first = worksheet.capacity.first_purchase
        self._horizon = horizon_capacity(worksheet)
        self._wants = any(
            one.throughput or one.operations or one.au for one in worksheet.applications
        )
        self._reached: dict[tuple[str, str, str], float] = {}
        """Best part of the bound that simulations reach."""
        self._failed: defaultdict[tuple[object, ...], list[Speed]] = defaultdict(list)
        self._array_loss: dict[tuple[DiskModel, Filling], float] = {}
        """Least probability that one array loses data."""
        self._impossible: set[str] = set()
        self._heap: list[tuple[float, int, Entry, Evaluation | None]] = []
        self._doubtful: list[tuple[float, int, Entry, Evaluation | None]] = []
        self._near: defaultdict[tuple[object, ...], list[Near]] = defaultdict(list)
        """Designs that miss requirements by the least, by their kind and the fields they miss."""
        self._evaluated: dict[Entry, Evaluation] = {}
        """Figures of the nearest of them."""
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
        for family in _families(self._catalogue, self.options):
            work = self._work(family)
            tried = metadata(family.file_system, self._catalogue, self.options)
            networks = self._catalogue.networks
            missed = self._linear.missed(self._linear.least(family, self._first, self._horizon))
            if missed:
                # Those with the first metadata servers stand for all among the nearest misses.
                is_near = _product(missed) < self._farthest(family, missed)
                tried, left_out = tried[:is_near], len(tried) - is_near
                self.enumerated += left_out * len(networks)
                self.discarded[missed[0][0]] += left_out * len(networks)
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

    def on_network(self, network: NetworkModel) -> "Frontier":
        """Return the open designs on a network, which learn with those on others."""
        part = copy.copy(self)
        part._heap = [one for one in self._heap if one[2].network is network]
        heapify(part._heap)
        part._doubtful = []
        part._near = defaultdict(list)
        return part

    def shared_cost(self, network: NetworkModel) -> tuple[float, float]:
        """Return what several designs on a network pay once: monitoring, and at most a switch."""
        return self._linear.shared(network)

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
                item = self._next(limit, is_over)
            if item is None:
                if is_over() or self._is_closing or (taken and limit == math.inf):
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
        self.learn(candidate.entry, satisfaction, misses=True, is_slow=is_slow)
        step = GROWTH if self._is_closing or not satisfaction else max(GROWTH, 1 / satisfaction)
        self._enlarge(candidate.entry, step)

    def learn(
        self, entry: Entry, satisfaction: float, *, misses: bool, is_slow: bool = True
    ) -> None:
        """Record what a simulation shows of a design, and whether it misses a requirement."""
        key, reached = _class(entry.family), satisfaction / entry.bound
        # One that has enough asks for no more: it may reach a larger part.
        least = 0.0 if misses else EXPECTED
        self._reached[key] = max(self._reached.get(key, least), reached)
        if misses:
            kind, speed = _kind(entry)
            factor = 1 / max(satisfaction * CAUTION, 1e-3) if is_slow else 1.0
            self._failed[kind].append(speed.times(factor))
            family = entry.family
            own = family.disk, family.filling.array, family.copies
            self._failed[*kind, *own].append(speed.times(max(1.0, factor)))

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

    def nearest(
        self, count: int, simulated: Container[Design], is_over: Callable[[], bool]
    ) -> list[tuple[Rank, Candidate]]:
        """Return designs that miss the fewest requirements, by the least, each with its rank.

        A design that is expected to be slow counts with one miss more. The least one of its family
        that is expected to be fast enough competes with it.

        Args:
            count: Designs at most.
            simulated: Designs that are left out.
            is_over: Whether the time is spent.
        """
        queue = [(*near, False) for nearest in self._near.values() for near in nearest]
        heapify(queue)
        opened = {entry for _, _, entry, _ in queue}
        ranked: list[tuple[Rank, Candidate]] = []
        while queue and len(ranked) < count and not (ranked and is_over()):
            rank, number, entry, is_exact = heappop(queue)
            if is_exact:
                ranked.append((rank, Candidate(entry=entry, evaluation=self._evaluated[entry])))
                continue
            if entry not in self._evaluated:
                self._evaluated[entry] = self._candidate(entry, is_idle=is_over()).evaluation
            evaluation = self._evaluated[entry]
            is_slow = self._is_slow(entry)
            if evaluation.design not in simulated and evaluation.violations:
                missed, miss, cost = nearness(evaluation, self._worksheet)
                heappush(queue, ((missed + is_slow, miss, cost), number, entry, True))
            if is_slow and (faster := self._fast_enough(entry)) and faster not in opened:
                opened.add(faster)
                ratios = self._missed(faster)
                bound = len(ratios), _product(ratios), 0.0
                heappush(queue, (bound, -len(opened), faster, False))
        return ranked

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
        # No server adds to what the clients' own cards carry.
        if work.client:
            aim = min(aim, network.bandwidth / work.client)
        busiest = max(work.disk / disks, work.memory)
        seconds = aim * max(wire, work.bus / bus, busiest / most)
        nodes = max(least, _whole(self._horizon / full), _whole(seconds))
        nodes = family.whole_sets(nodes)
        if nodes > (1 if family.file_system == "nfs" else MOST_NODES):
            return None
        arrays = max(1, _whole(self._first / (nodes * each)), _whole(aim * busiest / nodes))
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
        missed = self._missed(entry)
        if missed:
            self.discarded[missed[0][0]] += 1
            self._remember(entry, missed)
        else:
            cost = self._linear.cost(self._amounts(entry))
            heappush(self._heap, (cost, self.enumerated, entry, None))

    def _amounts(self, entry: Entry) -> Amounts:
        family, network, servers, nodes, arrays, _ = entry
        return self._linear.amounts(nodes, arrays, family, network, servers)

    def _missed(self, entry: Entry) -> list[tuple[str, float]]:
        """Return the fields that a design misses for certain, each with a bound of its ratio."""
        slow = [(throughput_field(self._worksheet), 1 / entry.bound)] if entry.bound < SURE else []
        return [*slow, *self._linear.missed(self._amounts(entry)), *self._loss(entry)]

    def _loss(self, entry: Entry) -> list[tuple[str, float]]:
        """Return the ratio between the least and the accepted probability of a loss, if above 1."""
        family, limit = entry.family, self._worksheet.recovery.loss_probability
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
        if entry.bound >= ENOUGH or not self._wants:
            return
        family, network, servers, nodes, arrays, bound = entry
        work = self._work(family)
        size = self._size(family, network, bound * step, work)
        if size is not None and size <= (nodes, arrays):
            size = None
        self._add(family, network, servers, size, work)

    def _fast_enough(self, entry: Entry) -> Entry | None:
        """Return the least design of a family that is expected to be fast enough, if any."""
        family, network, servers = entry[:3]
        work = self._work(family)
        while self._is_slow(entry):
            aim = entry.bound * max(GROWTH, 1 / max(self._expected(entry), 1e-3))
            size = self._size(family, network, aim, work)
            if size is None or entry.bound >= ENOUGH or size <= (entry.nodes, entry.arrays):
                return None
            bound = _bound(family, network, *size, work)
            entry = Entry(family, network, servers, *size, bound)
        return entry

    def _is_slow(self, entry: Entry) -> bool:
        """Return whether a design is expected to miss the demand."""
        return self._wants and (self._expected(entry) < 1 or self._is_covered(entry))

    def _remember(self, entry: Entry, missed: Sequence[tuple[str, float]]) -> None:
        """Remember a design that misses requirements, with the ratios; slow ones by themselves."""
        is_slow = self._wants and self._expected(entry) < 1
        miss = _product(missed)
        if miss < self._farthest(entry.family, missed, is_slow):
            self._remembered += 1
            near = self._near[_near_key(entry.family, missed, is_slow)]
            near.append(((len(missed), miss, 0.0), self._remembered, entry))
            near[:] = nsmallest(NEAREST, near)

    def _farthest(
        self, family: Family, missed: Sequence[tuple[str, float]], is_slow: bool = False
    ) -> float:
        near = self._near[_near_key(family, missed, is_slow)]
        return near[-1][0][1] if len(near) == NEAREST else math.inf

    def _expected(self, entry: Entry) -> float:
        """Return the part of the demand that a design is expected to meet."""
        return self._reached.get(_class(entry.family), EXPECTED) * entry.bound

    def _design(self, entry: Entry) -> Design:
        plain = entry.family.design(entry.nodes, entry.arrays)
        return complete(plain, entry.network, entry.metadata, self.options)

    def _candidate(
        self, entry: Entry, *, to_the_end: bool = True, is_idle: bool = False
    ) -> Candidate:
        design = self._design(entry)
        evaluation = evaluate(
            design, self._worksheet, self._catalogue, to_the_end=to_the_end, is_idle=is_idle
        )
        return Candidate(entry=entry, evaluation=evaluation)

    def _is_covered(self, entry: Entry) -> bool:
        kind, speed = _kind(entry)
        family = entry.family
        own = family.disk, family.filling.array, family.copies
        failed = (*self._failed[kind], *self._failed[*kind, *own])
        return any(other.covers(speed) for other in failed)

    def _next(
        self, limit: float, is_over: Callable[[], bool]
    ) -> tuple[float, int, Candidate] | None:
        """Return the cheapest open candidate below a cost, with its figures."""
        while self._heap and self._heap[0][0] < limit and not is_over():
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
                self._remember(entry, miss_ratios(candidate.evaluation, self._worksheet))
                continue
            heappush(
                self._heap,
                (max(cost, cost_of(candidate.evaluation)), number, entry, candidate.evaluation),
            )
        return None


def _families(catalogue: Catalogue, options: Options) -> Iterator[Family]:
    """Yield the families of all file systems in turn: a search that ends early has some of each."""
    each = [
        families(catalogue, msgspec.structs.replace(options, file_systems=(name,)))
        for name in options.file_systems
    ]
    return (family for turn in zip_longest(*each) for family in turn if family is not None)


def nearness(evaluation: Evaluation, worksheet: Worksheet) -> Rank:
    """Return how near a design comes to the requirements: how many it misses, and by how much."""
    missed = miss_ratios(evaluation, worksheet)
    return len(missed), _product(missed), cost_of(evaluation)


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
        work.memory / arrays,
        work.wire / network.bandwidth,
        work.bus / (family.housing.node.bus_rate or math.inf),
    )
    bound = nodes / busiest if busiest > 0 else math.inf
    return min(bound, network.bandwidth / work.client) if work.client else bound


def _class(family: Family) -> tuple[str, str, str]:
    """Return what decides the part of the bound that designs reach: file system, class of disks,
    kind of array."""
    return family.file_system, family.disk.disk_class, family.filling.array.kind


def _near_key(
    family: Family, missed: Sequence[tuple[str, float]], is_slow: bool
) -> tuple[object, ...]:
    """Return what near misses are compared by."""
    return tuple(field for field, _ in missed), is_slow, *_class(family), family.copies


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
