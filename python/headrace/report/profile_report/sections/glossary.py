"""Verdicts in words."""

from headrace.report.document.content import Facts, Section
from headrace.report.profile_report.data import ProfileData
from headrace.views.verdict_words import VERDICTS


def section(data: ProfileData) -> Section:
    """Return what each verdict means."""
    rows = [(word, verdict.meaning) for word, verdict in VERDICTS.items()]
    rows += [
        ("baseline", "The figures that this machine reaches in the same directory."),
        (
            "predicted gain",
            "Simulated run time of the phase before the change, divided by that"
            " after it, minus 1. It is given here as how many times as fast the phase runs.",
        ),
    ]
    return Section("glossary", "Words", [Facts(rows)])
