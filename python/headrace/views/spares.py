"""Hot spares: the probability that a failed disk finds one."""

from headrace.design.spares import SpareAdvice
from headrace.quantities import figure, number, numbered, whole
from headrace.render import units
from headrace.render.blocks import Axis, Chart, Headline, Line, Note, Table, View
from headrace.views.parts import assumptions


def view(advice: SpareAdvice, other: SpareAdvice | None = None) -> View:
    """Return the advice, the table over numbers of spares, and the assumptions."""
    return [
        Note("", _sentence(advice)),
        Headline({"hot spares": whole(advice.spares), "probability": number(advice.probability)}),
        *([] if other is None else [Note(f"For comparison: {_sentence(other)}")]),
        Note(
            f"{figure(advice.failures_a_year)} failures a year;"
            f" {figure(advice.missing)} spares of a pool on order on average"
        ),
        _chart(advice, other),
        _rows(advice),
        *assumptions(advice.assumptions),
    ]


def _chart(advice: SpareAdvice, other: SpareAdvice | None) -> Chart:
    """Return the probability of finding no spare over their total number."""
    lines = []
    for each in (advice, other):
        if each is None:
            continue
        rows = [row for row in each.rows if row.probability < 1]
        missed = [1 - row.probability for row in rows]
        lines.append(Line(each.pooling, [row.total for row in rows], missed))
        simulated = [row for row in rows if row.simulated is not None and row.simulated < 1]
        if simulated:
            lines.append(
                Line.of_means(
                    f"{each.pooling}, simulated",
                    [row.total for row in simulated],
                    [1 - (row.simulated or 0.0) for row in simulated],
                    [1.96 * (row.standard_error or 0.0) for row in simulated],
                    "mark",
                )
            )
    totals = [total for line in lines for total in line.x]
    goal = 1 - advice.wanted
    if totals:
        ends = [min(totals), max(totals)]
        lines.append(Line("wanted", ends, [goal, goal], is_reference=True))
    return Chart(
        "spares",
        "Failed disks that find no hot spare",
        Axis("hot spares in all", units.COUNT),
        Axis("probability of finding none", scale="log"),
        lines,
        statistic=f"{numbered(advice.spares, 'spare')}: {advice.probability:.4g}"
        f" (wanted {advice.wanted:g})",
    )


def _sentence(advice: SpareAdvice) -> str:
    where = (
        "for all shelves together"
        if advice.pooling == "global"
        else f"{advice.per_pool} in each of {numbered(advice.pools, 'shelf', 'shelves')}"
    )
    return (
        f"{numbered(advice.spares, 'hot spare')}, {where}: a failed disk finds one with probability"
        f" {number(advice.probability)} (wanted {number(advice.wanted)})"
    )


def _rows(advice: SpareAdvice) -> Table:
    simulated = any(entry.simulated is not None for entry in advice.rows)
    columns = ["spares", "in all", "finds a spare", "waiting a year"]
    columns += ["simulated", "standard error"] * simulated
    rows = []
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
        rows.append(cells)
    spare = ("in all", "standard error")
    return Table.of_rows("Spares of a pool", columns, rows, 1, spare)
