"""Run times of all versions, predicted from the trace of version 1 and the baseline's machine."""

from dataclasses import dataclass

from runs import Experiment

from headrace.profile.advice import block_io, overlap, separate_disks
from headrace.profile.advice.change import Change, Context
from headrace.profile.capture import METHODS
from headrace.profile.capture.overhead import tracer_cost
from headrace.profile.document import Verdict
from headrace.profile.paced_trace import cut, read_paced
from headrace.profile.phase_advice import Application, phase_case
from headrace.profile.prediction import simulate

STEPS: tuple[tuple[Change, Verdict], ...] = (
    (block_io.CHANGE, "cpu"),
    (separate_disks.CHANGE, "rewrite"),
    (overlap.CHANGE, "disk-read"),
)
"""Changes that lead from each version to the next, with a verdict that suggests them."""


@dataclass(frozen=True)
class Prediction:
    """Predicted run time of a version."""

    seconds: float
    change: str
    """The change in words; empty for version 1."""


def predict(experiment: Experiment) -> list[Prediction]:
    """Apply the changes one after the other to the trace of version 1, and simulate each case.

    Raises ValueError if a change does not apply, RuntimeError if a case cannot be simulated.
    """
    profile, baseline = experiment.traced.profile, experiment.baseline
    records = cut(read_paced(experiment.trace), 0.0, profile.duration_s)
    figures = {name: it.value for name, it in baseline.figures.items()}
    cores = int(baseline.environment["processors"])
    cost = tracer_cost(METHODS["strace"].wrap)
    tracer_s = 0.0 if cost is None else max(cost.gap_s.value, 0.0)
    rates = experiment.traced.rates
    application = Application(records, rates, baseline.machine(), cores, figures, tracer_s)
    case = phase_case(records, rates, application, profile.duration_s)
    cases, words = [case], [""]
    for change, verdict in STEPS:
        changed = change.apply(case, Context(verdict, cores, figures))
        if changed is None:
            raise ValueError(f"{change.name} does not apply to the trace of version 1")
        case = changed.case
        cases.append(case)
        words.append(changed.description)
    found = []
    for outcome, description in zip(simulate(cases), words, strict=True):
        if outcome.error is not None:
            raise RuntimeError(f"{description}: {outcome.error}")
        found.append(Prediction(outcome.seconds, description))
    return found
