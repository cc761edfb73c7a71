"""Figures that show that the design is large, fast, safe and cheap enough."""

from collections.abc import Sequence

from headrace.design.evaluation import ApplicationPerformance
from headrace.design.figure import Figure
from headrace.quantities import quantity
from headrace.report.design_report.data import SHOWN, UNKNOWN, DesignData
from headrace.report.design_report.performance import GOALS, performance_figures
from headrace.report.document.content import Block, Paragraph, Section, Table, Text, foreign
from headrace.report.figure_tables import arithmetic


def section(data: DesignData) -> Section:
    """Return capacity, performance, reliability, power and cost of the design."""
    if data.shown is None:
        return Section("evidence", "Evidence", [Paragraph("There is no design to examine.")])
    shown = data.shown
    blocks: list[Block] = [
        *_figures(data, "Capacity", shown.capacity),
        *_figures(data, "Growth and purchase plans", data.growth),
        *_performance(data, shown.performance),
        *_figures(data, "Reliability", shown.reliability),
        *_figures(data, "Power, cooling and room", shown.facility),
        *_figures(data, "Cost", shown.cost),
    ]
    if "cost" in data.pictures:
        blocks.append(data.pictures["cost"])
    return Section("evidence", "Evidence", blocks)


def _figures(data: DesignData, title: str, figures: Sequence[Figure]) -> list[Block]:
    if not figures:
        return [Paragraph(f"{title}: not computed.")]
    rows: list[list[Text]] = [
        [foreign(one.title, 120), data.notes.value(SHOWN, one), foreign(arithmetic(one), 200)]
        for one in figures
    ]
    return [Table(title, ["Figure", "Value", "Arithmetic"], "lrw", rows)]


def _performance(data: DesignData, performance: Sequence[ApplicationPerformance]) -> list[Block]:
    if not performance:
        return [Paragraph("Performance: no application was simulated.")]
    rows: list[list[Text]] = []
    for part in performance:
        for name, given in performance_figures(part).items():
            is_first = name == "throughput"
            rows.append(
                [
                    foreign(part.application, 80) if is_first else "",
                    GOALS[name],
                    data.notes.value(SHOWN, given),
                    _interval(part) if is_first else "",
                    foreign(part.limiting_resource, 80) or UNKNOWN,
                    part.detail,
                ]
            )
    columns = ["Application", "Figure", "Simulated", "95 % interval", "Limiting resource", "Detail"]
    note = "All applications run at once. Latency is of reads or writes, the slower kind."
    return [Table("Performance", columns, "llrrwl", rows, note=note)]


def _interval(performance: ApplicationPerformance) -> str:
    """Return half of the interval of a throughput over replications."""
    error = performance.throughput_error
    return UNKNOWN if error is None else f"\N{PLUS-MINUS SIGN} {quantity(error, 'B/s')}"
