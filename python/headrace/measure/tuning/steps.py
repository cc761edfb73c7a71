"""Steps of a tuning, from which an interrupted tuning is resumed.

The counts so far determine the next mix, so the counts of the earlier run lead to the same mixes.
"""

import hashlib
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import msgspec

from headrace.fields import convert
from headrace.measure.resume import check_checksum, other_options_error
from headrace.measure.tuning.profile import Amount, Counted, Refused, count_requests, workload
from headrace.measure.tuning.profilers import Watched


class TuningStep(msgspec.Struct, frozen=True, omit_defaults=True):
    """Counts of one mix of file operations."""

    scenario_sha256: str
    """Digest of the step's settings."""
    weights: dict[str, float]
    """Weight of each file operation."""
    amount: int
    """File operations that were requested."""
    completed: int | None = None
    """File operations that were completed; None in files of earlier versions, and if refused."""
    counts: dict[str, int] | None = None
    """Protocol operations by name."""
    refused: str | None = None
    """Why the file system refused the mix."""


class Steps:
    """Steps of a tuning in order."""

    def __init__(
        self,
        watched: Watched,
        amount: Amount,
        resumed: Mapping[str, Any] | None,
        done: Callable[[], object],
    ) -> None:
        """Take a callback `done` for each step. Raises ValueError if the resumed tuning is
        damaged."""
        if resumed is not None:
            check_checksum(resumed)
        # All that the earlier run has counted, whether or not it is wanted again.
        self.all = convert((resumed or {}).get("steps", []), list[TuningStep])
        self._watched, self._amount, self._done = watched, amount, done
        self._resumed = resumed
        self._known = {step.scenario_sha256: step for step in self.all}

    def expect(self, operations: Sequence[str]) -> None:
        """Check that the resumed tuning has one of these operations, with as many repetitions.
        Raises ValueError if it has none."""
        alone = (self._text({name: 1.0}, self._amount.alone, 1) for name in operations)
        if self._resumed is not None and not any(_digest(text) in self._known for text in alone):
            raise other_options_error(self._resumed)

    def count_requests(self, weights: Mapping[str, float], number: int, seed: int = 1) -> Counted:
        """Count protocol operations while a mix runs, or return the count of the earlier run.
        Raises as `headrace.measure.tuning.profile.count_requests` does."""
        digest = _digest(self._text(weights, number, seed))
        step = self._known.get(digest) or self._run(digest, weights, number, seed)
        if digest not in self._known:
            self.all.append(step)
            self._done()
        if step.refused is not None:
            raise Refused(step.refused)
        completed = step.amount if step.completed is None else step.completed
        return Counted(completed, dict(step.counts or {}))

    def _run(self, digest: str, weights: Mapping[str, float], number: int, seed: int) -> TuningStep:
        try:
            counted = count_requests(self._watched, weights, number, self._amount, seed)
        except Refused as error:
            return TuningStep(digest, dict(weights), number, refused=str(error))
        return TuningStep(digest, dict(weights), number, counted.completed, dict(counted.counts))

    def _text(self, weights: Mapping[str, float], number: int, seed: int) -> str:
        return workload(weights, number, self._amount, seed)


def _digest(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()
