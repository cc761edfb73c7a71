"""Tuning procedure: profile, search, measure the mix found, and correct the profile."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from math import inf
from typing import Any, TypeAlias

import msgspec
import numpy as np

from headrace import _core
from headrace.environment import Environment, of_directory
from headrace.environment import resumed as resumed_environment
from headrace.fields import to_document
from headrace.interruption import STOP_EXCEPTIONS
from headrace.measure.calls import POSIX
from headrace.measure.measurement_site import measurement_site
from headrace.measure.report import PlanText, Stop
from headrace.measure.resume import check_matches, with_checksum
from headrace.measure.space import state_need
from headrace.measure.tuning.profile import LEAST_SHARE, Amount, Profile, profile, workload
from headrace.measure.tuning.profilers import Watched
from headrace.measure.tuning.search import STEP, THRESHOLD, Tuned, Vector, nearest, pairwise
from headrace.measure.tuning.steps import Steps, TuningStep
from headrace.measure.tuning.targets import shares
from headrace.measure.workload import load
from headrace.quantities import numbered

Search: TypeAlias = Callable[[Any, Vector], Tuned]

METHODS: dict[str, Search] = {"least-squares": nearest, "pairwise": pairwise}

SEED = 1
"""Seed of the mixes that are corrected; the final mix has the next one."""
NEAR = 0.005
"""Shares that are off by less are reached."""


@dataclass(frozen=True)
class Round:
    """A mix that was found, and the protocol operations that it caused."""

    tuned: Tuned
    caused: Vector
    """Protocol operations for each file operation."""
    measured: Vector | None
    """The shares of those; None if no operation was completed."""
    distance: float | None
    """Euclidean, between that and the wanted one; None if no operation was completed."""

    def largest_difference(self, target: Vector) -> float | None:
        """Return the largest difference between a measured and a wanted share; None if no operation
        was completed."""
        return None if self.measured is None else float(np.abs(self.measured - target).max())


SoFar: TypeAlias = Callable[[dict[str, Any]], object]
"""Callback with the partial document after each step."""
KIND = "tuning"


class RoundFigures(msgspec.Struct, frozen=True):
    """Euclidean distances of a mix from the wanted one, and the largest difference of a share."""

    predicted_distance: float
    measured_distance: float | None
    """None if no operation was completed."""
    largest_difference: float | None


class MixFigures(msgspec.Struct, frozen=True, kw_only=True):
    """The mix that a method found."""

    weights: dict[str, float]
    """Weight of each file operation."""
    predicted: dict[str, float]
    """Predicted shares by protocol operation."""
    predicted_distance: float
    measured: dict[str, float] | None
    """Measured shares by protocol operation; None if no operation was completed."""
    measured_distance: float | None
    largest_difference: float | None
    unreached: dict[str, str]
    """Protocol operations whose wanted share no mix comes near, with the reason."""
    steps: int
    """Mixes that were tried; 0 if the mix was computed."""
    rounds: list[RoundFigures]


class TuningReport(msgspec.Struct, kw_only=True):
    """The document of a tuning."""

    kind: str = KIND
    scenario: PlanText = PlanText("bench tune", "file operations for a wanted protocol mix")
    version: str
    place: dict[str, str]
    environment: Environment
    calls: str = POSIX
    profiler: str
    amount: Amount
    wanted: dict[str, float]
    """Wanted shares by protocol operation."""
    operations: dict[str, Any] = {}
    """Empty: other results have their figures here."""
    profile: dict[str, dict[str, float]] = {}
    """Protocol operations by file operation."""
    left_out: dict[str, str] = {}
    """File operations that were left out, with the reason."""
    mixes: dict[str, MixFigures] = {}
    """Mix of each method."""
    stop: Stop = Stop("unfinished")
    steps: list[TuningStep] = []


def tune(
    watched: Watched,
    target: Mapping[str, float],
    operations: Sequence[str],
    *,
    methods: Sequence[str] = tuple(METHODS),
    rounds: int = 2,
    amount: Amount | None = None,
    step: float = STEP,
    threshold: float = THRESHOLD,
    on_progress: Callable[[int, int, str], object] | None = None,
    resumed: Mapping[str, Any] | None = None,
    so_far: SoFar | None = None,
) -> dict[str, Any]:
    """Find mixes of file operations whose protocol mix is near a wanted one, by each method. In
    each round, measure the mix found, correct the profile, and search again. The nearest mix is
    measured once more, with another seed.

    Return the document that `headrace bench tune --json` prints. On Ctrl-C it is partial, and
    `document["stop"]["reason"]` is `interrupted`. Counts of `resumed`, the document of an earlier
    run, are not measured again. `so_far` is called with the document after each step. `step` and
    `threshold` are those of the pairwise search.

    Raises as `profile` does. Raises ValueError if no operation causes the wanted ones. Raises it
    too if `resumed` is of another profiler, target, version, host or file system, or of other
    amounts.
    """
    much = amount or Amount()
    here = measurement_site(watched.directory)
    if resumed is not None:
        check_matches(resumed, {"kind": KIND, "profiler": watched.name}, here)
        _check_target(resumed, target)
    report = TuningReport(
        version=_core.VERSION,
        place=here,
        environment=resumed_environment(of_directory(watched.directory), resumed),
        profiler=watched.name,
        amount=much,
        wanted=dict(target),
    )

    def document() -> dict[str, Any]:
        return with_checksum(to_document(report))

    def done() -> None:
        if so_far is not None:
            so_far(document())

    alone = [load(workload({name: 1.0}, much.alone, much)) for name in operations]
    mixed = [load(workload(dict.fromkeys(operations, 1.0), much.mixed, much))]
    tried = mixed * (len(methods) * (rounds + 1))
    state_need(
        numbered(len(alone) + len(tried), "mix", "mixes"), [*alone, *tried], watched.directory
    )
    steps = Steps(watched, much, resumed, done)
    report.steps = steps.all
    steps.expect(operations)
    try:
        known = METHODS | {"pairwise": partial(pairwise, step=step, threshold=threshold)}
        searches = {name: known[name] for name in methods}
        _found(steps, report, target, operations, searches, rounds, much, on_progress)
        report.stop = Stop("done")
    except STOP_EXCEPTIONS:
        report.stop = Stop("interrupted")
    except (_core.RunError, OSError) as error:
        # Such as a full disk. The counts so far remain.
        if not report.steps:
            raise
        report.stop = Stop("failed", str(error))
    return document()


def _check_target(resumed: Mapping[str, Any], target: Mapping[str, float]) -> None:
    """Raise ValueError if the resumed tuning has another target: its mixes were searched for
    that."""
    before = resumed.get("wanted")
    if before != dict(target):
        shares = ", ".join(f"{name} {share:g}" for name, share in dict(before or {}).items())
        raise ValueError(
            f"{resumed.get('named', 'the resumed result')}: it is of another --target"
            f" ({shares or 'unknown'}): expected the one that it was begun with, or no --resume"
        )


def _found(
    steps: Steps,
    report: TuningReport,
    target: Mapping[str, float],
    operations: Sequence[str],
    searches: Mapping[str, Search],
    rounds: int,
    much: Amount,
    on_progress: Callable[[int, int, str], object] | None,
) -> None:
    """Add the profile, and the mix of each method."""
    done, all_steps = 0, len(operations) + len(searches) * (rounds + 1)

    def next_is(text: str) -> None:
        nonlocal done
        if on_progress is not None:
            on_progress(done, all_steps, text)
        done += 1

    known = profile(steps.count_requests, operations, much, lambda _, operation: next_is(operation))
    report.profile = {
        operation: {
            name: float(count) for name, count in zip(known.protocol, row, strict=True) if count
        }
        for operation, row in zip(known.operations, known.counts, strict=True)
    }
    report.left_out = dict(known.left_out)
    vector = known.wanted(target)
    for method, search in searches.items():
        tried = []
        corrected = known
        for number in range(rounds):
            next_is(f"{method}, round {number + 1}")
            tuned = search(corrected.counts, vector)
            tried.append(_measured(steps, known, tuned, vector, much, SEED))
            # Without a completed operation, counts of 0 cannot correct the profile.
            corrected = corrected.corrected(tuned.shares, tried[-1].caused)
        next_is(f"{method}, the nearest again")
        best = min(tried, key=lambda entry: inf if entry.distance is None else entry.distance)
        again = _measured(steps, known, best.tuned, vector, much, SEED + 1)
        report.mixes[method] = _mix(known, again, vector, tried)


def _measured(
    steps: Steps, profiled: Profile, tuned: Tuned, target: Vector, amount: Amount, seed: int
) -> Round:
    completed, counts = steps.count_requests(_weights(profiled, tuned), amount.mixed, seed)
    if not completed:
        return Round(tuned, np.zeros_like(target), None, None)
    measured = profiled.vector(shares(counts, "what the mix caused") if counts else {})
    caused = profiled.vector(counts) / completed
    return Round(tuned, caused, measured, float(np.linalg.norm(measured - target)))


def _weights(profiled: Profile, tuned: Tuned) -> dict[str, float]:
    named = zip(profiled.operations, map(float, tuned.shares), strict=True)
    return {name: share for name, share in named if share > LEAST_SHARE}


def _mix(profiled: Profile, final: Round, target: Vector, tried: Sequence[Round]) -> MixFigures:
    predicted = zip(profiled.protocol, map(float, final.tuned.protocol), strict=True)
    return MixFigures(
        weights=_weights(profiled, final.tuned),
        predicted=dict(predicted),
        predicted_distance=final.tuned.distance,
        measured=None if final.measured is None else _named(profiled, final.measured),
        measured_distance=final.distance,
        largest_difference=final.largest_difference(target),
        unreached=infeasible_targets(profiled, final.tuned, target),
        steps=final.tuned.steps,
        rounds=[
            RoundFigures(round_.tuned.distance, round_.distance, round_.largest_difference(target))
            for round_ in tried
        ],
    )


def _named(profiled: Profile, measured: Vector) -> dict[str, float]:
    """The measured shares that are not 0, by protocol operation."""
    named = zip(profiled.protocol, map(float, measured), strict=True)
    return {name: share for name, share in named if share}


def infeasible_targets(profiled: Profile, tuned: Tuned, target: Vector) -> dict[str, str]:
    """Return the protocol operations whose wanted share no mix comes near, each with the reason."""
    off = tuned.protocol - target
    return {
        profiled.protocol[column]: _too_little(profiled, column, -off[column])
        if off[column] < 0
        else _too_much(profiled, tuned, column, off[column])
        for column in map(int, np.flatnonzero(np.abs(off) > NEAR))
    }


def _too_little(profiled: Profile, column: int, by: float) -> str:
    shares = profiled.counts / np.maximum(profiled.counts.sum(axis=1, keepdims=True), 1e-12)
    purest = int(shares[:, column].argmax())
    others = [
        profiled.protocol[other]
        for other in np.argsort(-shares[purest], kind="stable")
        if other != column and shares[purest, other] > NEAR
    ]
    text = f"{100 * by:.2f} percentage points too little"
    if not others:
        return f"{text}: other operations take its share"
    return (
        f"{text}: its purest source, {profiled.operations[purest]}, also causes {', '.join(others)}"
    )


def _too_much(profiled: Profile, tuned: Tuned, column: int, by: float) -> str:
    caused = tuned.shares * profiled.counts[:, column]
    sources = [
        profiled.operations[row]
        for row in np.argsort(-caused, kind="stable")
        if caused[row] > NEAR * caused.sum()
    ]
    return f"{100 * by:.2f} percentage points too much: caused by {', '.join(sources)}"
