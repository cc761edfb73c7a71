"""The sections of a design's report, one file each. A section is added by its file and one line
here."""

from headrace.report.design_report.data import DesignData
from headrace.report.design_report.sections import (
    alternatives,
    appendix,
    design,
    evidence,
    operation,
    requirements,
    risks,
    summary,
    zones,
)
from headrace.report.document.content import Section


def sections(data: DesignData) -> list[Section]:
    """Return all sections in the order of the report."""
    return [
        summary.section(data),
        design.section(data),
        requirements.section(data),
        zones.section(data),
        evidence.section(data),
        alternatives.section(data),
        operation.section(data),
        risks.section(data),
        appendix.section(data),
    ]
