"""Findings about a trace, as text for a terminal."""

from collections.abc import Sequence
from typing import Any, Protocol

from rich.console import Group, RenderableType
from rich.text import Text

from headrace.plain_text import plain_line
from headrace.quantities import duration, number, percent, size

STYLES = {"warning": "red", "note": "yellow", "good": "green"}


class _Finding(Protocol):
    """A finding, as `headrace.profile.trace_findings.Finding` is."""

    @property
    def level(self) -> Any: ...
    @property
    def rule(self) -> str: ...
    @property
    def title(self) -> str: ...
    @property
    def figure(self) -> str: ...
    @property
    def value(self) -> float: ...
    @property
    def unit(self) -> str: ...
    @property
    def threshold(self) -> float: ...
    @property
    def comparison(self) -> Any: ...
    @property
    def evidence(self) -> list[str]: ...
    @property
    def recommendation(self) -> str: ...


def finding_list(name: str, findings: Sequence[_Finding]) -> RenderableType:
    """Return each finding with its figure, evidence and recommendation."""
    if not findings:
        return Text(f"{plain_line(name)}: no findings")
    parts: list[RenderableType] = [Text(plain_line(name), style="bold")]
    for finding in findings:
        text = Text()
        text.append(f"{finding.level}: ", style=STYLES.get(finding.level, ""))
        text.append(f"{finding.title} ({finding.rule})")
        value = quantity(finding.figure, finding.value, finding.unit)
        limit = quantity(finding.figure, finding.threshold, finding.unit)
        text.append(f"\n  {finding.figure} is {value}, {finding.comparison} {limit}")
        for line in finding.evidence:
            text.append(f"\n    {plain_line(line)}")
        text.append(f"\n  {plain_line(finding.recommendation)}")
        parts.append(text)
    return Group(*parts)


def quantity(name: str, value: float, unit: str) -> str:
    """Return a figure with its unit; shares are percentages."""
    if unit == "B":
        return size(value)
    if unit == "s":
        return duration(value)
    if name.endswith(("_share", "_imbalance")):
        return f"{percent(value)} %"
    return number(value)
