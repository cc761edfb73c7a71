"""Figures that show that the design is large, fast, safe and cheap enough."""

from collections.abc import Sequence

from headrace.design.evaluation import ApplicationPerformance
from headrace.design.figure import Figure
from headrace.quantities import quantity
from headrace.report.design_report.data import SHOWN, UNKNOWN, DesignData
from headrace.report.design_report.performance import performance_figures
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
        figures = performance_figures(part)
        for name, goal in (
            ("throughput", part.wanted_throughput),
            ("operations", part.wanted_operations),
            ("latency", part.wanted_latency),
            ("latency_p99", part.wanted_latency_p99),
        ):
            if (given := figures.get(name)) is None:
                continue
            rows.append(
                [
                    foreign(part.application, 80) if name == "throughput" else "",
                    name,
                    UNKNOWN if goal is None else quantity(goal, given.unit),
                    data.notes.value(SHOWN, given),
                    _interval(part) if name == "throughput" else "",
                    foreign(part.limiting_resource, 80) or UNKNOWN,
                    part.detail,
                ]
            )
    columns = ["Application", "Figure", "Wanted", "Simulated", "95 % interval"]
    columns += ["Limiting resource", "Detail"]
    note = "All applications run at once. Wanted values are the worksheet's answers in"
    note += " applications. Latency is the mean of a read or a write, latency_p99"
    note += " their 99th percentile, of the slower kind."
    return [Table("Performance", columns, "llrrrwl", rows, note=note)]


def _interval(performance: ApplicationPerformance) -> str:
    """Return half of the interval of a throughput over replications."""
    error = performance.throughput_error
    return UNKNOWN if error is None else f"\N{PLUS-MINUS SIGN} {quantity(error, 'B/s')}"
