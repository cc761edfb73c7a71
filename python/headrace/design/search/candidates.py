"""Designs that meet all requirements which can be computed without simulation."""

import math
from collections import Counter
from collections.abc import Callable, Sequence
from heapq import heappush, heapreplace

import msgspec

from headrace.design.catalogue import Catalogue
from headrace.design.enumeration import designs
from headrace.design.evaluate import evaluate
from headrace.design.evaluation import Evaluation
from headrace.design.figure import Figure, by_key
from headrace.design.headroom import Demand, headroom
from headrace.design.options import Options
from headrace.design.pareto import front
from headrace.design.search.misses import throughput_field, worst_miss
from headrace.design.system import Design
from headrace.design.worksheet import Worksheet

SURPASSED = "surpassed by another design"
"""Reason of designs that are discarded for no requirement, among the fields of the worksheet."""
SCALES = (1.0, 2.0, 4.0, 8.0)
"""Factors on the number of servers, until some designs have throughput to spare."""
SPARE_THROUGHPUT = 3.0
"""Times the demand that a bound has to allow (declared: simulations reach a third of it and
more)."""
GRAIN = {"cost": 0.02, "headroom": 0.05, "power": 0.1}
"""Relative differences that count as none when designs are compared before simulation."""
NEAREST = 12
"""Designs that are remembered if they miss requirements."""
LOOK_EVERY = 500
"""Designs between two calls of the progress function."""


class Candidate(msgspec.Struct, frozen=True, kw_only=True):
    """A design with the figures by which it is compared."""

    design: Design
    cost: float
    """Total cost over the years, or else purchase; infinite if prices are missing."""
    headroom: float
    """Upper bound of its throughput, in multiples of what the applications want."""
    loss: float
    """Probability of a data loss."""
    power: float
    """Watts."""


class Screening(msgspec.Struct, kw_only=True):
    """Designs of a catalogue that are left."""

    enumerated: int = 0
    discarded: Counter[str] = msgspec.field(default_factory=Counter)
    candidates: list[Candidate] = []
    """Designs that no other surpasses, the cheapest first."""
    nearest: list[Candidate] = []
    """Designs that miss a requirement, the least first."""


class _Nearest:
    """The designs that miss their requirements by the least."""

    def __init__(self) -> None:
        self._heap: list[tuple[float, int, Candidate]] = []

    def takes(self, miss: float) -> bool:
        return len(self._heap) < NEAREST or -miss > self._heap[0][0]

    def add(self, miss: float, number: int, candidate: Candidate) -> None:
        change = heappush if len(self._heap) < NEAREST else heapreplace
        change(self._heap, (-miss, -number, candidate))

    def found(self) -> list[Candidate]:
        return [one for _, _, one in sorted(self._heap, key=lambda entry: (-entry[0], -entry[1]))]


def screen(
    worksheet: Worksheet,
    catalogue: Catalogue,
    options: Options,
    demand: Sequence[Demand],
    on_progress: Callable[[int], None],
) -> Screening:
    """Enumerate designs, and keep those that may meet everything and that none surpasses.

    Args:
        worksheet: The requirements.
        catalogue: What can be bought.
        options: Values to combine.
        demand: What the applications want.
        on_progress: Called now and then with the designs enumerated; it may raise to stop.
    """
    screening = Screening()
    feasible: list[Candidate] = []
    nearest = _Nearest()
    seen: set[Design] = set()
    prices = {net.name: math.inf if net.price is None else net.price for net in catalogue.networks}
    field = throughput_field(worksheet)
    wants = any(one.throughput or one.operations for one in worksheet.applications)
    for scale in SCALES:
        before = len(seen)
        last: tuple[Design, float, float] | None = None
        for design in designs(worksheet, catalogue, options, scale):
            if design in seen:
                continue
            seen.add(design)
            screening.enumerated += 1
            if screening.enumerated % LOOK_EVERY == 0:
                on_progress(screening.enumerated)
            bound = headroom(design, demand)
            price = prices[design.network.name]
            # A network that is dearer and no faster surpasses nothing.
            if (
                last is not None
                and bound <= last[1] * (1 + GRAIN["headroom"])
                and price >= last[2]
                and _differs_in_network(design, last[0])
            ):
                screening.discarded[SURPASSED] += 1
                continue
            last = design, bound, price
            evaluation = evaluate(design, worksheet, catalogue, to_the_end=False)
            miss, missed = worst_miss(evaluation, worksheet)
            if wants and bound < 1 / miss:
                miss, missed = 1 / bound if bound else math.inf, field
            if missed is None:
                feasible.append(_candidate(evaluation, bound))
            else:
                screening.discarded[missed] += 1
                if nearest.takes(miss):
                    whole = evaluate(design, worksheet, catalogue)
                    nearest.add(miss, screening.enumerated, _candidate(whole, bound))
        best = max((candidate.headroom for candidate in feasible), default=0.0)
        if len(seen) == before or not wants or best >= SPARE_THROUGHPUT:
            break
    screening.candidates = unsurpassed(feasible)
    screening.discarded[SURPASSED] += len(feasible) - len(screening.candidates)
    screening.nearest = nearest.found()
    return screening


def unsurpassed(candidates: Sequence[Candidate]) -> list[Candidate]:
    """Return the candidates that no other of their file system surpasses in cost, throughput, loss
    and power, the cheapest first.

    Only a simulation shows the throughput that a file system costs.
    """
    kept = [
        one
        for file_system in dict.fromkeys(candidate.design.file_system for candidate in candidates)
        for one in _unsurpassed([it for it in candidates if it.design.file_system == file_system])
    ]
    return sorted(kept, key=lambda candidate: candidate.cost)


def _unsurpassed(candidates: Sequence[Candidate]) -> list[Candidate]:
    points = [
        (
            _rounded(candidate.cost, GRAIN["cost"]),
            -_rounded(candidate.headroom, GRAIN["headroom"]),
            # Probabilities of a loss within a factor of two are alike.
            _rounded(max(candidate.loss, 1e-15), 1.0),
            _rounded(candidate.power, GRAIN["power"]),
            candidate.cost,
        )
        for candidate in candidates
    ]
    # The cheapest of alike designs comes first, so that the others are surpassed by it.
    order = sorted(range(len(points)), key=lambda index: (points[index][-1], index))
    kept = front([points[index][:-1] for index in order])
    return [candidates[order[index]] for index in kept]


def _rounded(value: float, grain: float) -> float:
    """Return the number of the class of a value; classes are as wide as a relative difference."""
    if not math.isfinite(value) or value <= 0:
        return value
    return math.floor(math.log(value) / math.log1p(grain))


def _differs_in_network(one: Design, other: Design) -> bool:
    return one.network != other.network and one == msgspec.structs.replace(
        other, network=one.network
    )


def _candidate(evaluation: Evaluation, bound: float) -> Candidate:
    return Candidate(
        design=evaluation.design,
        cost=cost_of(evaluation),
        headroom=bound,
        loss=loss_of(evaluation),
        power=_first_value(evaluation.facility, "total-power", "power"),
    )


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
