"""Tables of the risk of disks."""

from collections.abc import Sequence

from rich.console import Group, RenderableType
from rich.text import Text

from headrace.design.smart.reports import COUNTERS
from headrace.design.smart.risk import DiskRisk, FleetRisk
from headrace.plain_text import plain_line
from headrace.quantities import DAY, HOUR, YEAR, figure, numbered, probability_text, size
from headrace.report.figure_tables import assumptions
from headrace.report.fitted_table import FittedTable

MOST_DAMAGED = 10
"""Damaged reports that are named; the JSON names all."""


def fleet(risk: FleetRisk, reports: int, damaged: Sequence[str]) -> RenderableType:
    """Return the tables of all disks, with what to do and the assumptions."""
    days = risk.horizon / DAY
    found = f"{numbered(len(risk.disks), 'disk')} in {numbered(reports, 'report')}:"
    if risk.not_rated == len(risk.disks):
        # No rate is no certainty of survival.
        heading = Text(f"{found} no probability: no disk has a failure rate", style="bold")
    else:
        heading = Text(
            f"{found} one or more fails within {days:.4g} days with probability"
            f" {probability_text(risk.probability)}"
            f" ({figure(risk.expected_failures)} failures expected)",
            style="bold",
        )
    parts: list[RenderableType] = [heading]
    if risk.not_rated:
        parts.append(
            Text(
                f"{numbered(risk.not_rated, 'solid-state drive')} not counted: --ssd-annual-rate"
                " gives them a rate"
            )
        )
    parts.append(_disks(risk))
    parts.append(_actions(risk))
    if damaged:
        parts.append(_damaged(damaged))
    return Group(*parts, *assumptions(risk.assumptions))


def _disks(risk: FleetRisk) -> FittedTable:
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
    table = FittedTable("Disks", 1, columns, ("capacity", "model", "phase", "failures/year"))
    for disk in risk.disks:
        table.add_row(*_cells(disk))
    return table


def _cells(disk: DiskRisk) -> tuple[str, ...]:
    report = disk.report
    dash = "\N{EN DASH}"
    hours = report.power_on_hours
    return (
        plain_line(report.name),
        disk.action,
        dash if disk.probability is None else probability_text(disk.probability),
        dash
        if disk.probability_if_recent is None or disk.factor == 1
        else probability_text(disk.probability_if_recent),
        dash if disk.annual_rate is None else probability_text(disk.annual_rate),
        dash if hours is None else f"{hours * HOUR / YEAR:.1f} y",
        disk.phase,
        dash if report.capacity is None else size(report.capacity),
        plain_line(report.model),
    )


def _actions(risk: FleetRisk) -> RenderableType:
    parts: list[RenderableType] = [Text("\nTo do", style="bold")]
    urgent = [it for it in risk.disks if it.action != "none"]
    if not urgent:
        parts.append(Text("  nothing: all counters are at 0"))
    parts += [Text(f"  {plain_line(it.report.name)}: {plain_line(it.advice)}") for it in urgent]
    signs = {key for it in risk.disks for key in it.signs}
    if unnamed := [COUNTERS[key] for key in COUNTERS if key in signs]:
        parts.append(Text(f"  Counters above 0: {', '.join(unnamed)}."))
    return Group(*parts)


def _damaged(damaged: Sequence[str]) -> RenderableType:
    parts = [Text(f"\n{numbered(len(damaged), 'damaged report')}, not counted", style="bold")]
    parts += [Text(f"  {plain_line(it)}") for it in damaged[:MOST_DAMAGED]]
    if len(damaged) > MOST_DAMAGED:
        parts.append(Text(f"  and {len(damaged) - MOST_DAMAGED} more (--json names all)"))
    return Group(*parts)
