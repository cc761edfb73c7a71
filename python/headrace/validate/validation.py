"""Compare saved measurements with a simulation of the same workload."""

import tomllib
from collections.abc import Sequence
from dataclasses import dataclass
from os import PathLike, fspath
from pathlib import Path
from typing import Any

import msgspec

from headrace import simulate
from headrace._core import VERSION, ScenarioError
from headrace.calibrate.case import seconds_in_calls
from headrace.calibration_fields import missing_parameters
from headrace.environment import Environment, differences, of_document
from headrace.measure.report import KernelTime
from headrace.simulate.runs import Progress
from headrace.simulate.scenario import load_with_sets
from headrace.simulate.trust import Trust
from headrace.validate.breakdown import Breakdown, Run, breakdown_from_counters
from headrace.validate.discrepancy import explanation
from headrace.validate.point import Point, summary
from headrace.validate.prediction import Predicted
from headrace.validate.saved_measurement import read_measurement
from headrace.validate.traced_twin import breakdown_from_kernel


@dataclass(frozen=True)
class Validation:
    """Operations of a workload, measured once or more and predicted."""

    name: str
    points: tuple[Point, ...]
    breakdown: Breakdown | None = None
    """Time by component, if it is known."""
    sets: tuple[str, ...] = ()
    """Values that override the scenario, as `path=value`."""
    warnings: tuple[dict[str, str], ...] = ()
    environment: Environment | None = None
    """Where and when the first measurement was made; None if it is not saved."""

    def json(self) -> dict[str, Any]:
        """Return the JSON document."""
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
    """Simulate a scenario and compare it with saved measurements of the same workload.

    Values that overrode the scenario during the measurement (`headrace bench run --set`, `headrace
    lab up --set`) override it in the simulation too.

    Parameters
    ----------
    scenario
        Path of the scenario.
    against
        Files that `headrace bench run -o` saved.
    sets
        Further values as `path=value`, which take precedence.
    progress, trust
        As in `headrace.simulate.run`.

    Raises
    ------
    ScenarioError
        If a file is not a measurement, has another workload, made no calls (`--calls null`), or
        differs from the first in values or calls.
    """
    documents = [read_measurement(Path(path)) for path in against]
    _check_calls(against, documents)
    overrides = (*_sets(scenario, against, documents), *sets)
    loaded = load_with_sets(scenario, overrides)
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
        overrides,
        (*missing_parameters(loaded.loaded), *_other_environments(against, documents)),
        documents[0].get("environment"),
    )


def _other_environments(
    against: Sequence[str | PathLike[str]], documents: Sequence[dict[str, Any]]
) -> list[dict[str, str]]:
    """Warn if measurements were made in environments other than that of the first."""
    found = differences(
        {fspath(path): [of_document(it)] for path, it in zip(against, documents, strict=True)}
    )
    if not found:
        return []
    used = "; ".join(it.sentence() for it in found)
    return [{"condition": "other-environments", "message": f"the measurements differ: {used}"}]


def _sets(
    scenario: str | PathLike[str],
    against: Sequence[str | PathLike[str]],
    documents: Sequence[dict[str, Any]],
) -> Sequence[str]:
    """Return the values that overrode the measured scenario."""
    first, *others = (document["scenario"].get("sets", []) for document in documents)
    for path, sets in zip(against[1:], others, strict=True):
        if sets != first:
            raise ScenarioError(
                f"{fspath(path)}: measured {_with(sets)}, but {fspath(against[0])}"
                f" {_with(first)}: expected measurements with the same --set values"
            )
    try:
        load_with_sets(scenario, first)
    except ScenarioError as error:
        load_with_sets(scenario, ())  # What is wrong without these values too is said as it is.
        raise ScenarioError(
            f"{fspath(against[0])}: measured {_with(first)},"
            f" which {fspath(scenario)} does not accept: {error}"
        ) from None
    return list(first)


def _check_calls(
    against: Sequence[str | PathLike[str]], documents: Sequence[dict[str, Any]]
) -> None:
    """Check that all measurements used the same calls. Files of earlier versions do not say which.

    Raises
    ------
    ScenarioError
        If they differ.
    """
    used = [
        (fspath(path), document["calls"])
        for path, document in zip(against, documents, strict=True)
        if "calls" in document
    ]
    for path, calls in used[1:]:
        if calls != used[0][1]:
            raise ScenarioError(
                f"{path}: measured with --calls {calls}, but {used[0][0]} with --calls"
                f" {used[0][1]}: expected measurements with the same --calls"
            )


def _with(sets: Sequence[str]) -> str:
    return f"with {' '.join(f'--set {it}' for it in sets)}" if sets else "without --set"


def _breakdown(
    name: str, predicted: dict[str, Any], documents: Sequence[dict[str, Any]]
) -> Breakdown | None:
    """Return the breakdown of the whole workload over all its processes."""
    processes = max(documents[0].get("processes", 1), 1)
    runs = [Run.from_document(document, processes) for document in documents]
    seconds = Predicted(seconds_in_calls(predicted, processes), None, predicted)
    point = Point(name, "workload", tuple(run.seconds for run in runs), seconds)
    # The median of the traced repetitions.
    traced = sorted(
        (it for it in documents if "kernel" in it), key=lambda it: seconds_in_calls(it, processes)
    )
    if traced:
        middle = traced[(len(traced) - 1) // 2]
        return breakdown_from_kernel(
            point, processes, middle, msgspec.convert(middle["kernel"], KernelTime)
        )
    return breakdown_from_counters(point, processes, runs)


def _same_work(ours: str, theirs: str, path: str | PathLike[str]) -> None:
    """Check that a measurement has the scenario's clients and workloads.

    Raises
    ------
    ScenarioError
        If they differ.
    """
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
                f"{fspath(path)}: the {what} differ from those of the scenario: expected a"
                " measurement of the same workload"
            )


def _mean(document: dict[str, Any], name: str, path: str | PathLike[str]) -> float:
    if name not in document["latency"]:
        raise ScenarioError(
            f"{fspath(path)}: the measurement lacks the scenario's operation {name}: expected a"
            " measurement of the same workload"
        )
    return float(document["latency"][name]["mean"])
