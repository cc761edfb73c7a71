"""Requirements of a worksheet beside what the design gives."""

import math
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal

from headrace.design.capacity import capacity_wanted
from headrace.design.evaluation import ApplicationPerformance, Violation
from headrace.design.figure import Unit
from headrace.design.growth import need_at
from headrace.design.worksheet import requirement_path
from headrace.quantities import numbered, quantity, readable
from headrace.report.design_report.data import SHOWN, UNKNOWN, DesignData
from headrace.report.design_report.performance import (
    GOALS,
    performance_figures,
    performance_goals,
)
from headrace.report.design_report.words import CHANCES, chance
from headrace.report.document.content import Text, foreign

Status = Literal["met", "missed", "not stated", "not evaluated"]


@dataclass(frozen=True)
class Requirement:
    """A requirement, what the design gives, and whether that is enough."""

    name: str
    field: str
    """Field of the worksheet."""
    wanted: str
    got: Text
    status: Status
    margin: float | None = None
    """What the design has to spare, as a part of what is wanted; negative if it misses."""
    message: str = ""
    """How it is missed."""


@dataclass(frozen=True)
class _Limit:
    """A number of the worksheet with the figure that is compared with it."""

    name: str
    field: str
    wanted: float | None
    text: str
    key: str
    """Key of the figure."""
    at_least: bool = False


def requirements(data: DesignData) -> list[Requirement]:
    """Return all requirements with their state, in the order of the worksheet.

    A requirement is missed if the evaluation says so. Violations of fields that have no line of
    their own come last.
    """
    if data.shown is None:
        return []
    violations = list(data.shown.violations)
    rows: list[Requirement] = []
    for limit in _limits(data):
        rows.append(_number(data, limit, _take(violations, limit.field)))
    for part in data.shown.performance:
        rows += _performance(data, part, violations)
    rows += _yes_or_no(data, violations)
    rows += [
        Requirement(
            one.field, one.field, foreign(one.wanted), foreign(one.got), "missed", None, one.message
        )
        for one in violations
    ]
    return rows


def _take(violations: list[Violation], field: str) -> Violation | None:
    """Remove and return the violation of a field, if there is one."""
    for at, violation in enumerate(violations):
        if violation.field == field:
            return violations.pop(at)
    return None


def _limits(data: DesignData) -> Iterator[_Limit]:
    """Yield the numbers of the worksheet with the figures that the evaluation compares."""
    sheet, currency = data.worksheet, foreign(data.catalogue.currency, 20)
    recovery, facility, budget = sheet.recovery, sheet.facility, sheet.budget
    first = capacity_wanted(sheet.capacity)
    reserve = f"{100 * sheet.capacity.reserve:g} %"
    yield _Limit(
        f"Usable capacity with a reserve of {reserve}",
        "capacity.usable",
        first.value,
        quantity(first.value, "B").partition(" (")[0],
        "usable-capacity",
        at_least=True,
    )
    years = numbered(recovery.loss_years, "year")
    # A provider of co-location cools, and counts no power for it.
    on_site = facility.place != "co-location"
    current = None
    if facility.circuits is not None and facility.circuit_amperes is not None:
        current = facility.circuits * facility.circuit_amperes
    rows: list[tuple[str, str, float | None, Unit, str]] = [
        (
            f"Probability of a data loss in {years}",
            "recovery.loss_probability",
            recovery.loss_probability,
            "1",
            "loss-probability",
        ),
        ("Downtime in a month", "recovery.downtime", recovery.downtime, "s", "downtime"),
        (
            "Power with cooling" if on_site else "Power",
            "facility.power",
            facility.power,
            "W",
            "total-power" if on_site else "power",
        ),
        ("Heat", "facility.cooling", facility.cooling if on_site else None, "W", "power"),
        ("Current", "facility.circuits", current, "A", "max-amperes"),
        ("UPS", "facility.ups_va", facility.ups_va or None, "VA", "ups-va"),
        ("Racks", "facility.racks", facility.racks, "1", "racks"),
        ("Weight of a rack", "facility.floor_load", facility.floor_load, "kg", "weight-per-rack"),
        ("Purchase", "budget.initial", budget.initial, "money", "purchase"),
        (
            "Power in a month",
            "budget.monthly_power",
            budget.monthly_power,
            "money/month",
            "power-month",
        ),
        (
            "Maintenance in a year",
            "budget.yearly_maintenance",
            budget.yearly_maintenance,
            "money/year",
            "maintenance-year",
        ),
        ("Spare parts", "budget.spare_parts", budget.spare_parts, "money", "spare-parts"),
        (
            "Hours of an engineer in a month",
            "budget.engineer_hours_month",
            budget.engineer_hours_month,
            "1",
            "engineer-hours",
        ),
    ]
    for name, field, goal, unit, key in rows:
        text = chance(goal or 0.0) if key in CHANCES else readable(goal or 0.0, unit, currency)
        yield _Limit(name, field, goal, UNKNOWN if goal is None else text, key)


