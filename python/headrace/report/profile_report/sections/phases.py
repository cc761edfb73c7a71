"""Phases with their verdict, evidence and advice."""

import msgspec

from headrace.profile.document import Phase
from headrace.quantities import duration
from headrace.report.document.content import (
    Block,
    Bullets,
    Paragraph,
    Section,
    Table,
    foreign,
    of_view,
)
from headrace.report.profile_report.data import ProfileData
from headrace.views import time_balance
from headrace.views.profile import phases_table
from headrace.views.profile_values import (
    by_level,
    error_text,
    share_of,
    speedup,
    with_unit,
)


def section(data: ProfileData) -> Section:
    """Return the tables of phases, evidence and advice."""
    blocks: list[Block] = []
    if not data.phases:
        blocks.append(Paragraph("No phase: the recording has no complete interval."))
        return Section("phases", "Phases", blocks)
    phases = msgspec.convert(data.phases, list[Phase])
    blocks.append(of_view(phases_table(phases, data.duration_s)))
    if (balance := time_balance.table(data.balances)) is not None:
        blocks.append(of_view(balance))
    blocks += [_evidence(data), *_advice(data)]
    notes = [
        f"Phase {number}: {'; '.join(map(foreign, phase['notes']))}"
        for number, phase in enumerate(data.phases, 1)
        if phase.get("notes")
    ]
    if notes:
        blocks.append(Bullets(notes))
    return Section("phases", "Phases", blocks)


def _evidence(data: ProfileData) -> Table:
    rows = [
        [
            str(number),
            foreign(row["figure"], 120),
            with_unit(row["value"], row["unit"]),
            with_unit(row.get("baseline"), row["unit"]),
            share_of(row["value"], row.get("baseline")),
            foreign(row["rule"], 60),
            foreign(row["source"], 120),
        ]
        for number, phase in enumerate(data.phases, 1)
        for row in phase.get("evidence") or []
    ]
    columns = ["Phase", "Figure", "Value", "Baseline", "Of it", "Rule", "Source"]
    return Table("Evidence", columns, "lwrrrll", rows)


def _advice(data: ProfileData) -> list[Block]:
    advised = by_level(data.phases)
    if not advised:
        return []
    rows = []
    for level, advice in advised:
        gains = ", ".join(
            f"phase {number}: {speedup(gain)}, model error {error_text(error)}"
            for number, gain, error in advice.gains
        )
        rows.append(
            [
                foreign(level, 20),
                foreign(advice.name, 60),
                foreign(advice.description),
                gains,
                duration(advice.saved_s),
                foreign(advice.source, 120),
            ]
        )
    columns = ["Level", "Change", "Description", "Predicted", "Saves", "Source"]
    note = (
        "The simulator predicts each change alone, from the captured trace. A saving is that of"
        " the whole run if the other phases stay as they are. The model error is the simulated"
        " time of the phase without a change, compared with the recorded one."
    )
    return [Table("Advice", columns, "llwwrl", rows, note=note)]
