"""A twin that was saved, with what this version makes of the same measurements."""

from collections.abc import Mapping
from os import PathLike
from pathlib import Path
from typing import Any

import numpy as np

from headrace import calibration_fields, environment
from headrace._core import RunError, ScenarioError
from headrace.calibrate import Measured
from headrace.calibrate.measured import Told, check_once
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
from headrace.validate import wide
from headrace.validate.beyond import beyond
from headrace.validate.breakdown import COUNTERS, Breakdown, beside
from headrace.validate.cases import CASES
from headrace.validate.point import Point
from headrace.validate.twin import Twin, of_calibration

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
OF_PREDICTIONS = (calibration_fields.CONDITION, wide.CONDITION)
"""Warnings that are made anew."""


def again(result: str | PathLike[str], *, told: Told | None = None) -> Twin:
    """Solves the calibration of a saved twin and predicts its cases anew: nothing is measured.

    Raises ScenarioError if it is no such result, if it was predicted by a machine's file
    (`--machine`), whose measurements are not in it, or lacks what this version measures; OSError if
    it cannot be read.
    """
    path = Path(result)
    document = read_document(path)
    if document.get("kind") != "validation" or "machine" not in document:
        raise ScenarioError(f"{path}: expected a result that headrace twin -o saved")
    if "calibration" not in document:
        raise ScenarioError(
            f"{path}: it has no calibration with its times: expected a twin that was calibrated"
            " itself, without --machine, by this version: measure again"
        )
    try:
        FIELDS("twin", document)
        # What a damaged file makes infinite or none is refused where it would be used.
        with np.errstate(all="ignore"):
            return _again(document, told)
    except (ScenarioError, WrongField) as error:
        raise ScenarioError(f"{path}: {error}") from None
    except (ValueError, ArithmeticError, LookupError, RuntimeError, RunError) as error:
        raise ScenarioError(
            f"{path}: nothing follows from what it has ({error}): expected what headrace twin -o"
            " saved"
        ) from None


def _again(document: Mapping[str, Any], told: Told | None) -> Twin:
    measured = Measured.saved(document["calibration"])
    known = {case.name: case for case in (*CASES, *beyond(measured.read))}
    points = document["points"]
    check_once("points", points)
    for it in points:
        if it["name"] not in known:
            raise ScenarioError(f"the case {it['name']!r} is none of this version's: measure again")
        if not it["measured_s"]:
            raise ScenarioError(f"the case {it['name']!r} has no repetition: measure again")
    if not points:
        raise ScenarioError("it has no cases: measure again")
    cases = [known[it["name"]] for it in points]
    times = [[float(time) for time in it["measured_s"]] for it in points]
    seen = {it["name"]: it for it in document["breakdowns"] if it["source"] == COUNTERS}

    def went(number: int, point: Point) -> Breakdown | None:
        it = seen.get(point.name)
        if it is None or it["measured_transfers"] is None:
            return None
        parts = {name: float(seconds) for name, seconds in it["measured_s"].items()}
        return beside(point, cases[number].processes, parts, float(it["measured_transfers"]))

    warnings = [it for it in document["warnings"] if it["condition"] not in OF_PREDICTIONS]
    return of_calibration(measured.calibration(told), cases, times, went, warnings, told)
