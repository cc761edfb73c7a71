"""Simulated against recorded run time, and the omissions of the models."""

from headrace.report.document.content import (
    Block,
    Bullets,
    Code,
    Facts,
    Paragraph,
    Section,
    foreign,
    foreign_lines,
)
from headrace.report.profile_report.data import ProfileData
from headrace.report.profile_report.sections.trace import flat

SCENARIOS = 3
"""Advised changes of which the scenario is shown."""


def section(data: ProfileData) -> Section:
    """Return the prediction's error, what it omits, and the scenarios of the advice."""
    prediction = data.profile.get("prediction")
    blocks: list[Block] = []
    if not prediction:
        blocks.append(
            Paragraph("No prediction: it needs a captured trace and a baseline of this machine.")
        )
        return Section("prediction", "Prediction", blocks)
    omitted = ("not_modelled", "left_out")
    texts = ("toml", "scenario")
    blocks.append(
        Facts(flat({key: v for key, v in prediction.items() if key not in (*omitted, *texts)}))
    )
    left_out = [foreign(text) for key in omitted for text in prediction.get(key) or []]
    if left_out:
        blocks += [Paragraph("Not modelled", "heading"), Bullets(left_out)]
    scenarios = [
        (number, advice)
        for number, phase in enumerate(data.phases, 1)
        for advice in phase.get("advice") or []
        if advice.get("scenario")
    ]
    scenarios.sort(key=lambda pair: -pair[1]["predicted_gain"])
    for number, advice in scenarios[:SCENARIOS]:
        file = foreign(advice.get("scenario_file") or "", 120)
        title = f"Scenario of {foreign(advice['change'], 60)}, phase {number}"
        blocks.append(Paragraph(f"{title}: {file}" if file else title, "heading"))
        blocks.append(Code(foreign_lines(advice["scenario"], 4000), "toml"))
    if len(scenarios) > SCENARIOS:
        rest = len(scenarios) - SCENARIOS
        blocks.append(Paragraph(f"{rest} more scenarios are in profile.json.", "note"))
    return Section("prediction", "Prediction", blocks)
