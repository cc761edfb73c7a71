"""Probability that disks fail, from their SMART counters.

Two studies give it. Backblaze counts failures a drive-year with and without an error counter above
0, so its rates apply to a disk in that state. Pinheiro et al. give factors for the 60 days after a
first error, so they apply to a counter that has just risen.
"""

import math
from collections.abc import Iterable, Mapping, Sequence
from typing import Literal

import msgspec

from headrace.design.smart.reports import COUNTERS, Report
from headrace.quantities import DAY, HOURS_A_YEAR, YEAR

SIGNS = ("reallocated", "reported", "timeouts", "pending", "offline")
"""Counters of Backblaze's five attributes: 5, 187, 188, 197 and 198."""
RATE_WITH_SIGNS = 0.349
"""Failures a drive-year of disks with any of `SIGNS` above 0: Backblaze, 2013 to 2016."""
RATE_WITHOUT_SIGNS = 0.0123
"""Failures a drive-year of disks with all of them at 0: likewise."""
FACTORS: Mapping[str, float] = {"scan": 39.0, "reallocated": 14.0, "offline": 21.0, "pending": 16.0}
"""Times as likely to fail within 60 days after a first error: Pinheiro et al. 2007, in Hindman
2011, table 3.1 (scan errors, reallocation, offline reallocation and probational count)."""
FACTOR_DAYS = 60.0
SHOWING_NO_SIGN = 0.56
"""Part of failed disks that showed none of the four: Pinheiro et al. 2007."""
INFANT_HOURS = HOURS_A_YEAR
"""End of the first year, in which failures are frequent: Hindman 2011, section 3.1.1."""
END_OF_LIFE_HOURS = 5 * HOURS_A_YEAR
"""Usual life of a disk: Hindman 2011, section 3.1.1."""

Action = Literal["replace", "test", "plan", "watch", "none"]
"""What to do, the most urgent first."""
ACTIONS: tuple[Action, ...] = ("replace", "test", "plan", "watch", "none")
Phase = Literal["first year", "middle", "past 5 years", "unknown"]


class DiskRisk(msgspec.Struct, frozen=True, kw_only=True):
    """Risk of one disk."""

    report: Report
    signs: dict[str, int]
    """Counters above 0."""
    rising: dict[str, int]
    """Counters that rose since an earlier report of the disk, by how much."""
    annual_rate: float | None
    """Failures a drive-year; None if no study gives it for such a disk."""
    probability: float | None
    """Probability of a failure within the horizon."""
    factor: float
    """Largest factor of Pinheiro et al. that applies if the counters rose lately; 1: none."""
    probability_if_recent: float | None
    """Probability if the counters rose within the last 60 days."""
    phase: Phase
    action: Action
    advice: str
    """What to do and why, in one sentence."""


class FleetRisk(msgspec.Struct, frozen=True, kw_only=True):
    """Risk of several disks together."""

    disks: tuple[DiskRisk, ...]
    """Most urgent first."""
    horizon: float
    """Seconds."""
    probability: float
    """Probability that one of the disks fails, or more, within the horizon."""
    expected_failures: float
    not_rated: int
    """Disks without a rate, which count in neither."""
    assumptions: tuple[str, ...]


def latest(reports: Iterable[Report]) -> list[tuple[Report, Report | None]]:
    """Return the newest report of each disk, and the oldest one if there are several.

    Disks are distinguished by model and serial number. Without a serial number each report is a
    disk of its own.
    """
    disks: dict[object, list[Report]] = {}
    for number, report in enumerate(reports):
        key: object = (report.model, report.serial) if report.serial else number
        disks.setdefault(key, []).append(report)
    disks_ = []
    for several in disks.values():
        ordered = sorted(several, key=lambda one: (one.time or 0.0, one.power_on_hours or 0.0))
        disks_.append((ordered[-1], ordered[0] if len(ordered) > 1 else None))
    return disks_


def fleet_risk(
    reports: Sequence[Report],
    *,
    horizon: float = FACTOR_DAYS * DAY,
    rate_without_signs: float = RATE_WITHOUT_SIGNS,
    rate_with_signs: float = RATE_WITH_SIGNS,
    solid_state_rate: float | None = None,
) -> FleetRisk:
    """Return the risk of all disks within a time.

    Args:
        reports: Reports, also several of one disk.
        horizon: Seconds.
        rate_without_signs: Failures a drive-year of a disk whose counters are 0.
        rate_with_signs: Failures a drive-year of a disk with a counter above 0.
        solid_state_rate: Failures a drive-year of a solid-state drive; None: unknown.
    """
    disks = [
        _disk_risk(report, earlier, horizon, rate_without_signs, rate_with_signs, solid_state_rate)
        for report, earlier in latest(reports)
    ]
    disks.sort(key=lambda it: (ACTIONS.index(it.action), -(it.probability or 0.0), it.report.name))
    rated = [disk.probability for disk in disks if disk.probability is not None]
    none_fails = math.fsum(math.log1p(-min(rate, 1 - 1e-16)) for rate in rated)
    return FleetRisk(
        disks=tuple(disks),
        horizon=horizon,
        probability=-math.expm1(none_fails),
        expected_failures=math.fsum(rated),
        not_rated=len(disks) - len(rated),
        assumptions=_assumptions(horizon, rate_without_signs, rate_with_signs, solid_state_rate),
    )


