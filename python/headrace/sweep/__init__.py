"""Run one scenario at many points: sweeps, replications and searches."""

from headrace.sweep.axis import Axis, WrongAxis, of_mapping, parse
from headrace.sweep.designs import DESIGNS
from headrace.sweep.engines import ENGINES
from headrace.sweep.result import FIGURES, Run, Sweep
from headrace.sweep.sweep import Precision, run_points, sweep

__all__ = [
    "DESIGNS",
    "ENGINES",
    "FIGURES",
    "Axis",
    "Precision",
    "Run",
    "Sweep",
    "WrongAxis",
    "of_mapping",
    "parse",
    "run_points",
    "sweep",
]
