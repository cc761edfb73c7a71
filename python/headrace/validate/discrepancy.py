"""The paragraph that says where a model is wrong, and which component that points at."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from headrace.report.units import duration
from headrace.validate.breakdown import Breakdown

OF_OTHERS = ("processor queue", "the benchmark itself")
"""What a measurement has of other programs."""
STANDS_OUT = 0.5
"""A component is named as the one to look at if it has this part of all differences, at least."""


@dataclass(frozen=True)
class Discrepancy:
    """What all simulations have more or less than their measurements, by component."""

    seconds: float
    """Amounts of the differences of all components, summed up over what is not explained by
    the spread of the repetitions."""
    shares: dict[str, float]
    """Each component's part of that, the largest first."""
    sentences: str

    def json(self) -> dict[str, Any]:
        """As documents have it."""
        return {"seconds": self.seconds, "shares": self.shares, "paragraph": self.sentences}


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
    for breakdown in open_ones:
        for name, difference in breakdown.differences.items():
            amounts[name] = amounts.get(name, 0.0) + abs(difference)
    total = sum(amounts.values())
    ordered = sorted(amounts.items(), key=lambda it: it[1], reverse=True)
    shares = {name: amount / total for name, amount in ordered if total > 0}
    return Discrepancy(total, shares, _paragraph(breakdowns, open_ones, total, shares))


def _paragraph(
    breakdowns: Sequence[Breakdown],
    open_ones: Sequence[Breakdown],
    total: float,
    shares: dict[str, float],
) -> str:
    source = f"By the {breakdowns[0].source}"
    if not open_ones or total == 0:
        return (
            f"{source} there is nothing to explain: each of the {len(breakdowns)} predictions"
            " lies among the repetitions of its measurement."
        )
    error = sum(abs(it.error) for it in open_ones)
    named = next(iter(shares))
    outside = (
        f"{source}, {len(open_ones)} of {len(breakdowns)} predictions lie outside of the"
        f" repetitions, together {duration(error)} off. Component by component the differences"
        f" are {duration(total)}."
    )
    if shares[named] < STANDS_OUT:
        parts = ", ".join(f"{name} {100 * share:.0f} %" for name, share in shares.items())
        points_at = f"They point at no single component: {parts}."
    else:
        net = sum(it.differences.get(named, 0.0) for it in open_ones)
        points_at = (
            f"{100 * shares[named]:.0f} % of them are {named}: there the simulations take"
            f" {duration(abs(net))} {'longer' if net > 0 else 'less'}, summed up."
        )
    if named in OF_OTHERS:
        points_at += " That is no component of the model's: others took the processors meanwhile."
    return " ".join((outside, points_at, _largest(open_ones, named)))


def _largest(open_ones: Sequence[Breakdown], named: str) -> str:
    """The case that has most of it."""
    worst = max(open_ones, key=lambda it: abs(it.differences.get(named, 0.0)))
    measured, simulated = worst.measured.get(named, 0.0), worst.simulated.get(named, 0.0)
    found = (
        f"Most of that is in {worst.name!r}: {named} {duration(measured)} measured,"
        f" {duration(simulated)} simulated."
    )
    if worst.transfers is not None and max(worst.transfers) > 0:
        counts = (f"{it:,.0f}" for it in worst.transfers)
        found += " The device made {} transfers there, the simulation {}.".format(*counts)
    return found