def _disk_risk(
    report: Report,
    earlier: Report | None,
    horizon: float,
    rate_without: float,
    rate_with: float,
    solid_state_rate: float | None,
) -> DiskRisk:
    signs = {key: value for key, value in report.counters.items() if value > 0}
    rising = {}
    if earlier is not None:
        for key, value in signs.items():
            more = value - earlier.counters.get(key, value)
            if more > 0:
                rising[key] = more
    rate: float | None = rate_with if any(key in signs for key in SIGNS) else rate_without
    if report.solid_state:
        rate = solid_state_rate
    probability = recent = None
    factors = {} if report.solid_state else {key: FACTORS[key] for key in signs if key in FACTORS}
    factor = max(factors.values(), default=1.0)
    if rate is not None:
        probability = _within(rate, horizon)
        recent = max(probability, min(1.0, factor * _within(rate_without, horizon)))
        just_now = (
            earlier is not None
            and any(key in rising for key in factors)
            and (report.time or 0.0) - (earlier.time or 0.0) <= FACTOR_DAYS * DAY
        )
        if just_now:
            probability = recent
    phase = _phase(report.power_on_hours)
    action, advice = _advice(report, signs, rising, phase)
    return DiskRisk(
        report=report,
        signs=signs,
        rising=rising,
        annual_rate=rate,
        probability=probability,
        factor=factor,
        probability_if_recent=recent,
        phase=phase,
        action=action,
        advice=advice,
    )


def _within(rate: float, seconds: float) -> float:
    """Return the probability of a failure within a time, at a constant rate a year."""
    return -math.expm1(-rate * seconds / YEAR)


def _phase(hours: float | None) -> Phase:
    if hours is None:
        return "unknown"
    if hours < INFANT_HOURS:
        return "first year"
    return "past 5 years" if hours > END_OF_LIFE_HOURS else "middle"


def _advice(
    report: Report, signs: Mapping[str, int], rising: Mapping[str, int], phase: Phase
) -> tuple[Action, str]:
    if report.passed is False or report.failing:
        why = ", ".join(report.failing) or "its own check failed"
        return "replace", f"Copy its data and replace it now: {why}."
    if rising:
        grown = ", ".join(f"{COUNTERS[key]} by {more:,}" for key, more in rising.items())
        return "replace", f"Replace it: it gets worse ({grown})."
    if report.wear is not None and report.wear >= 1:
        return "replace", (
            f"Replace it: {100 * report.wear:.0f} % of its endurance is used"
            f" ({report.wear_source})."
        )
    unread = [key for key in ("pending", "offline", "reported", "scan", "media") if key in signs]
    if unread:
        named = ", ".join(f"{signs[key]:,} {COUNTERS[key]}" for key in unread)
        return "test", (
            f"Scrub the array, run smartctl -t long, and read SMART again in a week: {named}."
            " Replace an enterprise disk now, a nearline disk if the counters grow."
        )
    if signs:
        named = ", ".join(f"{value:,} {COUNTERS[key]}" for key, value in signs.items())
        return "watch", f"Read SMART again in a week, replace it if the counters grow: {named}."
    if phase == "past 5 years":
        return "plan", "Plan its replacement: one twelfth of the old disks a month."
    if report.wear is not None and report.wear >= 0.8:
        return "plan", (
            f"Plan its replacement: {100 * report.wear:.0f} % of its endurance is used"
            f" ({report.wear_source})."
        )
    if report.unclear:
        return "watch", (
            f"Read its counters with the vendor's tool: unknown format of {report.unclear[0]}."
        )
    if phase == "first year":
        return "watch", "Keep a spare at hand: failures are frequent in the first year."
    if report.solid_state and report.wear is None:
        return "watch", "Read its wear with the vendor's tool: smartctl shows no figure of it."
    return "none", "Nothing; counters at 0 do not rule out a failure."


def _assumptions(
    horizon: float, rate_without: float, rate_with: float, solid_state_rate: float | None
) -> tuple[str, ...]:
    rates = (
        f"Failures a drive-year: {100 * rate_with:.3g} % of a disk with any of the attributes 5,"
        f" 187, 188, 197, 198 above 0, else {100 * rate_without:.3g} %"
    )
    if (rate_without, rate_with) == (RATE_WITHOUT_SIGNS, RATE_WITH_SIGNS):
        rates += " (Backblaze, 87,068 drives, 2013 to 2016)"
    rates += "."
    notes = [
        rates,
        f"The rates are constant over {horizon / DAY:.4g} days, and disks fail independently.",
        "SAS: grown defects count as attribute 5, uncorrected errors as 187, pending defects as"
        " 197 (declared).",
        "Pinheiro et al. 2007: a first error makes a failure within 60 days 14 to 39 times as"
        " likely. One report does not tell when a counter rose; two of a disk do.",
        "The largest of these factors is taken, not their product: they are not independent.",
        f"{100 * SHOWING_NO_SIGN:.0f} % of failed disks showed none of those errors"
        " (Pinheiro et al.).",
    ]
    if solid_state_rate is None:
        notes.append("Solid-state drives have no probability here: both studies are of hard disks.")
    return tuple(notes)
