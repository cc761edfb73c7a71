"""Re-fit and re-predict a saved twin with this version, without measuring."""

from collections.abc import Mapping
from os import PathLike
from pathlib import Path
from typing import Any

import numpy as np

from headrace import calibration_fields, environment
from headrace._core import RunError, ScenarioError
from headrace.calibrate import Measurements
from headrace.calibrate.measurements import ProgressCallback, check_once
from headrace.document_io import read_document
from headrace.fields import (
    WrongField,
    amount,
    an_object,
    each_in_list,
    each_in_object,
    flag,
    number,
    or_null,
    text,
)
from headrace.validate import interval_width
from headrace.validate.breakdown import COUNTERS, Breakdown, compare_device_time
from headrace.validate.cases import CASES
from headrace.validate.oversized_cases import oversized_cases
from headrace.validate.point import Point
from headrace.validate.twin import Twin, twin_from_calibration

WARNINGS = each_in_list(an_object({"condition": text, "message": text}))
CALIBRATION = an_object(
    {
        "directory": text,
        "file_system": text,
        "host": text,
        "date": text,
        "settings": each_in_list(text),
        "memory_given_back": flag,
        "probes": each_in_list(an_object({"name": text, "rounds_s": each_in_list(amount)})),
        "parameters": each_in_list(
            an_object({"field": text, "value": text, "unit": text, "method": text})
        ),
        "checks": each_in_list(
            an_object({"name": text, "rounds": each_in_list(an_object({"measured_s": amount}))})
        ),
        "warnings": WARNINGS,
    },
    {"environment": environment.check},
)
FIELDS = an_object(
    {
        "calibration": CALIBRATION,
        "points": each_in_list(an_object({"name": text, "measured_s": each_in_list(amount)})),
        "breakdowns": each_in_list(
            an_object(
                {
                    "name": text,
                    "source": text,
                    "measured_s": each_in_object(number),
                    "measured_transfers": or_null(amount),
                }
            )
        ),
        "warnings": WARNINGS,
    }
)
OF_PREDICTIONS = (calibration_fields.CONDITION, interval_width.CONDITION)
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
    if "calibration" not in document:
        raise ScenarioError(
            f"{path}: the twin has no calibration, because it was saved with --machine or by an"
            " earlier version: measure again with headrace twin, without --machine"
        )
    try:
        FIELDS("twin", document)
        # Infinite values of a damaged file raise an error where they are used.
        with np.errstate(all="ignore"):
            return _repredict(document, on_progress)
    except (ScenarioError, WrongField) as error:
        raise ScenarioError(f"{path}: {error}") from None
    except (ValueError, ArithmeticError, LookupError, RuntimeError, RunError) as error:
        raise ScenarioError(
            f"{path}: not a file from headrace twin -o, or damaged: {error}"
        ) from None


def _repredict(document: Mapping[str, Any], on_progress: ProgressCallback | None) -> Twin:
    measured = Measurements.from_json(document["calibration"])
    known = {case.name: case for case in (*CASES, *oversized_cases(measured.read))}
    points = document["points"]
    check_once("points", points)
    for it in points:
        if it["name"] not in known:
            raise ScenarioError(
                f"this version has no case {it['name']!r}: measure again with headrace twin"
            )
        if not it["measured_s"]:
            raise ScenarioError(
                f"the case {it['name']!r} has no repetitions: measure again with headrace twin"
            )
    if not points:
        raise ScenarioError("the twin has no cases: measure again with headrace twin")
    cases = [known[it["name"]] for it in points]
    times = [[float(time) for time in it["measured_s"]] for it in points]
    seen = {it["name"]: it for it in document["breakdowns"] if it["source"] == COUNTERS}

    def time_breakdown(number: int, point: Point) -> Breakdown | None:
        it = seen.get(point.name)
        if it is None or it["measured_transfers"] is None:
            return None
        parts = {name: float(seconds) for name, seconds in it["measured_s"].items()}
        return compare_device_time(
            point, cases[number].processes, parts, float(it["measured_transfers"])
        )

    warnings = [it for it in document["warnings"] if it["condition"] not in OF_PREDICTIONS]
    return twin_from_calibration(
        measured.calibration(on_progress), cases, times, time_breakdown, warnings, on_progress
    )
