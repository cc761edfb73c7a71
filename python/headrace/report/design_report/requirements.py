"""Requirements of a worksheet beside what the design gives."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal

from headrace.design.evaluation import ApplicationPerformance, Violation
from headrace.report.design_report.data import SHOWN, UNKNOWN, DesignData
from headrace.report.design_report.performance import performance_figures
from headrace.report.document.content import Text, foreign
from headrace.report.figure_tables import number, quantity
from headrace.report.units import size

Status = Literal["met", "missed", "not stated", "not evaluated"]
MONTHS = 12
HOURS_PER_YEAR = 8760.0


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
    factor: float = 1.0
    """The figure times this factor has the unit of the worksheet's number."""


def requirements(data: DesignData) -> list[Requirement]:
    """Return all requirements with their state, in the order of the worksheet.

    A requirement is missed if the evaluation says so. Violations of fields that have no line of
    their own come last.
    """
    if data.shown is None:
        return []
    violations = list(data.shown.violations)
    found: list[Requirement] = []
    for limit in _limits(data):
        found.append(_number(data, limit, _take(violations, limit.field)))
    for it in data.shown.performance:
        found += _performance(data, it, violations)
    found += _yes_or_no(data, violations)
    found += [
        Requirement(
            it.field, it.field, foreign(it.wanted), foreign(it.got), "missed", None, it.message
        )
        for it in violations
    ]
    return found


def _take(violations: list[Violation], field: str) -> Violation | None:
    """Remove and return the violation of a field, if there is one."""
    for at, it in enumerate(violations):
        if it.field == field:
            return violations.pop(at)
    return None


def _limits(data: DesignData) -> Iterator[_Limit]:
    sheet, currency = data.worksheet, foreign(data.catalogue.currency, 20)
    capacity, recovery, facility, budget = (
        sheet.capacity,
        sheet.recovery,
        sheet.facility,
        sheet.budget,
    )
    yield _Limit(
        "Usable capacity",
        "capacity.usable",
        capacity.usable,
        size(capacity.usable),
        "usable-capacity",
        at_least=True,
    )
    yield _Limit(
        f"Probability of data loss in {number(recovery.loss_years)} years",
        "recovery.loss_probability",
        recovery.loss_probability,
        _or_unknown(recovery.loss_probability, "1"),
        "loss-probability",
    )
    yield _Limit(
        "Downtime in a month",
        "recovery.downtime",
        recovery.downtime,
        _or_unknown(recovery.downtime, "s"),
        "downtime",
    )
    yield _Limit(
        "Power", "facility.power", facility.power, _or_unknown(facility.power, "W"), "max-power"
    )
    yield _Limit(
        "Heat",
        "facility.cooling",
        facility.cooling,
        _or_unknown(facility.cooling, "W"),
        "heat",
        factor=1 / 3.41,
    )
    yield _Limit(
        "Racks", "facility.racks", facility.racks, _or_unknown(facility.racks, "1"), "racks"
    )
    yield _Limit(
        "Weight of a rack",
        "facility.floor_load",
        facility.floor_load,
        _or_unknown(facility.floor_load, "kg"),
        "rack-weight",
    )
    for name, field, wanted, key in (
        ("Purchase", "initial", budget.initial, "purchase"),
        ("Power in a month", "monthly_power", budget.monthly_power, "power-cost"),
        ("Maintenance in a year", "yearly_maintenance", budget.yearly_maintenance, "maintenance"),
    ):
        text = UNKNOWN if wanted is None else f"{quantity(wanted, 'money', currency)}"
        yield _Limit(name, f"budget.{field}", wanted, text, key)


def _or_unknown(value: float | None, unit: Literal["1", "s", "W", "kg"]) -> str:
    return UNKNOWN if value is None else quantity(value, unit)


