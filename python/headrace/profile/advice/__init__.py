"""Advice: changes that follow from a verdict, ranked by the gain that a simulation predicts.

To add a change, write a file with a `Change` and add it to `CHANGES`.
"""

from collections.abc import Callable

from headrace.profile.advice import (
    block_io,
    devices,
    fewer_files,
    fewer_syncs,
    larger_requests,
    overlap,
    parallel_requests,
    processors,
    separate_disks,
)
from headrace.profile.advice.change import Change, Context
from headrace.profile.advice.saved_scenario import FOLDER, save_scenario
from headrace.profile.document import Advice
from headrace.profile.prediction import Case, Outcome, simulate
from headrace.quantities import duration, whole

CHANGES: list[Change] = [
    block_io.CHANGE,
    larger_requests.CHANGE,
    overlap.CHANGE,
    parallel_requests.CHANGE,
    fewer_syncs.CHANGE,
    fewer_files.CHANGE,
    processors.PARALLEL_COMPUTING,
    processors.FASTER_PROCESSOR,
    processors.MORE_MEMORY,
    separate_disks.CHANGE,
    devices.STRIPING,
    devices.FASTER_DEVICE,
    devices.LOW_LATENCY,
]

LEAST_GAIN = 0.05
"""Smallest predicted gain that is worth an advice."""
ERROR_LIMIT = 0.2
"""Largest error of a simulated phase for which a change is advised. A part of the time that the
simulation misses may be any part, and gains of the rest are then wrong by as much: with 20 % a gain
of 1.25 may be none (declared)."""


def advise(
    case: Case, context: Context, on_progress: Callable[[int, int, str], object] | None = None
) -> tuple[list[Advice], Outcome, list[str]]:
    """Simulate a phase as it is, and with each change that its verdict suggests.

    Returns the advice with a predicted gain above `LEAST_GAIN`, the largest first. Returns also
    the outcome without a change, and notes: its error, and changes that could not be simulated. No
    change is advised beyond `ERROR_LIMIT`.
    """
    (first,) = simulate([case], on_progress)
    if first.error is not None:
        return [], first, [f"no prediction: {first.error}"]
    notes = []
    recorded_s = recorded_time(first, context)
    if (error := error_of(first, context)) is not None:
        limit = f"limit {whole(round(100 * ERROR_LIMIT))} %"
        notes = [
            f"the simulated phase takes {duration(first.seconds)}, recorded"
            f" {duration(recorded_s)} without the tracer (error {whole(round(100 * error))} %,"
            f" {'no limit for another machine' if context.is_elsewhere else limit})"
        ]
        if context.is_elsewhere:
            recorded_s = 0.0
        elif abs(error) > ERROR_LIMIT:
            return [], first, [f"no advice: {notes[0]}"]
    # It may be in any part, so it stays.
    unexplained_s = max(recorded_s - first.seconds, 0.0)
    tried = [each for each in CHANGES if context.verdict in each.verdicts]
    applied = [(one, changed) for one in tried if (changed := one.apply(case, context)) is not None]
    outcomes = simulate([changed.case for _, changed in applied], on_progress)
    advice = []
    for (change, changed), outcome in zip(applied, outcomes, strict=True):
        if outcome.error is not None:
            notes.append(f"not simulated: {change.name}: {outcome.error}")
            continue
        if outcome.seconds <= 0:
            continue
        gain = (first.seconds + unexplained_s) / (outcome.seconds + unexplained_s) - 1
        if gain > LEAST_GAIN:
            text, file = outcome.scenario, None
            if context.directory is not None and text is not None:
                folder = context.directory / FOLDER
                name = f"phase-{context.phase}-{change.name}"
                text, name = save_scenario(outcome, changed.case, folder, name)
                file = f"{FOLDER}/{name}"
            advice.append(
                Advice(
                    change=change.name,
                    predicted_gain=gain,
                    description=changed.description,
                    source=change.source,
                    kind=change.kind,
                    level=change.level,
                    scenario=text,
                    scenario_file=file,
                )
            )
    advice.sort(key=lambda each: -each.predicted_gain)
    return advice, first, notes


def error_of(outcome: Outcome, context: Context) -> float | None:
    """Return simulated by recorded time of a phase, minus 1; None if one is unknown."""
    if outcome.error is not None or not context.recorded_s:
        return None
    return outcome.seconds / recorded_time(outcome, context) - 1


def recorded_time(outcome: Outcome, context: Context) -> float:
    """Return the time without the tracer that is next to the simulated one, as far as known."""
    longest_s = context.recorded_s or 0.0
    return min(max(outcome.seconds, min(context.least_recorded_s, longest_s)), longest_s)
