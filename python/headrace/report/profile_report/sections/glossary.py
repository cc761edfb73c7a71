"""Verdicts in words."""

from headrace.report.document.content import Facts, Section
from headrace.report.profile_report.data import ProfileData
from headrace.views.verdict_words import VERDICTS

PREDICTION = (
    (
        "predicted gain",
        "Simulated run time of the phase before the change, divided by that after it: how many"
        " times as fast the phase runs.",
    ),
    (
        "model error",
        "Simulated run time of the phase without a change, divided by the recorded one, minus 1."
        " Beyond 20 % nothing is advised.",
    ),
)


def section(data: ProfileData) -> Section:
    """Return what each verdict of the report means."""
    hosts = data.profile.get("host_verdicts") or []
    phases = [*data.phases, *(phase for host in hosts for phase in host["phases"])]
    used = {phase["verdict"] for phase in phases}
    rows = [(word, verdict.meaning) for word, verdict in VERDICTS.items() if word in used]
    if data.baseline:
        rows.append(("baseline", "The figures that this machine reaches in the same directory."))
    if data.profile.get("prediction"):
        rows += PREDICTION
    return Section("glossary", "Words", [Facts(rows)])
