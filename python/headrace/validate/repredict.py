"""Re-fit and re-predict a saved twin with this version, without measuring."""

from os import PathLike
from pathlib import Path
from typing import Annotated

import msgspec
import numpy as np

from headrace import calibration_fields
from headrace._core import RunError, ScenarioError
from headrace.calibrate import Measurements, fitted_parameter
from headrace.calibrate.measurements import ProgressCallback, check_once
from headrace.calibrate.records import SavedCalibration
from headrace.document_io import read_document
from headrace.fields import Seconds, WrongField, check_usable, convert
from headrace.measure.report import ResultWarning
from headrace.validate import interval_width
from headrace.validate.breakdown import COUNTERS, Breakdown, compare_device_time
from headrace.validate.cases import CASES
from headrace.validate.oversized_cases import oversized_cases
from headrace.validate.point import Point
from headrace.validate.twin import Twin, twin_from_calibration


class SavedPoint(msgspec.Struct, frozen=True):
    """Measured times of a saved case."""

    name: str
    measured_s: list[Seconds]

    def __post_init__(self) -> None:
        check_usable("measured_s", *self.measured_s)


class SavedBreakdown(msgspec.Struct, frozen=True):
    """Measured times of a saved breakdown, by component."""

    name: str
    source: str
    measured_s: dict[str, float]
    measured_transfers: Annotated[float, msgspec.Meta(ge=0.0)] | None

    def __post_init__(self) -> None:
        check_usable("measured_s", *self.measured_s.values())
        check_usable("measured_transfers", self.measured_transfers or 0.0)


class SavedTwin(msgspec.Struct, frozen=True):
    """Fields of a saved twin from which it is predicted again."""

    calibration: SavedCalibration
    points: list[SavedPoint]
    breakdowns: list[SavedBreakdown]
    warnings: list[ResultWarning]


OF_PREDICTIONS = (
    calibration_fields.CONDITION,
    interval_width.CONDITION,
    fitted_parameter.CONDITION,
)
"""Conditions of warnings that are recomputed."""


def repredict(result: str | PathLike[str], *, on_progress: ProgressCallback | None = None) -> Twin:
    """Re-fit the calibration of a saved twin, and re-predict its cases without measuring.

    Parameters
    ----------
    result
        File that `headrace twin -o` saved.
    on_progress
        Called before each simulation.

    Raises
    ------
    ScenarioError
        If the file is not such a result, or lacks measurements that this version needs. A twin
        predicted with `--machine` has no calibration and is refused too.
    OSError
        If the file cannot be read.
    """
    path = Path(result)
    document = read_document(path)
    if document.get("kind") != "validation" or "machine" not in document:
        raise ScenarioError(f"{path}: not a saved twin: expected a file from headrace twin -o")
    if "application" in document:
        raise ScenarioError(
            f"{path}: the twin of a program, whose captured run was not saved: predict the program"
            " again with headrace twin DIR -- COMMAND"
        )
    if "calibration" not in document:
        raise ScenarioError(
            f"{path}: the twin has no calibration, because it was saved with --machine or by an"
            " earlier version: measure again with headrace twin, without --machine"
        )
    try:
        saved = convert(document, SavedTwin)
        # Infinite values of a damaged file raise an error where they are used.
        with np.errstate(all="ignore"):
            return _repredict(saved, on_progress)
    except (ScenarioError, WrongField) as error:
        raise ScenarioError(f"{path}: {error}") from None
    except (ValueError, ArithmeticError, LookupError, RuntimeError, RunError) as error:
        raise ScenarioError(
            f"{path}: not a file from headrace twin -o, or damaged: {error}"
        ) from None


def _repredict(saved: SavedTwin, on_progress: ProgressCallback | None) -> Twin:
    measured = Measurements.of_record(saved.calibration)
    known = {case.name: case for case in (*CASES, *oversized_cases(measured.read))}
    points = saved.points
    check_once("points", (point.name for point in points))
    for one in points:
        if one.name not in known:
            raise ScenarioError(
                f"this version has no case {one.name!r}: measure again with headrace twin"
            )
        if not one.measured_s:
            raise ScenarioError(
                f"the case {one.name!r} has no repetitions: measure again with headrace twin"
            )
    if not points:
        raise ScenarioError("the twin has no cases: measure again with headrace twin")
    cases = [known[point.name] for point in points]
    times = [point.measured_s for point in points]
    seen = {row.name: row for row in saved.breakdowns if row.source == COUNTERS}

    def time_breakdown(number: int, point: Point) -> Breakdown | None:
        earlier = seen.get(point.name)
        if earlier is None or earlier.measured_transfers is None:
            return None
        return compare_device_time(
            point, cases[number].processes, earlier.measured_s, earlier.measured_transfers
        )

    warned = (*measured.warnings, *saved.warnings)
    warnings = [warning for warning in warned if warning.condition not in OF_PREDICTIONS]
    calibration = measured.calibration(on_progress)
    warnings += [warning for warning in calibration.warnings if warning.condition in OF_PREDICTIONS]
    return twin_from_calibration(calibration, cases, times, time_breakdown, warnings, on_progress)
