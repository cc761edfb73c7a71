"""Baseline: what a machine and the file system under a directory can do."""

from headrace.profile.baseline.baseline import Baseline, Figure, Prediction
from headrace.profile.baseline.measurement import measure_baseline
from headrace.profile.baseline.saved_results import import_baseline

__all__ = ["Baseline", "Figure", "Prediction", "import_baseline", "measure_baseline"]
