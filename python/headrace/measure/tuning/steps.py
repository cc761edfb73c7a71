"""Steps of a tuning, from which an interrupted tuning is resumed.

The counts so far determine the next mix, so the counts of the earlier run lead to the same mixes.
"""

import hashlib
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from headrace.measure.resume import check_checksum, other_options_error
from headrace.measure.tuning.profile import Amount, Counted, Refused, count_requests, workload
from headrace.measure.tuning.profilers import Watched

DIGEST = "scenario_sha256"
"""Key of a step: the digest of its settings."""


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
        self.all: list[dict[str, Any]] = [dict(it) for it in (resumed or {}).get("steps", ())]
        self._watched, self._amount, self._done = watched, amount, done
        self._resumed = resumed
        self._known = {it[DIGEST]: it for it in (resumed or {}).get("steps", ())}

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
            self.all.append(dict(step))
            self._done()
        if "refused" in step:
            raise Refused(step["refused"])
        return Counted(step.get("completed", step["amount"]), dict(step["counts"]))

    def _run(
        self, digest: str, weights: Mapping[str, float], number: int, seed: int
    ) -> dict[str, Any]:
        step: dict[str, Any] = {DIGEST: digest, "weights": dict(weights), "amount": number}
        try:
            counted = count_requests(self._watched, weights, number, self._amount, seed)
            return step | {"completed": counted.completed, "counts": dict(counted.counts)}
        except Refused as error:
            return step | {"refused": str(error)}

    def _text(self, weights: Mapping[str, float], number: int, seed: int) -> str:
        return workload(weights, number, self._amount, seed)


def _digest(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()
