"""Tables of hot spares."""

from rich.console import Group, RenderableType
from rich.text import Text

from headrace.design.spares import SpareAdvice
from headrace.quantities import figure, number, whole
from headrace.report.figure_tables import assumptions
from headrace.report.fitted_table import FittedTable


def spares(advice: SpareAdvice, other: SpareAdvice | None) -> RenderableType:
    """Return the advice, the table over numbers of spares, and the assumptions."""
    parts: list[RenderableType] = [Text(_sentence(advice), style="bold")]
    if other is not None:
        parts.append(Text(f"For comparison: {_sentence(other)}"))
    parts.append(
        Text(
            f"{figure(advice.failures_a_year)} failures a year;"
            f" {figure(advice.missing)} spares of a pool on order on average"
        )
    )
    parts.append(_rows(advice))
    return Group(*parts, *assumptions(advice.assumptions))


def _sentence(advice: SpareAdvice) -> str:
    where = (
        "for all shelves together"
        if advice.pooling == "global"
        else f"{advice.per_pool} in each of {advice.pools} shelves"
    )
    count = "1 hot spare" if advice.spares == 1 else f"{whole(advice.spares)} hot spares"
    return (
        f"{count}, {where}: a failed disk finds one with probability"
        f" {number(advice.probability)} (wanted {number(advice.wanted)})"
    )


def _rows(advice: SpareAdvice) -> FittedTable:
    simulated = any(it.simulated is not None for it in advice.rows)
    columns = ["spares", "in all", "finds a spare", "waiting a year"]
    columns += ["simulated", "standard error"] * simulated
    table = FittedTable("Spares of a pool", 1, columns, ("in all", "standard error"))
    for row in advice.rows:
        chosen = " <" if row.spares == advice.per_pool else ""
        cells = [
            f"{row.spares}{chosen}",
            whole(row.total),
            f"{row.probability:.6f}",
            figure(row.waits_a_year),
        ]
        if row.simulated is not None and row.standard_error is not None:
            cells += [f"{row.simulated:.6f}", f"{row.standard_error:.1g}"]
        elif simulated:
            cells += ["", ""]
        table.add_row(*cells)
    return table
