"""Targets that no mix of file operations reaches, with the reasons."""

import numpy as np

from headrace.measure.tuning.profile import Profile
from headrace.measure.tuning.search import Tuned, Vector

NEAR = 0.005
"""Shares that are off by less are reached."""


def infeasible_targets(found: Profile, tuned: Tuned, wanted: Vector) -> dict[str, str]:
    """Return the protocol operations whose wanted share no mix comes near, each with the reason."""
    off = tuned.protocol - wanted
    return {
        found.protocol[column]: _too_little(found, column, -off[column])
        if off[column] < 0
        else _too_much(found, tuned, column, off[column])
        for column in map(int, np.flatnonzero(np.abs(off) > NEAR))
    }


def _too_little(found: Profile, column: int, by: float) -> str:
    shares = found.counts / np.maximum(found.counts.sum(axis=1, keepdims=True), 1e-12)
    purest = int(shares[:, column].argmax())
    others = [
        found.protocol[other]
        for other in np.argsort(-shares[purest], kind="stable")
        if other != column and shares[purest, other] > NEAR
    ]
    text = f"{100 * by:.2f} percentage points too little"
    if not others:
        return f"{text}: other operations take its share"
    return f"{text}: its purest source, {found.operations[purest]}, also causes {', '.join(others)}"


def _too_much(found: Profile, tuned: Tuned, column: int, by: float) -> str:
    caused = tuned.shares * found.counts[:, column]
    sources = [
        found.operations[row]
        for row in np.argsort(-caused, kind="stable")
        if caused[row] > NEAR * caused.sum()
    ]
    return f"{100 * by:.2f} percentage points too much: caused by {', '.join(sources)}"
