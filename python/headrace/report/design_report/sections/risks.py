"""Uncertainties beside those of the decision: open answers, limits of the models."""

from headrace.report.design_report.data import DesignData, figures_of
from headrace.report.design_report.performance import SIMPLIFIED
from headrace.report.document.content import (
    Block,
    Bullets,
    Paragraph,
    Section,
    Text,
    foreign,
)


def section(data: DesignData) -> Section:
    """Return open answers, and what is not modelled."""
    blocks: list[Block] = [
        *_answers(data),
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
