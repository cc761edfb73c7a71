"""Evaluation of a design: its figures, and the requirements that it misses."""

from functools import lru_cache

import msgspec

from headrace.design.capacity import capacity, capacity_violations
from headrace.design.catalogue import Catalogue, NetworkModel
from headrace.design.cost import cost, cost_violations, missing_prices
from headrace.design.evaluation import ApplicationPerformance, Evaluation, Violation
from headrace.design.facility import facility, facility_violations
from headrace.design.figure import Figure
from headrace.design.reliability.requirements import reliability_violations
from headrace.design.reliability.system import system_reliability
from headrace.design.system import Design
from headrace.design.worksheet import Worksheet, pool_worksheet, requirement_path
from headrace.quantities import percent_text, quantity

MISSES = {
    "throughput": "{application} gets {got} and needs {goal}; {limit} is the limit.",
    "operations": "{application} makes {got} calls and needs {goal}; {limit} is the limit.",
    "au": "The accelerators of {application} compute for {got} of the time and must for {goal};"
    " {limit} is the limit.",
    "latency": "A call of {application} takes {got} on average, and {goal} is accepted.",
    "latency_p99": "1 % of the calls of {application} take {got} or more, and {goal} is accepted.",
}
"""Sentences on missed requirements of applications, by the field of the worksheet."""
UNITS = {"throughput": "B/s", "operations": "1/s", "latency": "s", "latency_p99": "s"}
_ANY_NETWORK = NetworkModel("", 1.0, 0.0, 0.0, 0.0, 0.0)


def evaluate(
    design: Design,
    worksheet: Worksheet,
    catalogue: Catalogue,
    performance: tuple[ApplicationPerformance, ...] = (),
    *,
    to_the_end: bool = True,
    is_idle: bool = False,
) -> Evaluation:
    """Compute a design's capacity, power, cost and reliability, and check every requirement.

    Args:
        design: The design.
        worksheet: The requirements.
        catalogue: Currency and prices.
        performance: Simulated performance, if there is any.
        to_the_end: Compute reliability even if another requirement is missed, and with the load
            beside rebuilds. Otherwise it is a bound.
        is_idle: Compute reliability without that load, which is simulated.
    """
    capacities = _capacity(_without_network(design))
    facilities = facility(design, worksheet.facility)
    throughput = sum(part.throughput for part in performance) or None
    costs = cost(
        design, catalogue, worksheet, throughput, capacities=capacities, facilities=facilities
    )
    violations = [
        *(
            violation
            for one in design.each_pool
            for violation in capacity_violations(
                _capacity(_without_network(one)), pool_worksheet(worksheet, one.zones)
            )
        ),
        *facility_violations(facilities, worksheet.facility),
        *cost_violations(costs, worksheet, catalogue.currency),
        *_unknown_price(design, worksheet, catalogue.currency),
        *performance_violations(performance, worksheet),
    ]
    reliability: tuple[Figure, ...] = ()
    if to_the_end or not violations:
        reliability = system_reliability(design, worksheet, is_idle=is_idle or not to_the_end)
        violations += reliability_violations(reliability, worksheet)
    return Evaluation(
        design=design,
        capacity=capacities,
        reliability=reliability,
        facility=facilities,
        cost=costs,
        performance=performance,
        violations=tuple(violations),
    )


def performance_violations(
    performance: tuple[ApplicationPerformance, ...], worksheet: Worksheet
) -> tuple[Violation, ...]:
    """Return the requirements of applications that the simulated performance misses."""
    return tuple(
        Violation(
            requirement_path(worksheet, part.application, name),
            f"at {'most' if name.startswith('latency') else 'least'} {_text(name, goal)}",
            _text(name, got),
            MISSES[name].format(
                application=part.application,
                goal=_text(name, goal),
                got=_text(name, got),
                limit=part.limiting_resource or "the system",
            ),
        )
        for part in performance
        for name, (goal, got) in part.goals().items()
        if (got > goal if name.startswith("latency") else got < goal)
    )


def _text(name: str, value: float) -> str:
    """Return the value of a figure of an application."""
    return percent_text(value, 1) if name == "au" else quantity(value, UNITS[name])


def _unknown_price(design: Design, worksheet: Worksheet, currency: str) -> tuple[Violation, ...]:
    """Return a violation if there is a budget and a price is missing."""
    missing = missing_prices(design) if worksheet.budget.initial is not None else ()
    if not missing:
        return ()
    return (
        Violation(
            "budget.initial",
            f"at most {quantity(worksheet.budget.initial or 0.0, 'money', currency)}",
            "unknown",
            f"The catalogue has no price of {', '.join(missing)}.",
        ),
    )


@lru_cache(maxsize=1024)
def _capacity(design: Design) -> tuple[Figure, ...]:
    return capacity(design)


def _without_network(design: Design) -> Design:
    """Return the design as far as its capacity depends on it."""
    return msgspec.structs.replace(design, network=_ANY_NETWORK, gateways=0)
