"""A ladder of loads: what a system achieves of what is asked, and how long it takes."""

import contextlib
import os
from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass, field
from os import PathLike
from pathlib import Path
from typing import Any, NamedTuple, TypeAlias

from headrace import _core
from headrace.files import save_json
from headrace.host import this_host
from headrace.measure.benchmark import Progress, measure_in, removed
from headrace.measure.hosts import new_directory
from headrace.measure.ladder_knee import knee
from headrace.measure.ladder_search import search

Watch: TypeAlias = Callable[[str], AbstractContextManager[Progress | None]]
"""Given the name of a step: what its progress is told to while it goes on."""
AtLoad: TypeAlias = Callable[[float], _core.Loaded]
"""The scenario in which operations come at a rate."""


class Criteria(NamedTuple):
    """When a system keeps up with a load."""

    achieved: float = 0.95
    """Which part of the offered load has to be achieved."""
    response_s: float = 0.020
    """How long the mean response time may be: SPEC SFS2008 reports no load above 20 ms (its
    run rules; SFS 1.1 allowed 50 ms)."""

    def met(self, step: dict[str, Any]) -> bool:
        """Whether a step kept up."""
        achieved = step["achieved_per_second"] >= self.achieved * step["offered_per_second"]
        return bool(achieved and step["response"]["mean"] <= self.response_s)


SPEC_SFS = Criteria()


@dataclass(frozen=True)
class Ladder:
    """The steps of a ladder of loads, and what they show."""

    document: dict[str, Any]

    @property
    def name(self) -> str:
        """What the scenario is called."""
        return str(self.document["scenario"]["name"])

    @property
    def partial(self) -> bool:
        """Whether it ended before its time."""
        return bool(self.document["stop"]["reason"] != "done")

    def save(self, path: str | PathLike[str]) -> None:
        """Saves it as JSON; the file appears when it is whole."""
        save_json(Path(path), self.document | {"host": this_host()})


def ladder(
    at_load: AtLoad,
    below: str | PathLike[str],
    *,
    rates: Sequence[float] = (),
    start: float = 100.0,
    refinements: int = 4,
    criteria: Criteria = SPEC_SFS,
    calls: str = "posix",
    keep: bool = False,
    watch: Watch | None = None,
) -> Ladder:
    """Carries a mix out at one load after another, in a directory of its own below a given one.

    The loads are `rates`; without, they are found: from `start` on doubled until the system
    stays behind, then refined so often between. Files that are there stay for the next step,
    as long as they were at first.

    Raises:
        ScenarioError: if the workload cannot be carried out on a real file system.
        OSError: if nothing can be made below the directory.
        RunError: if files that must be there cannot be made.
    """
    directory = new_directory(below)
    climb = _Climb(at_load, directory, criteria, calls, watch)
    try:
        with contextlib.suppress(_BrokenOffError):
            if rates:
                for rate in sorted(set(rates)):
                    climb.step(rate)
            else:
                search(climb.step, start, refinements)
    finally:
        left = None if keep else removed(directory)
    document = _document(climb)
    if left is not None:
        document["warnings"] = [left]
    return Ladder(document)


class _BrokenOffError(Exception):
    """A step was interrupted or failed: no other is begun."""


@dataclass
class _Climb:
    at_load: AtLoad
    directory: _core.BenchmarkDirectory
    criteria: Criteria
    calls: str
    watch: Watch | None
    steps: list[dict[str, Any]] = field(default_factory=list)
    scenario: dict[str, Any] = field(default_factory=dict)
    stop: dict[str, Any] = field(default_factory=lambda: {"reason": "done"})

    def step(self, rate: float) -> bool:
        """Measures at a rate; whether the system kept up."""
        loaded = self.at_load(rate)
        watch = self.watch or (lambda _: contextlib.nullcontext())
        with watch(f"{loaded.name}, {rate:g} operations/s") as tell:
            measurement = measure_in(self.directory, loaded, calls=self.calls, progress=tell)
        document = measurement.document
        self.scenario = document["scenario"] | {"seed": document["seed"]}
        step = _step(document)
        if step is not None:
            step["keeps_up"] = self.criteria.met(step)
            self.steps.append(step)
        if document["stop"]["reason"] in ("interrupted", "failed"):
            self.stop = document["stop"] | {
                key: document[key] for key in ("error",) if key in document
            }
            if step is not None:
                step["partial"] = True
            raise _BrokenOffError
        return step is not None and bool(step["keeps_up"])


def _step(document: dict[str, Any]) -> dict[str, Any] | None:
    """What a ladder keeps of a measurement; None if nothing was done in it."""
    load, response = document.get("load"), document.get("latency_from_intended")
    if load is None or not response:
        return None
    return {
        **load,
        "response": response["all"],
        "service": document["latency"]["all"],
        "operations": document["operations"],
        "throughput": document["throughput"],
        "prepare_seconds": document["prepare_seconds"],
        "processes": document["processes"],
        "cache": document["cache"],
        "files": document["files"],
        "counters": document["counters"],
        "warnings": document["warnings"],
    }


def _document(climb: _Climb) -> dict[str, Any]:
    steps = sorted(climb.steps, key=lambda step: step["requested_per_second"])
    whole = [step for step in steps if not step.get("partial")]
    return {
        "kind": "ladder of loads",
        "scenario": climb.scenario,
        "version": _core.VERSION,
        "criteria": climb.criteria._asdict(),
        "cores": len(os.sched_getaffinity(0)),
        "steps": steps,
        **findings(whole),
        "stop": climb.stop,
    }


def findings(steps: Sequence[dict[str, Any]]) -> dict[str, Any]:
    """What steps in order of load show: the loads requested at the knee and at the cut-off,
    and the largest that was kept up with. None of what they do not show."""
    kept = 0
    while kept < len(steps) and steps[kept]["keeps_up"]:
        kept += 1
    # The first that stays behind is the curve's end: later ones say only how long they lasted.
    curve = steps[: kept + 1] if kept < len(steps) else []
    place = knee(
        [step["requested_per_second"] for step in curve],
        [step["response"]["mean"] for step in curve],
    )
    achieved = [step["achieved_per_second"] for step in steps]
    return {
        "knee": _point(curve[place]) if place is not None else None,
        "kept_up": _point(steps[kept - 1]) if kept else None,
        "cut_off": _point(steps[kept]) if kept < len(steps) else None,
        "achieved_at_most_per_second": max(achieved, default=None),
    }


def _point(step: dict[str, Any]) -> dict[str, Any]:
    keys = ("requested_per_second", "achieved_per_second")
    return {key: step[key] for key in keys} | {"response_mean_s": step["response"]["mean"]}
