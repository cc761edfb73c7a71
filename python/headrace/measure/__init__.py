"""Measuring: a scenario's workloads carried out on a real file system."""

from headrace.measure.benchmark import Live, clean, measure
from headrace.measure.measurement import Measurement
from headrace.measure.saved import keep_saved
from headrace.measure.workload import load

__all__ = ["Live", "Measurement", "clean", "keep_saved", "load", "measure"]
