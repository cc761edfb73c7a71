"""Ratios by which a design misses its requirements."""

import math
from collections.abc import Iterator

from headrace.design.cost import cost_limits
from headrace.design.evaluation import Evaluation
from headrace.design.facility import facility_limits
from headrace.design.figure import by_key
from headrace.design.worksheet import Worksheet

ABSOLUTE = 10.0
"""Ratio that a requirement counts with which is met or not, such as that data outlives a server."""


def total_miss(evaluation: Evaluation, worksheet: Worksheet) -> float:
    """Return the logarithm of the product of all ratios by which requirements are missed."""
    ratios = dict(_ratios(evaluation, worksheet))
    return sum(math.log(max(1.0, ratios.get(one.field, ABSOLUTE))) for one in evaluation.violations)


def throughput_field(worksheet: Worksheet) -> str:
    """Return the field of the application that wants the most bytes a second."""
    number, application = max(
        enumerate(worksheet.applications),
        key=lambda pair: pair[1].throughput or 0.0,
        default=(0, None),
    )
    known = application is None or application.throughput is not None
    return f"application.{number}.{'throughput' if known else 'operations'}"


def _ratios(evaluation: Evaluation, worksheet: Worksheet) -> Iterator[tuple[str, float]]:
    """Yield the ratio between figure and limit of each requirement."""
    groups = (evaluation.capacity, evaluation.reliability, evaluation.facility, evaluation.cost)
    figures = by_key(entry for group in groups for entry in group)
    need, recovery = worksheet.capacity, worksheet.recovery
    if "usable-capacity" in figures and figures["usable-capacity"].value > 0:
        yield "capacity.usable", need.first_purchase / figures["usable-capacity"].value
    for field, limit, key in (
        *facility_limits(worksheet.facility),
        *cost_limits(worksheet.budget),
        ("recovery.loss_probability", recovery.loss_probability, "loss-probability"),
        ("recovery.downtime", recovery.downtime, "downtime"),
    ):
        if limit and key in figures:
            yield field, figures[key].value / limit
    places = {application.name: number for number, application in enumerate(worksheet.applications)}
    for part in evaluation.performance:
        place = f"application.{places.get(part.application, 0)}"
        for name, goal, got in (
            ("throughput", part.wanted_throughput, part.throughput),
            ("operations", part.wanted_operations, part.operations),
        ):
            if goal:
                yield f"{place}.{name}", goal / got if got else math.inf
        if part.wanted_latency:
            yield f"{place}.latency", part.latency / part.wanted_latency
        if part.wanted_latency_p99 and part.latency_p99:
            yield f"{place}.latency_p99", part.latency_p99 / part.wanted_latency_p99
