"""The other designs, and what was rejected and why."""

from headrace.design.evaluation import Evaluation
from headrace.quantities import quantity
from headrace.report.design_report import reasons
from headrace.report.design_report.data import UNKNOWN, DesignData, figures_by_key
from headrace.report.design_report.performance import performance_figures
from headrace.report.document.content import (
    Block,
    Bullets,
    Paragraph,
    Reference,
    Section,
    Table,
    Text,
    foreign,
)
from headrace.views.solution import label

COLUMNS = (
    ("Purchase", "purchase"),
    ("Total cost", "total-cost"),
    ("Usable", "usable-capacity"),
    ("Loss probability", "loss-probability"),
    ("Power", "power"),
)
MOST_ROWS = 12
"""Alternatives of the table; the plot has all."""


def section(data: DesignData) -> Section:
    """Return the front as plot and table, discarded designs, and rejected choices."""
    blocks: list[Block] = [_introduction(data)]
    if "front" in data.pictures:
        blocks.append(data.pictures["front"])
    blocks += _front(data) + _archives(data) + _misses(data) + _discarded(data) + _rejected(data)
    return Section("alternatives", "Alternatives", blocks)


def _introduction(data: DesignData) -> Paragraph:
    if data.solution.front:
        return Paragraph(
            "Each design below is better than every other one in cost, throughput or safety. The"
            " recommended one is the cheapest found that meets all stated requirements."
            if data.solution.chosen is not None
            else "Each design below is better than every other one in cost, throughput or safety."
            " None meets all requirements."
        )
    if data.solution.nearest:
        return Paragraph("No design meets all requirements. These miss the least.")
    return Paragraph("No design was left to compare.")


def _front(data: DesignData) -> list[Block]:
    shown = data.alternatives[:MOST_ROWS]
    lines: list[list[Text]] = []
    for number, one in enumerate(shown):
        figures = figures_by_key(one)
        group = data.group(number)
        name = label(number) + (" *" if one is data.shown else "")
        cells: list[Text] = [name, foreign(one.design.name, 160)]
        for _, key in COLUMNS:
            given = figures.get(key)
            cells.append(
                UNKNOWN if given is None else data.notes.value(group, given, show_error=False)
            )
        cells.append(_throughputs(data, one, group))
        lines.append(cells)
    if not lines:
        return []
    note = "* the design of this report." if data.shown is not None else ""
    more = len(data.alternatives) - len(shown)
    if more > 0:
        note += f" The saved solution has {more} more."
    applications = [foreign(part.application, 60) for part in shown[0].performance]
    if applications:
        note += f" Throughput: {', '.join(applications)}."
    columns = ["", "Design", *(name for name, _ in COLUMNS), "Throughput"]
    return [Table("Designs compared", columns, "lw" + "r" * len(COLUMNS) + "r", lines, note=note)]


def _throughputs(data: DesignData, evaluation: Evaluation, group: str) -> Text:
    text: list[str | Reference] = []
    for at, part in enumerate(evaluation.performance):
        text += [", "] if at else []
        given = performance_figures(part)["throughput"]
        text += data.notes.value(group, given, show_error=False)
    return text or UNKNOWN


def _misses(data: DesignData) -> list[Block]:
    lines: list[list[Text]] = [
        [
            label(number),
            foreign(violation.field, 80),
            foreign(violation.wanted, 80),
            foreign(violation.got, 80),
            foreign(violation.message),
        ]
        for number, each in enumerate(data.alternatives[:MOST_ROWS])
        for violation in each.violations
    ]
    columns = ["", "Field of the worksheet", "Wanted", "Got", "Message"]
    return [Table("Requirements that are missed", columns, "llrrw", lines)] if lines else []


def _archives(data: DesignData) -> list[Block]:
    """Return what else can hold the data of archives."""
    lines: list[list[Text]] = []
    for one in data.solution.archives:
        group = f"archive {one.zone} {one.name}"
        data.notes.add_figures(group, one.figures, prefix=f"Zone {foreign(one.zone, 60)}, ")
        cannot = (*one.limits, *(missed.message for missed in one.violations))
        lines.append(
            [
                foreign(one.zone, 60),
                one.name,
                data.notes.value(group, one.figures[-1]),
                UNKNOWN if one.first_byte is None else quantity(one.first_byte, "s"),
                foreign("; ".join(cannot), 400) or UNKNOWN,
                ", ".join(foreign(missed.field, 80) for missed in one.violations) or "none",
            ]
        )
    columns = ["Zone", "Place", "Cost", "First byte after", "Cannot", "Missed"]
    note = "Over the years of the worksheet, for the need at their end. Prices of tape and object"
    note += " store are declared."
    return [Table("Places for archives", columns, "llrrww", lines, note=note)] if lines else []


def _discarded(data: DesignData) -> list[Block]:
    note = data.notes.add(
        "discarded",
        "Discarded designs",
        "Counted by the search, by the field of the worksheet that a design misses first.",
    )
    lines: list[list[Text]] = [
        [foreign(field, 120), [f"{count:,}", note]]
        for field, count in sorted(data.solution.discarded.items(), key=lambda pair: -pair[1])
    ]
    if not lines:
        return []
    lines.append(["enumerated in all", [f"{data.solution.enumerated:,}", note]])
    return [
        Table(
            "Designs that were discarded",
            ["Requirement missed, or other reason", "Designs"],
            "lr",
            lines,
        )
    ]


def _rejected(data: DesignData) -> list[Block]:
    grounds = (
        reasons.Ground(choice, value, reason)
        for choice in data.choices()
        for value, reason in choice.rejected
    )
    table = reasons.rows(grounds, mark_against=False)
    columns = list(reasons.COLUMNS)
    left_out: list[Text] = [foreign(text) for text in data.solution.excluded]
    blocks = [Table("Choices that were rejected", columns, "lwlW", table)] if table else []
    title = Paragraph("Values that the search did not try", "heading")
    return [*blocks, title, Bullets(left_out)] if left_out else [*blocks]
