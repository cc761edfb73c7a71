"""Validation: compare predictions with measurements."""

from headrace.calibrate.case import Case
from headrace.validate.application import twin_of_program
from headrace.validate.cases import CASES
from headrace.validate.point import Point
from headrace.validate.prediction import Predicted, predict
from headrace.validate.repredict import repredict
from headrace.validate.traced_twin import TracedTwin, trace_twin
from headrace.validate.twin import Twin, twin
from headrace.validate.validation import Validation, validate

__all__ = [
    "CASES",
    "Case",
    "Point",
    "Predicted",
    "TracedTwin",
    "Twin",
    "Validation",
    "predict",
    "repredict",
    "trace_twin",
    "twin",
    "twin_of_program",
    "validate",
]
