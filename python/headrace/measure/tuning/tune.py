"""The whole procedure: profile, search, and measure what was found."""

from collections.abc import Callable, Mapping, Sequence
from os import PathLike
from typing import Any

import numpy as np

from headrace import _core
from headrace.host import this_host
from headrace.measure.tuning.profile import Profile, profile, seen
from headrace.measure.tuning.profilers import Profiler
from headrace.measure.tuning.search import Tuned, Vector, nearest, pairwise
from headrace.measure.tuning.targets import shares

METHODS: dict[str, Callable[[Any, Vector], Tuned]] = {
    "least-squares": nearest,
    "pairwise": pairwise,
}


def tune(
    profiler: Profiler,
    wanted: Mapping[str, float],
    operations: Sequence[str],
    below: str | PathLike[str],
    *,
    methods: Sequence[str] = tuple(METHODS),
    amount: int = 500,
    files: int = 100,
    told: Callable[[int, int, str], object] | None = None,
) -> dict[str, Any]:
    """Finds mixes of file operations whose protocol mix is near a wanted one, by each method,
    and measures what each really causes.

    Gives a document as `headrace bench tune --json` prints it. Raises as `profile` does, and
    ValueError if nothing causes what is wanted.
    """
    steps = len(operations) + len(methods)

    def of_all(number: int, _: int, what: str) -> None:
        if told is not None:
            told(number, steps, what)

    found = profile(profiler, operations, below, amount=amount, files=files, told=of_all)
    vector = found.wanted(wanted)
    mixes = {}
    for number, method in enumerate(methods):
        of_all(len(operations) + number, steps, f"the mix of {method}")
        tuned = METHODS[method](found.counts, vector)
        mixes[method] = _mix(found, tuned, vector, profiler, below, amount, files)
    return {
        "kind": "measured",
        "benchmark": "tune",
        "scenario": {"name": "bench tune", "description": "file operations for a protocol's mix"},
        "version": _core.VERSION,
        "host": this_host(),
        "wanted": dict(wanted),
        "operations": {},
        "profile": {
            operation: {
                name: float(count) for name, count in zip(found.protocol, row, strict=True) if count
            }
            for operation, row in zip(operations, found.counts, strict=True)
        },
        "mixes": mixes,
    }


def _mix(
    found: Profile,
    tuned: Tuned,
    wanted: Vector,
    profiler: Profiler,
    below: str | PathLike[str],
    amount: int,
    files: int,
) -> dict[str, Any]:
    weights = dict(zip(found.operations, map(float, tuned.shares), strict=True))
    # As many as were carried out for the whole profile.
    counts = seen(profiler, weights, below, amount=amount * len(found.operations), files=files)
    measured = shares(counts, "what the tuned mix caused") if counts else {}
    vector = np.array([measured.get(name, 0.0) for name in found.protocol])
    return {
        "weights": {name: share for name, share in weights.items() if share > 1e-6},
        "predicted": dict(zip(found.protocol, map(float, tuned.protocol), strict=True)),
        "predicted_distance": tuned.distance,
        "measured": measured,
        "measured_distance": float(np.linalg.norm(vector - wanted)),
        "largest_difference": float(np.abs(vector - wanted).max()),
        "steps": tuned.steps,
    }
