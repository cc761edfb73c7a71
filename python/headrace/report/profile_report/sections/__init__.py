"""The sections of a profile's report, one file each. A section is added by its file and one line
here."""

from collections.abc import Sequence

from headrace.report.document.content import Picture, Section
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


def sections(
    data: ProfileData, of_samples: Sequence[Picture], of_trace: Sequence[Picture]
) -> list[Section]:
    """Return all sections in the order of the report, with the charts of samples and trace."""
    return [
        summary.section(data, of_samples[:1]),
        phases.section(data),
        charts.section(data, of_samples[1:]),
        trace.section(data, of_trace),
        worksheet.section(data),
        prediction.section(data),
        glossary.section(data),
        provenance.section(data),
    ]
