"""What every ladder does: one step after another in one directory, until one ends early."""

import contextlib
import hashlib
import os
import tomllib
from collections.abc import Callable, Mapping
from contextlib import AbstractContextManager
from dataclasses import dataclass, field
from os import PathLike
from typing import Any, TypeAlias

from headrace import _core
from headrace.interruption import held
from headrace.measure.benchmark import Progress, ended_early, measure_in, removing
from headrace.measure.calls import check_calls
from headrace.measure.hosts import EARLY, new_directory
from headrace.measure.place import place
from headrace.measure.removal import removed
from headrace.measure.resuming import check, of_another_scenario, ranks_told, sealed, whole

Watch: TypeAlias = Callable[[str], AbstractContextManager[Progress | None]]
"""Given the name of a step, or at last the directory that is removed: what its progress is told
to while it goes on."""
Step: TypeAlias = dict[str, Any]
SoFar: TypeAlias = Callable[[dict[str, Any]], object]
"""Told the document of what has been measured so far, after each step."""
KIND = "ladder"
DIGEST = "scenario_sha256"
"""The key of a step by which it is known again: all that it was asked for."""


class BrokenOffError(Exception):
    """A step was interrupted or failed: no other is begun."""


@dataclass
class Climb:
    """The steps of a ladder so far."""

    directory: _core.BenchmarkDirectory
    of: str
    """Of what it is a ladder: `loads` or `clients`."""
    place: Mapping[str, str]
    step_of: Callable[[dict[str, Any]], Step | None]
    """What a ladder keeps of a measurement; None if nothing was done in it."""
    calls: str
    watch: Watch
    told: Callable[["Climb"], None]
    """Called after each step that was measured whole."""
    resumed: Mapping[str, Any] | None
    """The document of an earlier run."""
    steps: list[Step] = field(default_factory=list)
    scenario: dict[str, Any] = field(default_factory=dict)
    """That of the first step."""
    seed: int | None = None
    stop: dict[str, Any] = field(default_factory=lambda: {"reason": "unfinished"})

    def step(self, loaded: _core.Loaded, what: str) -> Step | None:
        """Measures a scenario, or takes what is known of it.

        Raises BrokenOffError if it ended early: what is there of it has been added.
        """
        digest = hashlib.sha256(loaded.toml.encode()).hexdigest()
        if not self.scenario:
            self._check(loaded)
            self.seed = loaded.seed
            self.scenario = {
                "name": loaded.name,
                "description": tomllib.loads(loaded.toml).get("description", ""),
                "toml": loaded.toml,
            }
        known = self._known(digest)
        step = self._measure(loaded, what) if known is None else known
        if step is not None:
            step[DIGEST] = digest
            self.steps.append(step)
        if self.stop["reason"] in EARLY:
            if step is not None:
                step["partial"] = True
            raise BrokenOffError
        if known is None:
            self.told(self)
        return step

    def document(self) -> dict[str, Any]:
        """What the documents of all ladders have."""
        return {
            "kind": KIND,
            "of": self.of,
            "scenario": self.scenario,
            "seed": self.seed,
            "version": _core.VERSION,
            "place": dict(self.place),
            "calls": self.calls,
            "cores": len(os.sched_getaffinity(0)),
            "steps": self.steps,
            "stop": self.stop,
            **ranks_told(),
        }

    def _check(self, loaded: _core.Loaded) -> None:
        """Raises ValueError if what is resumed was another load."""
        if self.resumed is None:
            return
        before = self.resumed.get("scenario", {}).get("toml", "[clients]\n[[workload]]")
        if _without_load(before) != _without_load(loaded.toml):
            raise of_another_scenario(self.resumed)

    def _known(self, digest: str) -> Step | None:
        """What an earlier run has of a step, if it has all of it."""
        for step in (self.resumed or {}).get("steps", ()):
            if step.get(DIGEST) == digest and not step.get("partial"):
                return dict(step)
        return None

    def _measure(self, loaded: _core.Loaded, what: str) -> Step | None:
        try:
            with self.watch(f"{loaded.name}, {what}") as tell:
                measured = measure_in(self.directory, loaded, calls=self.calls, progress=tell)
        except KeyboardInterrupt:
            # While files were made: there is nothing of this step.
            self.stop = {"reason": "interrupted"}
            return None
        self.stop = ended_early(measured.document) or self.stop
        return self.step_of(measured.document)


def carried_out(
    steps: Callable[[Climb], object],
    document: Callable[[Climb], dict[str, Any]],
    below: str | PathLike[str],
    *,
    of: str,
    step_of: Callable[[dict[str, Any]], Step | None],
    calls: str,
    keep: bool,
    watch: Watch | None,
    resumed: Mapping[str, Any] | None,
    so_far: SoFar | None,
) -> dict[str, Any]:
    """Carries the steps out in a directory of their own below an existing one; gives the
    document of those there are. Those that `resumed` has are not measured again; `so_far` is
    told the document after each.

    Raises as `ladder` does.
    """
    directory = None
    interrupted = False

    def told(climb: Climb) -> None:
        if so_far is not None:
            so_far(sealed(document(climb)))

    try:
        with held():
            directory = new_directory(below)
        here = place(below)
        if resumed is not None:
            check(resumed, {"kind": KIND, "of": of}, here)
            check_calls(resumed, calls)
            whole(resumed)
        climb = Climb(directory, of, here, step_of, str(calls), watch or _unwatched, told, resumed)
        with contextlib.suppress(BrokenOffError):
            steps(climb)
            climb.stop = {"reason": "done"}
        interrupted = climb.stop["reason"] == "interrupted"
    finally:
        left = None
        if directory is not None and not keep:
            left = _removed(directory, interrupted, watch or _unwatched)
    done = sealed(document(climb))
    if left is not None:
        done["warnings"] = [left]
    return done


def _removed(
    directory: _core.BenchmarkDirectory, interrupted: bool, watch: Watch
) -> dict[str, str] | None:
    with watch(str(directory.path)) as tell:
        return removed(directory, interrupted=interrupted, told=removing(tell))


def _unwatched(_: str) -> AbstractContextManager[None]:
    return contextlib.nullcontext()


def _without_load(toml: str) -> dict[str, Any]:
    """A scenario without what differs from step to step."""
    scenario = tomllib.loads(toml)
    scenario["clients"].pop("processes", None)
    for workload in scenario["workload"]:
        workload.pop("rate", None)
    return scenario
