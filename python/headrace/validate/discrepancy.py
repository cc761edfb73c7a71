"""Summarise which component of the model the differences point at."""

from collections.abc import Sequence
from dataclasses import dataclass

from headrace.quantities import duration, percent_text
from headrace.validate.breakdown import Breakdown
from headrace.validate.records import DiscrepancyRecord

OF_OTHERS = ("processor queue", "the benchmark itself")
"""Components in which a measurement exceeds its simulation because other programs used the
processors."""
STANDS_OUT = 0.5
"""Smallest share of the differences at which one component is named."""


@dataclass(frozen=True)
class Discrepancy:
    """Differences between all simulations and their measurements, by component."""

    seconds: float
    """Sum of absolute differences in seconds, over predictions outside their repetitions. Time of
    other programs is excluded."""
    shares: dict[str, float]
    """Share of each component, largest first."""
    others: float
    """Time of other programs, in seconds."""
    sentences: str

    def record(self) -> DiscrepancyRecord:
        """Return the record of the differences."""
        return DiscrepancyRecord(self.seconds, self.shares, self.others, self.sentences)


def discrepancy_record(breakdowns: Sequence[Breakdown]) -> DiscrepancyRecord | None:
    """Return the record of the discrepancy of all breakdowns; None if there are none."""
    text = discrepancy(breakdowns)
    return None if text is None else text.record()


def discrepancy(breakdowns: Sequence[Breakdown]) -> Discrepancy | None:
    """Summarise the breakdowns; None if there are none."""
    if not breakdowns:
        return None
    open_ones = [one for one in breakdowns if not one.explained]
    amounts: dict[str, float] = {}
    others = 0.0
    for breakdown in open_ones:
        for name, difference in breakdown.differences.items():
            if name in OF_OTHERS and difference < 0:
                others -= difference
            else:
                amounts[name] = amounts.get(name, 0.0) + abs(difference)
    total = sum(amounts.values())
    ordered = sorted(amounts.items(), key=lambda pair: pair[1], reverse=True)
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
    if not open_ones or total == 0:
        return [
            f"All {len(breakdowns)} predictions lie within the range of their measured repetitions:"
            " no difference remains to explain."
        ]
    error = sum(abs(case.error) for case in open_ones)
    return [
        f"{len(open_ones)} of {len(breakdowns)} predictions lie outside the range of their measured"
        f" repetitions. Their errors sum up to {duration(error)}.",
        f"Split into components, by the {breakdowns[0].source}, the"
        " differences between simulation and measurement sum up to"
        f" {duration(total)}; positive and negative ones do not cancel out."
        if total > error * (1 + ROUNDING)
        else f"The components come from the {breakdowns[0].source}.",
    ]


ROUNDING = 1e-9


def _of_others(others: float, total: float) -> list[str]:
    if total == 0 or others < 0.005 * total:
        return []
    return [
        f"Other programs used the processors for {percent_text(others / total)} of that, which the"
        " model does not include."
    ]


def _of_model(open_ones: Sequence[Breakdown], shares: dict[str, float]) -> list[str]:
    if not shares:
        return []
    named = next(iter(shares))
    if shares[named] < STANDS_OUT:
        parts = ", ".join(f"{name} {percent_text(share)}" for name, share in shares.items())
        points_at = f"No single component of the model has half of the differences: {parts}."
    else:
        net = sum(case.differences.get(named, 0.0) for case in open_ones)
        more = f"{duration(abs(net))} {'more' if net > 0 else 'less'}"
        points_at = (
            f"The component {named!r} has {percent_text(shares[named])} of the model's differences:"
            f" over all these cases it takes {more} in the simulation."
        )
    return [points_at, _largest(open_ones, named)]


def _largest(open_ones: Sequence[Breakdown], named: str) -> str:
    """Describe the case with the largest difference in a component."""
    worst = max(open_ones, key=lambda case: abs(case.differences.get(named, 0.0)))
    measured, simulated = worst.measured.get(named, 0.0), worst.simulated.get(named, 0.0)
    text = (
        f"The largest difference of {named!r} is in the case {worst.name!r}: {duration(measured)}"
        f" measured, {duration(simulated)} simulated."
    )
    if worst.transfers is not None and max(worst.transfers) > 0:
        counts = (f"{transfer:,.0f}" for transfer in worst.transfers)
        text += " Its device made {} transfers measured, {} simulated.".format(*counts)
    return text
