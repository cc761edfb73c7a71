"""The mixed load: one mix of operations, at any rate."""

import tomllib
from collections.abc import Sequence
from pathlib import Path

from headrace import ranks
from headrace._core import Loaded, ScenarioError, workloads
from headrace.measure.workload import load_with_sets

PRESET = "mpfs"
"""The mix of which nothing else is said."""
PROCESSES = 16
"""A pool that is wide enough for a system to have several operations under way. What finds all
of them busy is late, which response times show."""


class MixedLoad:
    """A preset of a mix, or a scenario whose only workload is one, with a measured time."""

    def __init__(
        self,
        workload: str = PRESET,
        *,
        seconds: float,
        warm_up: float,
        processes: int | None = None,
        sets: Sequence[str] = (),
    ) -> None:
        """Raises ScenarioError if there is no such preset or file, or it is no mix."""
        self._what = _text(workload)
        self._sets = [
            "workload.0.amount=forever",
            f"run.warm_up={warm_up!r} s",
            f"run.stop.time={warm_up + seconds!r} s",
            *([f"clients.processes={processes}"] if processes is not None else []),
            *sets,
        ]

    def at(self, rate: float) -> Loaded:
        """The scenario in which operations come so often a second."""
        return self._load([f"workload.0.rate={rate!r}"])

    def with_processes(self, processes: int) -> Loaded:
        """The scenario with so many processes, each of which asks again at once.

        Raises ScenarioError if operations come at a rate.
        """
        loaded = self._load([f"clients.processes={processes}"])
        if "rate" in tomllib.loads(loaded.toml)["workload"][0]:
            raise ScenarioError(
                f"{loaded.name}: operations come at workload.0.rate, however many processes"
                " there are: leave it out"
            )
        return loaded

    def _load(self, sets: Sequence[str]) -> Loaded:
        loaded = load_with_sets(self._what, [*self._sets, *sets])
        kinds = [workload["kind"] for workload in tomllib.loads(loaded.toml)["workload"]]
        if kinds != ["operation-mix"]:
            raise ScenarioError(
                f'{loaded.name}: expected one [[workload]], of kind "operation-mix", and it has '
                f"{len(kinds)}, of kind {', '.join(sorted(set(kinds)))}"
            )
        return loaded


def _text(workload: str) -> str:
    """A file, or the text of a scenario with a preset."""
    names = [name for name, _ in workloads()]
    if workload in names:
        return (
            f'name = "{workload}"\n[clients]\ncount = {ranks.count()}\nprocesses = {PROCESSES}\n'
            f'[[workload]]\npreset = "{workload}"\n'
        )
    if not Path(workload).exists():
        raise ScenarioError(f"--workload {workload}: expected a file or one of {', '.join(names)}")
    return workload
