"""Uncertainties: open answers, small margins, limits of the models."""

from headrace.design.figure import Unit
from headrace.quantities import percent_text, quantity, size
from headrace.report.design_report.data import DesignData, figures_of
from headrace.report.design_report.performance import SIMPLIFIED
from headrace.report.design_report.requirements import later_need, requirements
from headrace.report.document.content import (
    Block,
    Bullets,
    Paragraph,
    Section,
    Table,
    Text,
    foreign,
)

SMALL = 0.1
"""A margin below this part of what is wanted is small; declared."""


def section(data: DesignData) -> Section:
    """Return open answers, small margins, missing prices, and what is not modelled."""
    blocks: list[Block] = [
        *_answers(data),
        *_margins(data),
        *_uncertain(data),
        *_growth(data),
        *_limits(data),
    ]
    if not blocks:
        blocks.append(Paragraph("No answer is open, and no figure has a stated limit."))
    return Section("risks", "Risks", blocks)


def _answers(data: DesignData) -> list[Block]:
    texts = list(data.solution.unsure)
    texts += [text for one in data.solution.choices for text in one.unsure if text not in texts]
    if not texts:
        return []
    items: list[Text] = [foreign(text) for text in dict.fromkeys(texts)]
    return [Paragraph("Unknown answers, and what they cost", "heading"), Bullets(items)]


def _margins(data: DesignData) -> list[Block]:
    rows: list[list[Text]] = [
        [one.name, one.field, one.wanted, one.got, percent_text(one.margin, sign=True)]
        for one in requirements(data)
        if one.margin is not None and one.margin < SMALL
    ]
    if not rows:
        return []
    note = f"Margins below {100 * SMALL:.0f} % are listed."
    columns = ["Requirement", "Field of the worksheet", "Wanted", "Design", "Margin"]
    return [Table("Requirements with a small margin", columns, "wlrrr", rows, note=note)]


def _uncertain(data: DesignData) -> list[Block]:
    """Return wanted values that the interval of a simulation does not exclude."""
    if data.shown is None:
        return []
    items: list[Text] = []
    for part in data.shown.performance:
        if part.throughput_error is None or part.throughput <= 0:
            continue
        # Calls have the relative error of bytes.
        spread = part.throughput_error / part.throughput
        simulated: tuple[tuple[str, float | None, float, Unit], ...] = (
            ("throughput", part.wanted_throughput, part.throughput, "B/s"),
            ("operations", part.wanted_operations, part.operations, "1/s"),
        )
        for name, goal, got, unit in simulated:
            if goal is not None and got * (1 - spread) < goal <= got:
                items.append(
                    f"{foreign(part.application, 80)}: {name}: simulated"
                    f" {quantity(got, unit)} \N{PLUS-MINUS SIGN} {100 * spread:.0f} %, which may be"
                    f" less than the wanted {quantity(goal, unit)}"
                )
    if not items:
        return []
    return [Paragraph("Requirements within the error of the simulation", "heading"), Bullets(items)]


def _growth(data: DesignData) -> list[Block]:
    last = later_need(data)
    if last is None:
        return []
    years = f"{data.worksheet.capacity.years:g}"
    text = (
        f"The need grows to {size(last)} in {years} years, which is more than the usable capacity."
        " The total cost counts what is bought later, but not its power."
    )
    return [Paragraph("Growth", "heading"), Paragraph(text)]


def _limits(data: DesignData) -> list[Block]:
    if data.shown is None:
        return []
    titles: dict[str, list[str]] = {}
    for figure in figures_of(data.shown):
        if figure.note and figure.note != SIMPLIFIED:
            titles.setdefault(figure.note, []).append(figure.title)
    for each in data.shown.performance:
        for note in each.notes:
            titles.setdefault(note, []).append(f"simulation of {each.application}")
    items: list[Text] = [
        f"{foreign(', '.join(named), 200)}: {foreign(note, 1000)}" for note, named in titles.items()
    ]
    if not items:
        return []
    return [Paragraph("Limits of the figures and of the models", "heading"), Bullets(items)]
