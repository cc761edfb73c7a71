"""Compare saved measurements with a simulation of the same workload."""

import tomllib
from collections.abc import Sequence
from dataclasses import dataclass
from os import PathLike, fspath
from pathlib import Path
from typing import Any

from msgspec import UNSET

from headrace import simulate
from headrace._core import VERSION, ScenarioError
from headrace.calibrate.run_report import RunReport
from headrace.calibration_fields import missing_parameters
from headrace.environment import Environment, differences
from headrace.fields import convert, to_document
from headrace.measure.report import ResultWarning
from headrace.simulate.runs import Progress
from headrace.simulate.scenario import load_with_sets
from headrace.simulate.trust import Trust
from headrace.validate.breakdown import Breakdown, Run, breakdown_from_counters
from headrace.validate.discrepancy import discrepancy_record
from headrace.validate.point import Point, summary
from headrace.validate.prediction import Predicted
from headrace.validate.records import ValidatedScenario, ValidationRecord
from headrace.validate.saved_measurement import SavedMeasurement, read_measurement
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
    warnings: tuple[ResultWarning, ...] = ()
    environment: Environment | None = None
    """Where and when the first measurement was made; None if it is not saved."""

    def json(self) -> dict[str, Any]:
        """Return the JSON document."""
        breakdowns = [] if self.breakdown is None else [self.breakdown]
        record = ValidationRecord(
            scenario=ValidatedScenario(self.name, list(self.sets)),
            version=VERSION,
            environment=UNSET if self.environment is None else self.environment,
            points=[point.record() for point in self.points],
            summary=summary(self.points),
            warnings=list(self.warnings),
            breakdowns=[breakdown.record() for breakdown in breakdowns],
            discrepancy=discrepancy_record(breakdowns),
        )
        document: dict[str, Any] = to_document(record)
        return document


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
    measured = [(fspath(path), read_measurement(Path(path))) for path in against]
    _check_calls(measured)
    overrides = (*_sets(scenario, measured), *sets)
    loaded = load_with_sets(scenario, overrides)
    predicted = RunReport.of_document(
        simulate.run(loaded, progress=progress, trust=trust, server_series=False).json()
    )
    for path, twin in measured:
        _same_work(loaded.toml, twin.scenario.toml, path)
    points = []
    for name, of_operation in predicted.latency.items():
        if name == "all":
            continue
        times = [_mean(result, name, path) for path, result in measured]
        seconds = Predicted(of_operation.mean or 0.0, None)
        points.append(Point(name, "operation", tuple(times), seconds))
    return Validation(
        loaded.name,
        tuple(points),
        _breakdown(loaded.name, predicted, [result for _, result in measured]),
        overrides,
        (
            *convert(missing_parameters(loaded.loaded), list[ResultWarning]),
            *_other_environments(measured),
        ),
        measured[0][1].environment,
    )


def _other_environments(measured: Sequence[tuple[str, SavedMeasurement]]) -> list[ResultWarning]:
    """Warn if measurements were made in environments other than that of the first."""
    changes = differences({path: [twin.where] for path, twin in measured})
    if not changes:
        return []
    used = "; ".join(item.sentence() for item in changes)
    return [ResultWarning("other-environments", f"the measurements differ: {used}")]


def _sets(
    scenario: str | PathLike[str], measured: Sequence[tuple[str, SavedMeasurement]]
) -> Sequence[str]:
    """Return the values that overrode the measured scenario."""
    (first_path, first_one), *others = measured
    first = first_one.scenario.sets
    for path, twin in others:
        if twin.scenario.sets != first:
            raise ScenarioError(
                f"{path}: measured {_with(twin.scenario.sets)}, but {first_path}"
                f" {_with(first)}: expected measurements with the same --set values"
            )
    try:
        load_with_sets(scenario, first)
    except ScenarioError as error:
        load_with_sets(scenario, ())  # What is wrong without these values too is said as it is.
        raise ScenarioError(
            f"{first_path}: measured {_with(first)},"
            f" which {fspath(scenario)} does not accept: {error}"
        ) from None
    return list(first)


def _check_calls(measured: Sequence[tuple[str, SavedMeasurement]]) -> None:
    """Check that all measurements used the same calls. Files of earlier versions do not say which.

    Raises
    ------
    ScenarioError
        If they differ.
    """
    used = [(path, twin.calls) for path, twin in measured if twin.calls is not None]
    for path, calls in used[1:]:
        if calls != used[0][1]:
            raise ScenarioError(
                f"{path}: measured with --calls {calls}, but {used[0][0]} with --calls"
                f" {used[0][1]}: expected measurements with the same --calls"
            )


def _with(sets: Sequence[str]) -> str:
    return f"with {' '.join(f'--set {setting}' for setting in sets)}" if sets else "without --set"


def _breakdown(
    name: str, predicted: RunReport, measured: Sequence[SavedMeasurement]
) -> Breakdown | None:
    """Return the breakdown of the whole workload over all its processes."""
    processes = measured[0].processes
    runs = [Run(run.seconds_in_calls(processes), run.samples) for run in measured]
    seconds = Predicted(predicted.seconds_in_calls(processes), None, predicted)
    point = Point(name, "workload", tuple(run.seconds for run in runs), seconds)
    # The median of the traced repetitions.
    traced = sorted(
        ((run.seconds, one.kernel) for run, one in zip(runs, measured, strict=True) if one.kernel),
        key=lambda pair: pair[0],
    )
    if traced:
        return breakdown_from_kernel(point, processes, *traced[(len(traced) - 1) // 2])
    return breakdown_from_counters(point, processes, runs)


def _same_work(ours: str, theirs: str, path: str) -> None:
    """Check that a measurement has the scenario's clients and workloads.

    Raises
    ------
    ScenarioError
        If they differ.
    """
    one, other = tomllib.loads(ours), tomllib.loads(theirs)
    for label, differs in (
        ("workloads", one["workload"] != other["workload"]),
        (
            "processes",
            any(one["clients"][key] != other["clients"][key] for key in ("count", "processes")),
        ),
    ):
        if differs:
            raise ScenarioError(
                f"{path}: the {label} differ from those of the scenario: expected a"
                " measurement of the same workload"
            )


def _mean(measured: SavedMeasurement, name: str, path: str) -> float:
    if name not in measured.latency:
        raise ScenarioError(
            f"{path}: the measurement lacks the scenario's operation {name}: expected a"
            " measurement of the same workload"
        )
    return measured.latency[name].mean
