"""Ratios by which a design misses its requirements."""

import math
from collections.abc import Iterator

from headrace.design.cost import cost_limits
from headrace.design.evaluation import Evaluation
from headrace.design.facility import facility_limits
from headrace.design.figure import by_key
from headrace.design.worksheet import Worksheet, requirement_path

ABSOLUTE = 10.0
"""Ratio that a requirement counts with which is met or not, such as that data outlives a server."""


def miss_ratios(evaluation: Evaluation, worksheet: Worksheet) -> list[tuple[str, float]]:
    """Return the fields of the missed requirements, each with the ratio by which it is missed."""
    ratios = dict(_ratios(evaluation, worksheet))
    fields = [one.field for one in evaluation.violations]
    return [(field, max(1.0, ratios.get(field, ABSOLUTE))) for field in fields]


def throughput_field(worksheet: Worksheet) -> str:
    """Return the field of a training, or of what wants the most bytes a second."""
    applications = worksheet.applications
    application = max(
        applications, key=lambda one: (one.au is not None, one.throughput or 0.0), default=None
    )
    if application is None:
        return "application.0.throughput"
    figure = "operations" if application.throughput is None else "throughput"
    figure = figure if application.au is None else "au"
    return requirement_path(worksheet, application.name, figure)


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
    for part in evaluation.performance:
        for name, (goal, got) in part.goals().items():
            path = requirement_path(worksheet, part.application, name)
            is_latency = name.startswith("latency")
            yield path, got / goal if is_latency else goal / got if got else math.inf
