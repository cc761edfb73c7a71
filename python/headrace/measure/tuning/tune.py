"""The whole procedure: profile, search, measure what was found, and correct it."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np

from headrace import _core
from headrace.measure.tuning.profile import Amount, Profile, profile, seen
from headrace.measure.tuning.profilers import Watched
from headrace.measure.tuning.reach import unreached
from headrace.measure.tuning.search import Tuned, Vector, nearest, pairwise
from headrace.measure.tuning.targets import shares

METHODS: dict[str, Callable[[Any, Vector], Tuned]] = {
    "least-squares": nearest,
    "pairwise": pairwise,
}

SEED = 1
"""Of the mixes that are corrected; what is told of the result comes from the next one."""


@dataclass(frozen=True)
class Round:
    """A mix that was found, and what it really causes."""

    tuned: Tuned
    measured: Vector
    distance: float
    """Euclidean, between that and the wanted one."""


def tune(
    watched: Watched,
    wanted: Mapping[str, float],
    operations: Sequence[str],
    *,
    methods: Sequence[str] = tuple(METHODS),
    rounds: int = 2,
    amount: Amount | None = None,
    told: Callable[[int, int, str], object] | None = None,
) -> dict[str, Any]:
    """Finds mixes of file operations whose protocol mix is near a wanted one, by each method:
    measures what each really causes, corrects the profile by that, and searches again, for so
    many rounds. The nearest of them is carried out once more, with other random numbers.

    Gives a document as `headrace bench tune --json` prints it. Raises as `profile` does, and
    ValueError if nothing causes what is wanted.
    """
    much = amount or Amount()
    done, steps = 0, len(operations) + len(methods) * (rounds + 1)

    def next_is(what: str) -> None:
        nonlocal done
        if told is not None:
            told(done, steps, what)
        done += 1

    found = profile(watched, operations, much, lambda _, operation: next_is(operation))
    vector = found.wanted(wanted)
    mixes = {}
    for method in methods:
        tried = []
        corrected = found
        for number in range(rounds):
            next_is(f"{method}, round {number + 1}")
            tuned = METHODS[method](corrected.counts, vector)
            tried.append(_measured(watched, found, tuned, vector, much, SEED))
            corrected = corrected.corrected(tuned.protocol, tried[-1].measured)
        next_is(f"{method}, the nearest again")
        best = min(tried, key=lambda it: it.distance)
        again = _measured(watched, found, best.tuned, vector, much, SEED + 1)
        mixes[method] = _mix(found, again, vector, tried)
    return {
        "kind": "tuning",
        "scenario": {"name": "bench tune", "description": "file operations for a protocol's mix"},
        "version": _core.VERSION,
        "amount": asdict(much),
        "wanted": dict(wanted),
        "operations": {},
        "profile": {
            operation: {
                name: float(count) for name, count in zip(found.protocol, row, strict=True) if count
            }
            for operation, row in zip(found.operations, found.counts, strict=True)
        },
        "left_out": dict(found.left_out),
        "mixes": mixes,
    }


def _measured(
    watched: Watched, found: Profile, tuned: Tuned, wanted: Vector, amount: Amount, seed: int
) -> Round:
    counts = seen(watched, _weights(found, tuned), amount.mixed, amount, seed)
    measured = found.vector(shares(counts, "what the mix caused") if counts else {})
    return Round(tuned, measured, float(np.linalg.norm(measured - wanted)))


def _weights(found: Profile, tuned: Tuned) -> dict[str, float]:
    named = zip(found.operations, map(float, tuned.shares), strict=True)
    return {name: share for name, share in named if share > 1e-6}


def _mix(found: Profile, final: Round, wanted: Vector, tried: Sequence[Round]) -> dict[str, Any]:
    named = dict(zip(found.protocol, map(float, final.measured), strict=True))
    predicted = zip(found.protocol, map(float, final.tuned.protocol), strict=True)
    return {
        "weights": _weights(found, final.tuned),
        "predicted": dict(predicted),
        "predicted_distance": final.tuned.distance,
        "measured": {name: share for name, share in named.items() if share},
        "measured_distance": final.distance,
        "largest_difference": float(np.abs(final.measured - wanted).max()),
        "unreached": unreached(found, final.tuned, wanted),
        "steps": final.tuned.steps,
        "rounds": [
            {
                "predicted_distance": it.tuned.distance,
                "measured_distance": it.distance,
                "largest_difference": float(np.abs(it.measured - wanted).max()),
            }
            for it in tried
        ],
    }
