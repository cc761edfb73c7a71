"""Where the report comes from: search, worksheet and scenario."""

from headrace.quantities import duration
from headrace.report.design_report.data import UNKNOWN, DesignData
from headrace.report.document.content import (
    Block,
    Code,
    Facts,
    Paragraph,
    Section,
    Text,
    foreign,
    foreign_lines,
)


def section(data: DesignData) -> Section:
    """Return the origin of the numbers, the worksheet and the chosen design's scenario."""
    solution = data.solution
    rows: list[tuple[str, Text]] = [
        ("Headrace", foreign(solution.version) or UNKNOWN),
        ("Seed", str(solution.seed)),
        ("Designs enumerated", f"{solution.enumerated:,}"),
        ("Time of the search", duration(solution.seconds)),
    ]
    blocks: list[Block] = [
        Paragraph(
            "Equal worksheet, catalogue, seed and version give an equal design. The notes give"
            " formula, inputs and source of each number."
        ),
        Facts(rows),
    ]
    if data.shown is not None:
        scenarios = dict.fromkeys(part.scenario for part in data.shown.performance if part.scenario)
        for text in scenarios:
            blocks += [
                Paragraph("Scenario of the design, for headrace run", "heading"),
                _code(text),
            ]
    if solution.worksheet_text:
        blocks += [Paragraph("Worksheet", "heading"), _code(solution.worksheet_text)]
    return Section("appendix", "Appendix", blocks)


MANY_LINES = 40
"""A text of more lines stands in two columns of a page."""


def _code(text: str) -> Code:
    many = text.count("\n") > MANY_LINES
    return Code(foreign_lines(text), "toml", columns=2 if many else 1)
