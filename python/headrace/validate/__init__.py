"""Validation: predictions beside what was measured."""

from headrace.calibrate.case import Case
from headrace.validate.again import again
from headrace.validate.cases import CASES
from headrace.validate.point import Point
from headrace.validate.prediction import Predicted, predict
from headrace.validate.traced import Traced, traced
from headrace.validate.twin import Twin, twin
from headrace.validate.validation import Validation, validate

__all__ = [
    "CASES",
    "Case",
    "Point",
    "Predicted",
    "Traced",
    "Twin",
    "Validation",
    "again",
    "predict",
    "traced",
    "twin",
    "validate",
]