def _number(data: DesignData, limit: _Limit, violation: Violation | None) -> Requirement:
    given = data.figures.get(limit.key)
    got: Text = UNKNOWN if given is None else data.notes.value(SHOWN, given)
    margin = None
    if given is not None and limit.wanted and math.isfinite(given.value):
        ratio = given.value / limit.wanted
        margin = ratio - 1 if limit.at_least else 1 - ratio
    if violation is not None:
        got = foreign(violation.got) if given is None else got
        goal = foreign(violation.wanted)
        return Requirement(
            limit.name, limit.field, goal, got, "missed", margin, foreign(violation.message)
        )
    if limit.wanted is None:
        return Requirement(limit.name, limit.field, UNKNOWN, got, "not stated")
    if given is None or math.isnan(given.value):
        return Requirement(limit.name, limit.field, limit.text, got, "not evaluated")
    return Requirement(limit.name, limit.field, limit.text, got, "met", margin)


def _performance(
    data: DesignData, performance: ApplicationPerformance, violations: list[Violation]
) -> Iterator[Requirement]:
    """Yield the requirements of an application: throughput, operations, AU, latency."""
    figures = performance_figures(performance)
    goals = performance_goals(performance)
    for name, goal in goals.items():
        path = requirement_path(data.worksheet, performance.application, name)
        fields = [
            path.replace("application.", "applications.", 1),
            path,
            f"application.{performance.application}.{name}",
            f"applications.{performance.application}.{name}",
        ]
        violation = next(filter(None, (_take(violations, field) for field in fields)), None)
        is_optional = name in ("operations", "latency_p99")
        if name not in figures or (goal is None and violation is None and is_optional):
            continue
        given = figures[name]
        margin = None
        if goal and given.value:
            margin = (
                1 - given.value / goal if name.startswith("latency") else given.value / goal - 1
            )
        yield Requirement(
            f"{foreign(performance.application, 80)}: {GOALS[name]}",
            f"application.{foreign(performance.application, 60)}.{name}",
            UNKNOWN if goal is None else quantity(goal, given.unit),
            data.notes.value(SHOWN, given),
            "missed" if violation is not None else "not stated" if goal is None else "met",
            margin,
            "" if violation is None else foreign(violation.message),
        )


def _yes_or_no(data: DesignData, violations: list[Violation]) -> Iterator[Requirement]:
    """Yield the requirements that a design has or has not: copies of a zone, loss of a node."""
    assert data.shown is not None
    design = data.shown.design
    code = design.code
    goal = data.worksheet.recovery.survives_node
    violation = _take(violations, "recovery.survives_node")
    is_single = code is None and design.copies == 1
    got = "no: one copy" if is_single else f"yes: {design.redundancy}"
    missed = violation is not None or (goal and got.startswith("no"))
    yield Requirement(
        "Data survives the loss of a server",
        "recovery.survives_node",
        UNKNOWN if goal is None else "yes" if goal else "no",
        got,
        "missed" if missed else "not stated" if goal is None else "met",
        None,
        "" if violation is None else foreign(violation.message),
    )
    for at, zone in enumerate(data.worksheet.zones):
        if zone.copies is None:
            continue
        fields = [f"zones.{at}.copies", f"zone.{at}.copies", f"zone.{zone.name}.copies"]
        violation = next(filter(None, (_take(violations, field) for field in fields)), None)
        # A code over servers outlives as many losses as it has parity.
        survived = design.copies if code is None else code.parity + 1
        missed = violation is not None or zone.copies > survived
        yield Requirement(
            f"Zone {foreign(zone.name, 60)}: copies",
            f"zone.{foreign(zone.name, 60)}.copies",
            str(zone.copies),
            design.redundancy,
            "missed" if missed else "met",
            None,
            "" if violation is None else foreign(violation.message),
        )


def later_need(data: DesignData) -> float | None:
    """Return the bytes needed in the last year if the design has no room for them."""
    need = data.worksheet.capacity
    if data.shown is None or not need.growth:
        return None
    last = need_at(need, need.years)
    return last if last > data.figures["usable-capacity"].value else None
