"""Tables of fitted lifetimes."""

from rich.console import Group, RenderableType
from rich.text import Text

from headrace.design.lifetimes.fits import Fit, Interval, Lifetimes
from headrace.plain_text import plain_line
from headrace.quantities import figure, whole
from headrace.report.figure_tables import assumptions
from headrace.report.fitted_table import FittedTable

COLUMNS = (
    "model",
    "disks",
    "failures",
    "disk-years",
    "AFR %",
    "AFR 95 %",
    "shape",
    "shape 95 %",
    "scale h",
    "scale 95 % h",
    "--lifetime",
)
LESS = ("AFR 95 %", "disk-years", "scale 95 % h", "scale h", "shape 95 %")
"""Columns that narrow terminals omit, in this order."""


def lifetimes(found: Lifetimes) -> RenderableType:
    """Return the table of all models, notes, rows that were left out, and the assumptions."""
    table = FittedTable("Lifetimes", 1, COLUMNS, LESS)
    for fit in found.fits:
        table.add_row(*_cells(fit))
    parts: list[RenderableType] = [table]
    parts += [
        Text(f"{plain_line(it.model)}: {it.note}.", style="yellow") for it in found.fits if it.note
    ]
    left_out = ", ".join(f"{whole(count)} x {reason}" for reason, count in found.bad_rows.items())
    parts.append(
        Text(
            f"\n{whole(found.rows)} rows read; left out: {left_out or 'none'}."
            f" {whole(found.left_truncated)} disks were observed from an age above 0."
        )
    )
    return Group(*parts, *assumptions(found.assumptions))


def _cells(fit: Fit) -> tuple[str, ...]:
    dash = "\N{EN DASH}"
    low, high = fit.annual_rate_interval
    cells = [
        plain_line(fit.model),
        whole(fit.disks),
        whole(fit.failures),
        figure(fit.disk_years),
        f"{100 * fit.annual_rate:.2f}",
        f"{100 * low:.2f} to {100 * high:.2f}",
    ]
    if fit.shape is None or fit.scale is None:
        return (*cells, dash, dash, dash, dash, dash)
    return (
        *cells,
        f"{fit.shape:.2f}",
        _interval(fit.shape_interval, ".2f"),
        f"{fit.scale:,.0f}",
        _interval(fit.scale_interval, ",.0f"),
        fit.lifetime or dash,
    )


def _interval(interval: Interval | None, form: str) -> str:
    if interval is None:
        return "\N{EN DASH}"
    return f"{interval[0]:{form}} to {interval[1]:{form}}"
