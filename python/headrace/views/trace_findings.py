"""Findings about a trace: the figure, evidence and recommendation of each."""

from headrace.plain_text import plain_line
from headrace.profile.trace_findings import Finding, TraceFindings
from headrace.quantities import duration, number, percent, size
from headrace.render.blocks import Note, View


def view(report: TraceFindings, name: str | None = None) -> View:
    """Return a note for each finding.

    Parameters:
        report: The findings.
        name: Name of the trace, for the heading; by default that of its file.
    """
    name = plain_line(report.trace.rpartition("/")[2] if name is None else name)
    if not report.findings:
        return [Note(f"{name}: no findings")]
    return [Note("", name), *map(_finding, report.findings)]


def _finding(finding: Finding) -> Note:
    value = quantity(finding.figure, finding.value, finding.unit)
    threshold = quantity(finding.figure, finding.threshold, finding.unit)
    lines = [
        f"{finding.title} ({finding.rule})",
        f"  {finding.figure} is {value}, {finding.comparison.replace('_', ' ')} {threshold}",
        *(f"    {plain_line(line)}" for line in finding.evidence),
        f"  {plain_line(finding.recommendation)}",
    ]
    return Note("\n".join(lines), f"{finding.level}: ", level=finding.level)


def quantity(name: str, value: float, unit: str) -> str:
    """Return a figure with its unit; shares are percentages."""
    if unit == "B":
        return size(value)
    if unit == "s":
        return duration(value)
    if name.endswith(("_share", "_imbalance")):
        return f"{percent(value)} %"
    return number(value)
