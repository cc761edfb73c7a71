"""Measured results beside simulations of the same workload."""

import tomllib
from collections.abc import Sequence
from dataclasses import dataclass
from os import PathLike, fspath
from pathlib import Path
from typing import Any

from headrace import simulate
from headrace._core import VERSION, ScenarioError
from headrace.calibrate.case import seconds_in_calls
from headrace.calibration_fields import missing_parameters
from headrace.environment import Environment, differences, of_document
from headrace.simulate.runs import Progress
from headrace.simulate.scenario import load_with_sets
from headrace.simulate.trust import Trust
from headrace.validate.breakdown import Breakdown, Run, from_counters
from headrace.validate.discrepancy import explanation
from headrace.validate.measured import measured
from headrace.validate.point import Point, summary
from headrace.validate.prediction import Predicted
from headrace.validate.traced import from_kernel


@dataclass(frozen=True)
class Validation:
    """Operations of a workload: measured, perhaps several times, and predicted."""

    name: str
    points: tuple[Point, ...]
    breakdown: Breakdown | None = None
    """Where the time went, if that is known."""
    sets: tuple[str, ...] = ()
    """Values over the scenario's, as `path=value`."""
    warnings: tuple[dict[str, str], ...] = ()
    environment: Environment | None = None
    """Where and when the first measurement was made, if it says it."""

    def json(self) -> dict[str, Any]:
        """All figures."""
        return {
            "kind": "validation",
            "scenario": {"name": self.name, "sets": list(self.sets)},
            "version": VERSION,
            **({} if self.environment is None else {"environment": self.environment}),
            "points": [point.json() for point in self.points],
            "summary": summary(self.points),
            "warnings": list(self.warnings),
            **explanation([] if self.breakdown is None else [self.breakdown]),
        }


def validate(
    scenario: str | PathLike[str],
    against: Sequence[str | PathLike[str]],
    *,
    sets: Sequence[str] = (),
    progress: Progress | None = None,
    trust: bool | Trust = False,
) -> Validation:
    """Simulates a scenario and lays it beside saved measurements of the same workload, with the
    values that were put over the scenario's when these were made (`headrace bench run --set`,
    `headrace lab up --set`), and over those `sets`, as `path=value`. `progress` and `trust` are as
    in `headrace.simulate.run`.

    Raises ScenarioError if one of them is no measurement, did something else, made no calls
    (`--calls null`), or was made with other values or by other calls than the first.
    """
    documents = [measured(Path(path)) for path in against]
    _check_calls(against, documents)
    over = (*_sets(scenario, against, documents), *sets)
    loaded = load_with_sets(scenario, over)
    predicted = simulate.run(loaded, progress=progress, trust=trust).json()
    for path, document in zip(against, documents, strict=True):
        _same_work(loaded.toml, document["scenario"]["toml"], path)
    points = []
    for name in predicted["latency"]:
        if name == "all":
            continue
        times = [
            _mean(document, name, path) for document, path in zip(documents, against, strict=True)
        ]
        seconds = Predicted(float(predicted["latency"][name]["mean"]), None)
        points.append(Point(name, "operation", tuple(times), seconds))
    return Validation(
        loaded.name,
        tuple(points),
        _breakdown(loaded.name, predicted, documents),
        over,
        (*missing_parameters(loaded.loaded), *_other_environments(against, documents)),
        documents[0].get("environment"),
    )


def _other_environments(
    against: Sequence[str | PathLike[str]], documents: Sequence[dict[str, Any]]
) -> list[dict[str, str]]:
    """A warning if measurements were made in other environments than the first."""
    found = differences(
        {fspath(path): [of_document(it)] for path, it in zip(against, documents, strict=True)}
    )
    if not found:
        return []
    told = "; ".join(it.sentence() for it in found)
    return [{"condition": "other-environments", "message": f"the measurements differ: {told}"}]


def _sets(
    scenario: str | PathLike[str],
    against: Sequence[str | PathLike[str]],
    documents: Sequence[dict[str, Any]],
) -> Sequence[str]:
    """What was put over the scenario that was measured."""
    first, *others = (document["scenario"].get("sets", []) for document in documents)
    for path, sets in zip(against[1:], others, strict=True):
        if sets != first:
            raise ScenarioError(
                f"{fspath(path)}: it was measured {_with(sets)}, and {fspath(against[0])}"
                f" {_with(first)}: expected measurements of the same values"
            )
    try:
        load_with_sets(scenario, first)
    except ScenarioError as error:
        load_with_sets(scenario, ())  # What is wrong without these values too is said as it is.
        raise ScenarioError(
            f"{fspath(against[0])}: it was measured {_with(first)}, of which {fspath(scenario)}"
            f" takes not all: {error}"
        ) from None
    return list(first)


def _check_calls(
    against: Sequence[str | PathLike[str]], documents: Sequence[dict[str, Any]]
) -> None:
    """Raises ScenarioError if measurements were made by other calls than another. Those of
    earlier versions do not say by which."""
    told = [
        (fspath(path), document["calls"])
        for path, document in zip(against, documents, strict=True)
        if "calls" in document
    ]
    for path, calls in told[1:]:
        if calls != told[0][1]:
            raise ScenarioError(
                f"{path}: it was measured by {calls} calls, and {told[0][0]} by {told[0][1]}"
                " ones: expected measurements by the same"
            )


def _with(sets: Sequence[str]) -> str:
    return f"with {' '.join(f'--set {it}' for it in sets)}" if sets else "without --set"


def _breakdown(
    name: str, predicted: dict[str, Any], documents: Sequence[dict[str, Any]]
) -> Breakdown | None:
    """Of the whole workload, and all its processes."""
    processes = max(documents[0].get("processes", 1), 1)
    runs = [Run.saved(document, processes) for document in documents]
    seconds = Predicted(seconds_in_calls(predicted, processes), None, predicted)
    point = Point(name, "workload", tuple(run.seconds for run in runs), seconds)
    # Of those that were traced, the middle one.
    traced = sorted(
        (it for it in documents if "kernel" in it), key=lambda it: seconds_in_calls(it, processes)
    )
    if traced:
        middle = traced[(len(traced) - 1) // 2]
        return from_kernel(point, processes, middle, middle["kernel"])
    return from_counters(point, processes, runs)


def _same_work(ours: str, theirs: str, path: str | PathLike[str]) -> None:
    """Raises ScenarioError if clients or workloads differ."""
    one, other = tomllib.loads(ours), tomllib.loads(theirs)
    for what, differs in (
        ("workloads", one["workload"] != other["workload"]),
        (
            "processes",
            any(one["clients"][key] != other["clients"][key] for key in ("count", "processes")),
        ),
    ):
        if differs:
            raise ScenarioError(
                f"{fspath(path)}: its {what} are others than the scenario's: expected a"
                " measurement of the same work"
            )


def _mean(document: dict[str, Any], name: str, path: str | PathLike[str]) -> float:
    if name not in document["latency"]:
        raise ScenarioError(
            f"{fspath(path)}: it has no {name}, which the scenario asks for: expected a"
            " measurement of the same workload"
        )
    return float(document["latency"][name]["mean"])
