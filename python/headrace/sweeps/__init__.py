"""Run one scenario at many points: sweeps, replications, searches and what-if studies."""

from headrace.sweeps.axis import Axis, WrongAxis, of_mapping, parse
from headrace.sweeps.designs import DESIGNS
from headrace.sweeps.engines import ENGINES
from headrace.sweeps.execution import Precision, run_points, sweep
from headrace.sweeps.result import FIGURES, Run, Sweep
from headrace.sweeps.sensitivity import METHODS, Index, Sensitivity
from headrace.sweeps.whatifs import WhatIf, whatif

__all__ = [
    "DESIGNS",
    "ENGINES",
    "FIGURES",
    "METHODS",
    "Axis",
    "Index",
    "Precision",
    "Run",
    "Sensitivity",
    "Sweep",
    "WhatIf",
    "WrongAxis",
    "of_mapping",
    "parse",
    "run_points",
    "sweep",
    "whatif",
]
