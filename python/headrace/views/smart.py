"""The failure risk of disks by their SMART data."""

from collections.abc import Sequence

from headrace.design.smart.reports import COUNTERS
from headrace.design.smart.risk import DiskRisk, FleetRisk
from headrace.quantities import DAY, HOUR, NOT_KNOWN, YEAR, figure, numbered, probability_text, size
from headrace.render import units
from headrace.render.blocks import Axis, Chart, Line, Note, Table, View
from headrace.views.parts import assumptions

MOST = 40
"""Disks that are drawn, those with the highest probability."""
ACTIONS = ("replace", "test", "plan", "watch", "none")
MOST_DAMAGED = 10
"""Damaged reports that are named; the JSON names all."""


def view(risk: FleetRisk, reports: int, damaged: Sequence[str]) -> View:
    """Return the tables of all disks, with what to do and the assumptions."""
    days = risk.horizon / DAY
    title = f"{numbered(len(risk.disks), 'disk')} in {numbered(reports, 'report')}:"
    if risk.not_rated == len(risk.disks):
        # No rate is no certainty of survival.
        heading = f"{title} no probability: no disk has a failure rate"
    else:
        heading = (
            f"{title} one or more fails within {days:.4g} days with probability"
            f" {probability_text(risk.probability)}"
            f" ({figure(risk.expected_failures)} failures expected)"
        )
    not_rated = ""
    if risk.not_rated:
        not_rated = (
            f"{numbered(risk.not_rated, 'solid-state drive')} not counted: --ssd-annual-rate"
            " gives them a rate"
        )
    return [
        Note("", heading),
        *([Note(not_rated)] if not_rated else []),
        _chart(risk),
        _disks(risk),
        *_actions(risk),
        *(_damaged(damaged) if damaged else []),
        *assumptions(risk.assumptions),
    ]


def _chart(risk: FleetRisk) -> Chart:
    """Return a bar for each disk, its probability of a failure, coloured by what to do."""
    rated = [disk for disk in risk.disks if disk.probability is not None]
    shown = sorted(rated, key=lambda disk: -(disk.probability or 0.0))[:MOST]
    names = [disk.report.name for disk in shown]
    lines = []
    for action in ACTIONS:
        values = [disk.probability if disk.action == action else None for disk in shown]
        if count := sum(value is not None for value in values):
            lines.append(Line(f"{action}: {count}", names, values, shape="bar"))
    recent = [disk.probability_if_recent if disk.factor > 1 else None for disk in shown]
    if any(recent):
        lines.append(Line("if the counters rose lately", names, recent, shape="mark"))
    statistic = f"one or more of {len(rated)} fails: {100 * risk.probability:.3g} %"
    if len(rated) > MOST:
        statistic += f"; the first {MOST} are shown"
    return Chart(
        "smart",
        f"Probability that a disk fails within {risk.horizon / DAY:.4g} days",
        Axis("disk", scale="names"),
        Axis("probability", units.SHARE),
        lines,
        is_stacked=True,
        empty="no disk has a rate",
        statistic=statistic,
    )


def _disks(risk: FleetRisk) -> Table:
    days = f"{risk.horizon / DAY:.4g} d"
    columns = (
        "disk",
        "do",
        f"fails in {days}",
        "if counters rose lately",
        "failures/year",
        "age",
        "phase",
        "capacity",
        "model",
    )
    spare = ("capacity", "model", "phase", "failures/year")
    return Table.of_rows("Disks", columns, map(_cells, risk.disks), 1, spare)


def _cells(disk: DiskRisk) -> tuple[str, ...]:
    report = disk.report
    hours = report.power_on_hours
    return (
        report.name,
        disk.action,
        NOT_KNOWN if disk.probability is None else probability_text(disk.probability),
        NOT_KNOWN
        if disk.probability_if_recent is None or disk.factor == 1
        else probability_text(disk.probability_if_recent),
        NOT_KNOWN if disk.annual_rate is None else probability_text(disk.annual_rate),
        NOT_KNOWN if hours is None else f"{hours * HOUR / YEAR:.1f} y",
        disk.phase,
        NOT_KNOWN if report.capacity is None else size(report.capacity),
        report.model,
    )


def _actions(risk: FleetRisk) -> list[Note]:
    notes = [Note("", "\nTo do")]
    urgent = [disk for disk in risk.disks if disk.action != "none"]
    if not urgent:
        notes.append(Note("  nothing: all counters are at 0"))
    notes += [Note(f"  {disk.report.name}: {disk.advice}") for disk in urgent]
    signs = {key for disk in risk.disks for key in disk.signs}
    if unnamed := [COUNTERS[key] for key in COUNTERS if key in signs]:
        notes.append(Note(f"  Counters above 0: {', '.join(unnamed)}."))
    return notes


def _damaged(damaged: Sequence[str]) -> list[Note]:
    notes = [Note("", f"\n{numbered(len(damaged), 'damaged report')}, not counted")]
    notes += [Note(f"  {line}") for line in damaged[:MOST_DAMAGED]]
    if len(damaged) > MOST_DAMAGED:
        notes.append(Note(f"  and {len(damaged) - MOST_DAMAGED} more (--json names all)"))
    return notes
