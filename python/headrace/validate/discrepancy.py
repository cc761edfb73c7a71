"""The paragraph that says where a model is wrong, and which component that points at."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from headrace.report.units import duration
from headrace.validate.breakdown import Breakdown

OF_OTHERS = ("processor queue", "the benchmark itself")
"""Where a measurement has more than its simulation because other programs took the processors."""
STANDS_OUT = 0.5
"""A component is named as the one to look at if it has this part of the differences, at least."""


@dataclass(frozen=True)
class Discrepancy:
    """What all simulations have more or less than their measurements, by component."""

    seconds: float
    """Amounts of the differences of all components, summed up over what is not explained by
    the spread of the repetitions, without those of others."""
    shares: dict[str, float]
    """Each component's part of that, the largest first."""
    others: float
    """What other programs took, in seconds."""
    sentences: str

    def json(self) -> dict[str, Any]:
        """As documents have it."""
        return {
            "seconds": self.seconds,
            "shares": self.shares,
            "others_s": self.others,
            "paragraph": self.sentences,
        }


def explanation(breakdowns: Sequence[Breakdown]) -> dict[str, Any]:
    """What documents say of the breakdowns: each, and what they point at together."""
    found = discrepancy(breakdowns)
    return {
        "breakdowns": [it.json() for it in breakdowns],
        "discrepancy": None if found is None else found.json(),
    }


def discrepancy(breakdowns: Sequence[Breakdown]) -> Discrepancy | None:
    """What the breakdowns say together; None if there are none."""
    if not breakdowns:
        return None
    open_ones = [it for it in breakdowns if not it.explained]
    amounts: dict[str, float] = {}
    others = 0.0
    for breakdown in open_ones:
        for name, difference in breakdown.differences.items():
            if name in OF_OTHERS and difference < 0:
                others -= difference
            else:
                amounts[name] = amounts.get(name, 0.0) + abs(difference)
    total = sum(amounts.values())
    ordered = sorted(amounts.items(), key=lambda it: it[1], reverse=True)
    shares = {name: amount / total for name, amount in ordered if amount > 0}
    sentences = [
        *_outside(breakdowns, open_ones, total + others),
        *_of_others(others, total + others),
        *_of_model(open_ones, shares),
    ]
    return Discrepancy(total, shares, others, " ".join(sentences))


def _outside(
    breakdowns: Sequence[Breakdown], open_ones: Sequence[Breakdown], total: float
) -> list[str]:
    source = f"By the {breakdowns[0].source}"
    if not open_ones or total == 0:
        return [
            f"{source} there is nothing to explain: each of the {len(breakdowns)} predictions"
            " lies among the repetitions of its measurement."
        ]
    error = sum(abs(it.error) for it in open_ones)
    return [
        f"{source}, {len(open_ones)} of {len(breakdowns)} predictions lie outside of the"
        f" repetitions, together {duration(error)} off. Component by component the differences"
        f" are {duration(total)}."
    ]


def _of_others(others: float, total: float) -> list[str]:
    if total == 0 or others < 0.005 * total:
        return []
    return [
        f"{100 * others / total:.0f} % of them are time that other programs took from the"
        " processors, which no component of the model has."
    ]


def _of_model(open_ones: Sequence[Breakdown], shares: dict[str, float]) -> list[str]:
    if not shares:
        return []
    named = next(iter(shares))
    if shares[named] < STANDS_OUT:
        parts = ", ".join(f"{name} {_percent(share)}" for name, share in shares.items())
        points_at = f"The model's own point at no single component: {parts}."
    else:
        net = sum(it.differences.get(named, 0.0) for it in open_ones)
        points_at = (
            f"Of the model's own, {_percent(shares[named])} are {named}: there the simulations"
            f" take {duration(abs(net))} {'longer' if net > 0 else 'less'}, summed up."
        )
    return [points_at, _largest(open_ones, named)]


def _percent(share: float) -> str:
    return f"{100 * share:.0f} %"


def _largest(open_ones: Sequence[Breakdown], named: str) -> str:
    """The case that has most of it."""
    worst = max(open_ones, key=lambda it: abs(it.differences.get(named, 0.0)))
    measured, simulated = worst.measured.get(named, 0.0), worst.simulated.get(named, 0.0)
    found = (
        f"Most of {named} is in {worst.name!r}: {duration(measured)} measured,"
        f" {duration(simulated)} simulated."
    )
    if worst.transfers is not None and max(worst.transfers) > 0:
        counts = (f"{it:,.0f}" for it in worst.transfers)
        found += " The device made {} transfers there, the simulation {}.".format(*counts)
    return found
