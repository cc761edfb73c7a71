"""The sections of a profile's report, one file each. A section is added by its file and one line
here."""

from collections.abc import Sequence

from headrace.report.profile_report.content import Picture, Section
from headrace.report.profile_report.data import ProfileData
from headrace.report.profile_report.sections import (
    charts,
    glossary,
    phases,
    prediction,
    provenance,
    summary,
    trace,
    worksheet,
)


def sections(data: ProfileData, pictures: Sequence[Picture]) -> list[Section]:
    """Return all sections in the order of the report."""
    return [
        summary.section(data, pictures[:1]),
        phases.section(data),
        worksheet.section(data),
        charts.section(data, pictures[1:]),
        trace.section(data),
        prediction.section(data),
        glossary.section(data),
        provenance.section(data),
    ]
