"""Simulated against recorded run time, and the scenarios of the advice."""

import msgspec
from msgspec import UNSET

from headrace.profile.document import PhasePrediction, Prediction
from headrace.quantities import duration, whole
from headrace.report.document.content import (
    Block,
    Bullets,
    Paragraph,
    Section,
    Table,
    foreign,
)
from headrace.report.profile_report.data import ProfileData
from headrace.views.profile_values import UNKNOWN, error_text

GAPS = {"compute": "computes", "wait": "waits"}


def section(data: ProfileData) -> Section:
    """Return the prediction's error by phase, and the scenarios of the advice."""
    blocks: list[Block] = []
    try:
        prediction = msgspec.convert(data.profile.get("prediction"), Prediction | None)
    except msgspec.ValidationError:
        prediction = None
    if prediction is None:
        blocks.append(
            Paragraph("No prediction: it needs a captured trace and a baseline of this machine.")
        )
        return Section("prediction", "Prediction", blocks)
    blocks.append(_phases(prediction))
    files = [
        f"{foreign(advice['change'], 60)}, phase {number}: {foreign(advice['scenario_file'], 120)}"
        for number, phase in enumerate(data.phases, 1)
        for advice in phase.get("advice") or []
        if advice.get("scenario_file")
    ]
    if files:
        blocks += [Paragraph("Scenarios of the changes", "heading"), Bullets(files)]
    return Section("prediction", "Prediction", blocks)


def _phases(prediction: Prediction) -> Table:
    rows = [_row(str(number), phase) for number, phase in enumerate(prediction.phases, 1)]
    if len(rows) > 1:
        recorded_s = sum(phase.recorded_s for phase in prediction.phases)
        whole_run = map(_time, (recorded_s, prediction.recorded_s, prediction.simulated_s))
        rows.append(["all", *whole_run, error_text(prediction.error), "", "", ""])
    columns = ["Phase", "Recorded", "Without tracer", "Simulated", "Error", "Bottleneck"]
    columns += ["Between calls", "Calls"]
    cost = prediction.tracer_s_per_call
    tracer = "" if cost is None else f" The tracer adds {duration(cost)} to a call."
    note = (
        f"Each phase without a change, on the model of the {foreign(prediction.machine, 60)}."
        " The error compares the simulated time with that without the tracer and without waits for"
        f" a core, which is all of a phase that a disk limits.{tracer}"
    )
    return Table("Error of the model", columns, "lrrrrllr", rows, note=note)


def _row(number: str, phase: PhasePrediction) -> list[str]:
    simulated = ""
    if phase.operations is not UNSET and phase.simulated_operations is not UNSET:
        simulated = f"{whole(phase.simulated_operations)} of {whole(phase.operations)}"
    return [
        number,
        *map(_time, (phase.recorded_s, phase.without_tracer_s, phase.simulated_s)),
        error_text(phase.error),
        foreign(phase.bottleneck or UNKNOWN, 60),
        GAPS.get(phase.gaps or "", UNKNOWN),
        simulated or "all",
    ]


def _time(seconds: float | None) -> str:
    return UNKNOWN if seconds is None else duration(seconds)