def _number(data: DesignData, limit: _Limit, violation: Violation | None) -> Requirement:
    given = data.figures.get(limit.key)
    got: Text = UNKNOWN if given is None else data.notes.value(SHOWN, given)
    margin = None
    if given is not None and limit.wanted:
        ratio = given.value * _factor(limit, given.unit) / limit.wanted
        margin = ratio - 1 if limit.at_least else 1 - ratio
    if violation is not None:
        got = foreign(violation.got) if given is None else got
        wanted = foreign(violation.wanted)
        return Requirement(
            limit.name, limit.field, wanted, got, "missed", margin, foreign(violation.message)
        )
    if limit.wanted is None:
        return Requirement(limit.name, limit.field, UNKNOWN, got, "not stated")
    if given is None:
        return Requirement(limit.name, limit.field, limit.text, got, "not evaluated")
    return Requirement(limit.name, limit.field, limit.text, got, "met", margin)


def _factor(limit: _Limit, unit: str) -> float:
    """Return the factor from a figure's unit to the worksheet's."""
    if unit == "money/month" and limit.field == "budget.yearly_maintenance":
        return MONTHS
    if unit == "money/year" and limit.field == "budget.monthly_power":
        return 1 / MONTHS
    if limit.field == "facility.cooling" and unit == "W":
        return 1.0
    return limit.factor


def _performance(
    data: DesignData, performance: ApplicationPerformance, violations: list[Violation]
) -> Iterator[Requirement]:
    """Yield the requirements of an application: throughput, operations, latency."""
    figures = performance_figures(performance)
    at = next(
        (
            number
            for number, it in enumerate(data.worksheet.applications)
            if it.name == performance.application
        ),
        None,
    )
    for name, wanted in (
        ("throughput", performance.wanted_throughput),
        ("operations", performance.wanted_operations),
        ("latency", performance.wanted_latency),
    ):
        fields = [
            f"applications.{at}.{name}",
            f"application.{at}.{name}",
            f"application.{performance.application}.{name}",
            f"applications.{performance.application}.{name}",
        ]
        violation = next(filter(None, (_take(violations, it) for it in fields)), None)
        if wanted is None and violation is None:
            continue
        given = figures[name]
        margin = None
        if wanted and given.value:
            margin = 1 - given.value / wanted if name == "latency" else given.value / wanted - 1
        yield Requirement(
            f"{foreign(performance.application, 80)}: {name}",
            f"application.{foreign(performance.application, 60)}.{name}",
            UNKNOWN if wanted is None else quantity(wanted, given.unit),
            data.notes.value(SHOWN, given),
            "met" if violation is None else "missed",
            margin,
            "" if violation is None else foreign(violation.message),
        )


def _yes_or_no(data: DesignData, violations: list[Violation]) -> Iterator[Requirement]:
    """Yield the requirements that a design has or has not: copies of a zone, loss of a node."""
    assert data.shown is not None
    design = data.shown.design
    code = design.code
    if data.worksheet.recovery.survives_node is not None:
        wanted = data.worksheet.recovery.survives_node
        violation = _take(violations, "recovery.survives_node")
        got = f"{design.copies} copies on different servers" if design.copies > 1 else "one copy"
        if code is not None:
            got = f"code of {code.data} + {code.parity} servers"
        survives = design.copies > 1 or (code is not None and code.parity > 0)
        missed = violation is not None or (wanted and not survives)
        yield Requirement(
            "Data survives the loss of a server",
            "recovery.survives_node",
            "yes" if wanted else "no",
            got,
            "missed" if missed else "met",
            None,
            "" if violation is None else foreign(violation.message),
        )
    for at, zone in enumerate(data.worksheet.zones):
        if zone.copies is None:
            continue
        fields = [f"zones.{at}.copies", f"zone.{at}.copies", f"zone.{zone.name}.copies"]
        violation = next(filter(None, (_take(violations, it) for it in fields)), None)
        missed = violation is not None or zone.copies > design.copies
        yield Requirement(
            f"Zone {foreign(zone.name, 60)}: copies",
            f"zone.{foreign(zone.name, 60)}.copies",
            str(zone.copies),
            str(design.copies),
            "missed" if missed else "met",
            None,
            "" if violation is None else foreign(violation.message),
        )


def percent(margin: float) -> str:
    """Return a margin as text with its sign."""
    sign = "+" if margin >= 0 else "\N{MINUS SIGN}"
    return f"{sign}{abs(100 * margin):,.0f} %"
